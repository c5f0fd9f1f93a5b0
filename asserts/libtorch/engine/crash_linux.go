//go:build cgo

package engine

// #include "crash.h"
import "C"
import (
	"os"
	"runtime"

	"github.com/opassert/opassert/asserts/suite"
)

// A worker's kernels are called by its first thread, so that they allocate from
// one heap in every run.
func init() {
	if os.Getenv(suite.WorkerVariable) != "" {
		runtime.LockOSThread()
	}
}

// watchCrashes makes a worker write down the stack of a kernel that crashes. It
// is called where kernels will be.
func watchCrashes() { C.watch_crashes() }
