package asserts

import (
	"bytes"
	"runtime"
	"strconv"
)

// callSite gives the line that called the wrapper: the caller of the caller
// of Call.Judge. It counts frames, so only Call.report may call it.
func callSite() Site {
	const wrapper = 5 // Callers, callSite, report, end and Judge (or JudgeSeen and the engine), the wrapper
	var pcs [2]uintptr
	n := runtime.Callers(wrapper, pcs[:])
	frames := runtime.CallersFrames(pcs[:n])
	frame, _ := frames.Next()
	if caller, _ := frames.Next(); caller.Function != "runtime.goexit" {
		frame = caller
	}
	return Site{File: frame.File, Line: frame.Line, Func: frame.Function}
}

// goroutines gives the number of this goroutine and of the one that started
// it, 0 for none. The runtime tells them in stack traces alone; this is slow,
// and done for violations only.
func goroutines() (self, creator uint64) {
	trace := make([]byte, 4<<10)
	for {
		n := runtime.Stack(trace, false)
		if n < len(trace) {
			trace = trace[:n]
			break
		}
		trace = make([]byte, 2*len(trace))
	}
	_, started, _ := bytes.Cut(trace, []byte(" in goroutine "))
	return number(bytes.TrimPrefix(trace, []byte("goroutine "))), number(started)
}

// number reads the digits that text starts with.
func number(text []byte) uint64 {
	rest := bytes.TrimLeft(text, "0123456789")
	n, _ := strconv.ParseUint(string(text[:len(text)-len(rest)]), 10, 64)
	return n
}
