//go:build linux && cgo

package torch

// #include <stdlib.h>
// #include "crash.h"
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

// A worker's kernels are called by its first thread, so that they allocate from
// one heap in every run. Beside it Go has nothing to run, and with another processor it spends
// time on looking for that. Timers of that thread are not late, as those of
// Go's other threads are: see zygote.c.
func init() {
	if os.Getenv(suite.WorkerVariable) != "" {
		runtime.LockOSThread()
		runtime.GOMAXPROCS(1)
		syscall.RawSyscall(syscall.SYS_PRCTL, syscall.PR_SET_TIMERSLACK, 0, 0)
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

// remote returns the file that the zygote passed to the worker: the socket of its
// calls and the process that serves them, 0 where kernels are here, and the ops
// that modules added. Go's own copy of the environment is older.
func remote() (calls, server int, added string) {
	number := func(name string) int {
		n, _ := strconv.Atoi(getenv(name))
		return n
	}
	return number("OPASSERT_CALLS"), number("OPASSERT_SERVER"), getenv("OPASSERT_ADDED")
}

func getenv(name string) string {
	cname := C.CString(name)
	defer C.free(unsafe.Pointer(cname))
	return C.GoString(C.getenv(cname))
}

// spent returns the processor time of this process.
func spent() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // there is no other error than an unknown who
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
