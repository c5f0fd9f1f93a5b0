package asserts

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strings"
	"sync"
	"time"
)

// A kernel may keep a tensor and write it when the call is over: in the background,
// or in the next call. So the tensors of the first calls of an op are looked at
// again, some milliseconds later, and once more around the next call by the same
// goroutine, as long as no other goroutine is there that may use them.
const (
	lookedAgain = 24 // calls of an op
	waitedFor   = 3  // of those; of the others where the kernel started a goroutine
	waiting     = 5 * time.Millisecond
)

// past is a call that has ended: its arguments and its returns.
type past struct {
	goroutine uintptr
	tensors   []Tensor
	args      []int // of each, as in Earlier
	then      []Observation
}

// Keeps reports whether the tensors of the call are to be looked at again.
func (c *Call) Keeps() bool { return c.settings.keeps }

// Keep is called, where Keeps says so, with each tensor that was recorded after the
// call, in the same order.
func (c *Call) Keep(t Tensor) {
	h := c.settings.holding
	h.tensors = append(h.tensors, t)
}

// begin decides whether the call is one of those that are looked at again.
func (h *holding) begin(p *plan) {
	s := &h.settings
	h.tensors, h.last, h.late, h.finalized, h.nth = h.tensors[:0], nil, nil, 0, 0
	if s.keeps = p.again.Load() < lookedAgain; !s.keeps {
		return
	}
	h.plan, h.nth, h.goroutines, h.finalized = p, p.again.Add(1), runtime.NumGoroutine(), finalized()
	s.alone = s.alone || alone()
	if last := p.last.Swap(nil); last != nil && s.alone && last.goroutine == h.goroutine {
		h.last = last
		for _, t := range last.tensors {
			last.then = append(last.then, h.look(t))
		}
	}
}

// end looks at the tensors once more, and leaves them to the next call; args are
// their origins.
func (h *holding) end(args []int) {
	if h.nth <= waitedFor || runtime.NumGoroutine() > h.goroutines {
		time.Sleep(waiting)
		for _, t := range h.tensors {
			h.late = append(h.late, h.look(t))
		}
	}
	next := &past{goroutine: h.goroutine}
	for i, t := range h.tensors {
		if args[i] != notAgain {
			next.tensors, next.args = append(next.tensors, t), append(next.args, args[i])
		}
	}
	h.plan.last.Store(next)
	clear(h.tensors)
}

// notAgain is the origin of a return with an alias set, which the next call skips.
const notAgain = -1

// origins returns where each tensor that was recorded after the call is from: see Earlier.Arg,
// or notAgain.
func (c *Call) origins() []int {
	var all []int
	at := c.before
	add := func(s *subjectPlan, is int) {
		n := 1
		if s.List {
			n, _ = c.obs[at].list()
			at++
		}
		all = append(all, slices.Repeat([]int{is}, n)...)
		at += n
	}
	for i := range c.plan.args {
		add(&c.plan.args[i], c.plan.args[i].Index+1)
	}
	for i := range c.plan.results {
		if at >= c.n {
			break // the call failed
		}
		is := 0
		if c.plan.results[i].aliased() {
			is = notAgain
		}
		add(&c.plan.results[i], is)
	}
	return all
}

// look observes a tensor, which is undefined if it has been released meanwhile.
func (h *holding) look(t Tensor) (o Observation) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if recover() != nil {
			o = Observation{}
		}
	}()
	if now := Observe(t, Identity); now.ImplUses == 0 || now.StorageUses == 0 {
		return Observation{}
	}
	o.Content = &h.pending
	t.Observe(&o, Content)
	o.holding() // where nothing was filled in
	return o
}

// earlier returns the tensors of the call before that this one was not given, as they
// were when it began and as they are, and those of tensors inside.
func (h *holding) earlier(args []Observation) []Earlier {
	if h.last == nil {
		return nil
	}
	var all []Earlier
	for i, t := range h.last.tensors {
		then := h.last.then[i]
		given := func(o Observation) bool {
			return o.Storage == then.Storage || overlaps(&o, &then)
		}
		now := h.look(t)
		if slices.ContainsFunc(args, given) {
			continue
		}
		all = append(all, Earlier{Then: then, Now: now, Arg: h.last.args[i]})
		before, _ := partsOf([]Observation{then})
		after, _ := partsOf([]Observation{now})
		for i := range before[:min(len(before), len(after))] {
			all = append(all, Earlier{Then: before[i], Now: after[i], Arg: h.last.args[i]})
		}
	}
	return all
}

// alone reports whether no other goroutine runs: each is one that package testing has
// waiting, or has ended.
func alone() bool {
	if runtime.NumGoroutine() > most { //mutate:equivalent false: only saves time
		return false
	}
	var stacks [most + 4]runtime.StackRecord
	n, ok := runtime.GoroutineProfile(stacks[:])
	if !ok { //mutate:equivalent true: too many have begun since
		return false
	}
	callers := 0
	for i := range stacks[:n] {
		switch function := waitsIn(stacks[i].Stack()); {
		case strings.HasSuffix(function, "/asserts.alone"):
			callers++
		case function != "" && !strings.HasPrefix(function, "testing.") && !strings.HasPrefix(function, "os/signal."):
			return false
		}
	}
	return callers == 1
}

const most = 12 // goroutines, beyond which none is alone

// waitsIn returns the function outside package runtime that a goroutine is in, or "" where
// it has ended: for a moment it is still listed.
func waitsIn(stack []uintptr) string {
	frames := runtime.CallersFrames(stack)
	for {
		frame, _ := frames.Next() // at the end it has no name
		if !strings.HasPrefix(frame.Function, "runtime.") {
			return frame.Function
		}
	}
}

// finalizers are the metrics of functions that may release a tensor on no goroutine
// of the program.
var finalizers = sync.OnceValue(func() []metrics.Sample {
	return []metrics.Sample{{Name: "/gc/finalizers/executed:finalizers"}, {Name: "/gc/cleanups/executed:cleanups"}}
})

// finalized returns how many finalizers and cleanups have run.
func finalized() uint64 {
	samples := slices.Clone(finalizers())
	metrics.Read(samples)
	n := uint64(0)
	for _, s := range samples {
		if s.Value.Kind() == metrics.KindUint64 { //mutate:equivalent true: Go 1.26 has both
			n += s.Value.Uint64()
		}
	}
	return n
}
