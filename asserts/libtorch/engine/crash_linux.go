//go:build linux && cgo

package engine

// #include "crash.h"
import "C"
import (
	"os"
	"os/exec"
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

// Guard makes a command for a worker that is another program run under this one,
// which ends it, and what its kernels start, when the run is gone. Workers that are
// this program are so anyway.
func Guard(cmd *exec.Cmd) error {
	self, err := os.Executable()
	if err != nil || cmd.Path == self {
		return err
	}
	cmd.Args = append([]string{self, cmd.Path}, cmd.Args[1:]...)
	cmd.Path, cmd.Env = self, append(cmd.Environ(), "OPASSERT_PROGRAM=1")
	return nil
}
