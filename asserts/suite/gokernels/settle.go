package gokernels

import (
	"runtime"
	"time"
)

// A kernel may continue in the background after its call. So tensors are observed again some milliseconds later: in the
// first calls of an op, as pending timers cannot be detected, and in more calls if there are new goroutines.
const (
	settling    = 5 * time.Millisecond
	settledCold = 3  // calls of an op after which it waits
	settledWarm = 24 // the same, in a process with new goroutines
)

// settle waits after a call of the op, if it is one of those, and reports whether it did.
func (e *Engine) settle(op string) bool {
	n := e.settled[op]
	if n >= settledWarm || n >= settledCold && runtime.NumGoroutine() <= e.goroutines {
		return false
	}
	e.settled[op]++
	time.Sleep(settling)
	return true
}

// KeepsArguments returns true: kernels may keep an argument and write it later.
func (e *Engine) KeepsArguments() {}
