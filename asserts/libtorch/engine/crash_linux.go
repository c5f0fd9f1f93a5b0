//go:build cgo

package engine

// #include "crash.h"
import "C"
import "runtime"

// watchCrashes makes a worker write down the stack of a kernel that crashes.
// Kernels are then called by the thread of the calling goroutine.
func watchCrashes() {
	runtime.LockOSThread()
	C.watch_crashes()
}
