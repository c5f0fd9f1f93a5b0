package suite

import (
	"strings"
	"testing"
)

// A fatal error of Go's run time is a kernel's, whatever ran at the time, and opassert's own if
// only Go code can cause it.
func TestExplainBrokenMemory(t *testing.T) {
	const (
		broken = "fatal error: failed to put span on newly-allocated spanSPMC\n"
		worker = "\ngoroutine 22 gp=0x1 m=4 mp=0x2 [GC worker (active)]:\nruntime.systemstack_switch()\n"
		kernel = "\ngoroutine 1 gp=0x3 m=0 mp=0x4 [syscall, locked to thread]:\nruntime.cgocall(0xd4, 0x24)\n"
		idle   = "\ngoroutine 1 gp=0x3 m=0 mp=0x4 [chan receive, locked to thread]:\nruntime.gopark(0xd4)\n"
		goCode = "\ngoroutine 1 gp=0x3 m=0 mp=0x4 [running]:\n" + ours + "/asserts/suite.f(0x1)\n"
	)
	for _, tt := range []struct {
		name, text string
		own        bool
		frames     string
	}{
		{"in a kernel", "runtime: bad\n" + broken + worker + kernel, false, ""},
		{"beside no kernel", broken + worker + idle, false, ""},
		{"a panic", "panic: nil map\n" + worker + kernel, true, ""},
		{"in Go code", broken + goCode, false, ""},
		{"in a kernel in Go", broken + "\ngoroutine 1 [running]:\nkernels.Add(0x1)\n", false, "kernels.Add"},
		{"a deadlock", "fatal error: all goroutines are asleep - deadlock!\n" + idle, true, ""},
		{"a map", "fatal error: concurrent map writes\n" + goCode, true, ""},
		{"a mutex", "fatal error: sync: unlock of unlocked mutex\n" + goCode, true, ""},
		{"a recursion", "runtime: goroutine stack exceeds 1000000000-byte limit\nfatal error: stack overflow\n" + goCode, true, ""},
	} {
		p := &process{stderr: new(lastBytes)}
		p.stderr.Write([]byte(tt.text))
		crash := new(ending)
		err := p.explain(crash, goExit)
		if (err != nil) != tt.own || !tt.own && (crash.Cause != strings.TrimSpace(broken) || strings.Join(crash.Frames, " ") != tt.frames) {
			t.Errorf("%s: %v, cause %q in %q", tt.name, err, crash.Cause, crash.Frames)
		}
	}
}
