package asserts

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
)

// breaks handles a panic of Observe after a call: the call has broken the tensor, which is a violation.
// Tensors not observed because of the panic count as unchanged, or are not judged.
func (c *Call) breaks(p any) {
	broken := Observation{Content: &Snapshot{Panic: fmt.Sprintf("%v, in %s", p, PanicSite())}}
	own := *c.settings
	own.usual, own.keeps = false, false
	c.settings = &own
	if h := own.holding; h != nil { //mutate:equivalent false: it frees them earlier than the next call
		h.tensors = h.tensors[:0]
	}
	c.n-- // back to the tensor
	if at := c.n; at < 2*c.before {
		copy(c.Record[at:2*c.before], c.Record[at-c.before:c.before])
		c.Record[at], c.n = broken, 2*c.before
		return
	}
	c.setBroken(broken)
}

// setBroken records broken for the return whose observation panicked and all after it.
func (c *Call) setBroken(broken Observation) {
	from, at := c.n, 2*c.before
	for i := range c.plan.results {
		n := 1
		if c.plan.results[i].List {
			n = 0
			if at < from {
				n, _ = c.Record[at].list()
			} else {
				c.n = at
				c.List(0)
			}
			at++
		}
		for ; n > 0; n-- {
			if at >= from {
				c.Record[at] = broken
			}
			at++
		}
	}
	c.n = at
}

// PanicSite returns where the panic began that its caller's caller recovers.
func PanicSite() string {
	pcs := make([]uintptr, 16)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs)])
	frame, _ := frames.Next()
	for strings.HasPrefix(frame.Function, "runtime.") {
		frame, _ = frames.Next()
	}
	return fmt.Sprintf("%s (%s:%d)", frame.Function, filepath.Base(frame.File), frame.Line)
}
