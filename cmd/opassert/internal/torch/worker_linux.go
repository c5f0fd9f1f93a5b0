//go:build linux && cgo

package torch

// #include <stdlib.h>
// #include "crash.h"
// #include "host.h"
import "C"
import (
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"syscall"
	"time"
	"unsafe"

	"github.com/opassert/opassert/asserts/suite"
)

// The first thread of a worker calls the kernels, so that they allocate from the same heap in every
// run. Go has nothing else to run, and would spend time looking for work on a second processor.
// The timer slack of other threads of Go is large: see zygote.c.
func init() {
	if os.Getenv(suite.WorkerVariable) != "" {
		runtime.LockOSThread()
		runtime.GOMAXPROCS(1)
		syscall.RawSyscall(syscall.SYS_PRCTL, syscall.PR_SET_TIMERSLACK, 0, 0)
	}
}

// watchCrashes makes a worker record the stack of a kernel that crashes. The process that calls
// kernels calls it.
func watchCrashes() { C.watch_crashes() }

// Guard runs a worker that is another program as a child of this program, which ends it and the
// processes that its kernels start when the run has ended. Workers that are this program do so
// themselves.
func Guard(cmd *exec.Cmd) error {
	self, err := os.Executable()
	if err != nil || cmd.Path == self {
		return err
	}
	cmd.Args = append([]string{self, cmd.Path}, cmd.Args[1:]...)
	cmd.Path, cmd.Env = self, append(cmd.Environ(), "OPASSERT_PROGRAM=1")
	return nil
}

// remote returns the socket of the worker's calls and the process that serves them, 0 if kernels
// run in the worker, and the ops that modules added. The zygote sets the numbers in the environment,
// of which Go has an older copy.
func remote() (calls, server int, added string) {
	number := func(name string) int {
		n, _ := strconv.Atoi(getenv(name))
		return n
	}
	return number("OPASSERT_CALLS"), number("OPASSERT_SERVER"), C.GoString(C.added_ops())
}

func getenv(name string) string {
	cname := C.CString(name)
	defer C.free(unsafe.Pointer(cname))
	return C.GoString(C.getenv(cname))
}

func spent() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // there is no other error than an unknown who
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
