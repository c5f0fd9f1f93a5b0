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

// A kernel may keep a tensor and write it after the call has returned: in the background, or during
// the next call. So the tensors of an op's first calls are observed again, some milliseconds later
// and around the next call by the same goroutine, as long as no other goroutine may use them.
const (
	lookedAgain = 24 // calls of each op
	waitedFor   = 3  // calls that always wait; later ones wait only if the kernel started a goroutine
	waiting     = 5 * time.Millisecond
)

// past is the previous call of an op: its arguments and returns.
type past struct {
	goroutine uintptr
	tensors   []Tensor
	args      []int // origins of the tensors: see Earlier.Arg
	then      []Observation
}

// keep adds a tensor to observe again, and returns the level to observe it at.
func (c *Call) keep(t Tensor) Level {
	h := c.settings.holding
	h.tensors = append(h.tensors, t)
	return c.settings.level
}

const keeping Level = 1 << 7

// begin decides whether the tensors of the call are observed again.
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

// end observes the tensors once more and keeps them for the next call; args are their origins.
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

// origins returns the origin of each tensor recorded after the call: see Earlier.Arg, or notAgain.
func (c *Call) origins() []int {
	var all []int
	at := c.before
	add := func(s *subjectPlan, is int) {
		n := 1
		if s.List {
			n, _ = c.Record[at].list()
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

// look observes a tensor. One that has been released meanwhile is undefined.
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
	o.holding() // if Observe did not call Look
	return o
}

// earlier returns the tensors of the previous call that are not arguments of this one, as they were
// before and after this one, and the tensors inside them.
func (h *holding) earlier(args []Observation) []Earlier {
	if h.last == nil {
		return nil
	}
	var all []Earlier
	for i, t := range h.last.tensors {
		then := h.last.then[i]
		given := func(o Observation) bool { return o.Storage == then.Storage || overlaps(&o, &then) }
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

// alone reports whether all other goroutines have ended, or are those of package testing.
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
		case ofProgram(function):
			return false
		}
	}
	return callers == 1
}

// ofProgram reports whether a goroutine in a function has not just ended, and is not one of package testing.
func ofProgram(function string) bool {
	return function != "" && !strings.HasPrefix(function, "testing.") && !strings.HasPrefix(function, "os/signal.")
}

const most = 12 // goroutines; alone does not examine more

// waitsIn returns the function outside package runtime that a goroutine is in, or "" if it has just ended.
func waitsIn(stack []uintptr) string {
	frames := runtime.CallersFrames(stack)
	for {
		frame, _ := frames.Next() // without a name at the end
		if !strings.HasPrefix(frame.Function, "runtime.") {
			return frame.Function
		}
	}
}

// finalizers are the metrics of functions that may release a tensor on a goroutine of the runtime.
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
