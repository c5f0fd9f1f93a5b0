package asserts

import (
	"context"
	"fmt"
	"math"
	"strings"
)

// Generated3 is the version of the contract between generated code and this package. Each generated file refers to it,
// so that a file for another version does not compile.
const Generated3 = true

// A Call records the observations of one call of a kernel:
//
//	call := asserts.Call{Record: make([]asserts.Observation, 5)}
//	args := func() { self.Observe(call.Next(self)); other.Observe(call.Next(other)) }
//	call.Begin(&opAdd)
//	call.Before(args)
//	result := kernels.Add(self, other)
//	call.After(args, func() { result.Observe(call.Next(result)) })
//
// A list is List and then each of its tensors. If the kernel panics, the call is not judged.
//
// The record and the Call stay on the caller's stack, as long as no pointer in a Call is stored elsewhere.
type Call struct {
	// Record is new and zero, with one element for each tensor that is not in a list, two for an
	// argument. A list of n takes n+1 elements; if fewer are left, the record moves to the heap.
	Record []Observation // before, after, results; see room

	plan     *plan
	settings *settings
	n        int   // how many of Record are recorded
	before   int   // how many of them before the call
	level    Level // and keeping, if Next keeps the tensors, to observe them again

	counter uint8 // the one of plan.calls that counts it
}

// Begin starts the record of a call of the op. It panics when Record is too small for the op: a mistake in the wrapper.
//
// It is inlined: a wrapper's stores to its own Call need no write barrier.
func (c *Call) Begin(op *Op) {
	c.plan, c.settings = begin(op, c.Record)
	c.level = c.settings.level
}

// BeginContext is Begin with the settings of ctx for the calls it is passed to.
func (c *Call) BeginContext(ctx context.Context, op *Op) {
	c.plan, c.settings = beginContext(ctx, op, c.Record)
	c.level = c.settings.level
}

// BeginSeen starts a call that an engine observed, and returns its level. JudgeSeen replaces Before and After.
func (c *Call) BeginSeen(op *Op) Level {
	c.plan, c.settings = current.Load().begin(op, math.MaxInt)
	c.level = c.settings.level
	return c.level
}

func begin(op *Op, obs []Observation) (*plan, *settings) {
	s := current.Load()
	if p := op.made(); p != nil && p.op == op && p.singles <= len(obs) && //mutate:equivalent false: only saves time
		!s.aside { //mutate:equivalent true: record does the same, and more slowly
		return p, s
	}
	return s.record(op, obs)
}

func beginContext(ctx context.Context, op *Op, obs []Observation) (*plan, *settings) {
	if ctx != nil {
		if sc, ok := ctx.Value(scopeKey{}).(*scope); ok {
			configure()
			return sc.over(current.Load()).record(op, obs)
		}
	}
	return begin(op, obs)
}

// record is begin for a recorded call: at the content level the call holds the storages that it reads.
func (s *settings) record(op *Op, obs []Observation) (*plan, *settings) {
	p, s := s.begin(op, len(obs))
	if s.level >= Content {
		s = s.hold()
		s.holding.mark(obs)
		s.holding.begin(p)
	}
	return p, s
}

// begin serves the first call of the process, the first call of an op, and sampled calls.
func (s *settings) begin(op *Op, room int) (*plan, *settings) {
	if s.policy == nil {
		configure()
		s = current.Load()
	}
	if s.bad != nil {
		panic(s.bad)
	}
	p := op.resolve()
	if p.singles > room {
		panic(fmt.Sprintf("asserts: wrapper of %s: Record has %d elements, and the op takes %d", op.Name, room, p.singles))
	}
	if s.level != Off &&
		s.sample < 1 && //mutate:equivalent true: every call is in a sample of 1
		!p.sampled(s.sample) {
		s = s.unchecked
	}
	return p, s
}

// Before calls args, which observes the tensors among the arguments.
func (c *Call) Before(args func()) {
	if c.level != Off {
		args()
	}
}

// Next returns what the wrapper, where the compiler knows the method, calls Observe of t, the next tensor, with.
func (c *Call) Next(t Tensor) (*Observation, Level) {
	o, level := &c.Record[c.n], c.level
	if level >= keeping {
		level = c.keep(t)
	}
	c.n++
	return o, level
}

// Observe observes the next tensor of the record; nil is an undefined tensor.
func (c *Call) Observe(t Tensor) {
	if o, level := c.Next(t); t != nil {
		t.Observe(o, level)
	}
}

// List starts the record of an argument or a return that is a list: its n tensors follow.
func (c *Call) List(n int) {
	if room := len(c.Record) - c.n - n - 1; room < c.plan.singles { //mutate:equivalent true: only saves an allocation
		c.room(n + 1)
	}
	c.Record[c.n] = headOf(n)
	c.n++
}

// room makes room for a list of n. It copies the record: with append each wrapper's array would move to the heap.
func (c *Call) room(n int) {
	obs := make([]Observation, 2*(c.n+n)+c.plan.singles)
	if c.settings.holding != nil {
		c.settings.holding.mark(obs)
	}
	copy(obs, c.Record[:c.n])
	c.Record = obs
}

// After calls args again, and results, which observes returned tensors; both may be nil. It reports the violations.
func (c *Call) After(args, results func()) {
	if c.level != Off {
		c.observeAfter(args, results)
	}
}

// AfterError is After for a kernel that returned an error: if it is not nil, there are no results.
func (c *Call) AfterError(err error, args, results func()) {
	if err != nil {
		results = nil
	}
	c.After(args, results)
}

func (c *Call) observeAfter(args, results func()) {
	c.before = c.n
	if c.settings.keeps {
		c.level |= keeping
	}
	observed := false
	defer func() {
		if !observed { //mutate:equivalent false: only saves time
			if p := recover(); p != nil {
				c.breaks(p)
			}
		}
		switch h := c.settings.holding; {
		case h != nil:
			c.endHeld(h)
		case c.usual(): //mutate:equivalent false: the judge finds nothing, and more slowly
			c.count() // after observing: an atomic operation waits for pending writes
		default:
			c.count()
			c.report(c.recorded())
		}
	}()
	if args != nil {
		args()
	}
	if results != nil {
		results()
	}
	observed = true
}

func (c *Call) endHeld(h *holding) {
	c.counter = atContent
	if len(h.tensors) > 0 { //mutate:equivalent true: only saves time
		h.end(c.origins())
	}
	usual := h.last == nil && //mutate:equivalent false: the judge finds nothing, and more slowly
		h.late == nil && //mutate:equivalent false: the judge finds nothing, and more slowly
		c.usual() //mutate:equivalent false: the judge finds nothing, and more slowly
	c.count()
	var seen *Seen
	if !usual { //mutate:equivalent false: the judge finds nothing, and more slowly
		seen = c.recorded()
	}
	h.release(c.Record)
	if seen != nil {
		h.snapshots = nil // violations refer to them
		c.report(seen)
	}
	holdings.Put(h)
}

// recorded returns the call as plain data. It panics when the record does not fit the op: a mistake in the wrapper.
func (c *Call) recorded() *Seen {
	seen, err := c.seen()
	if err != nil {
		panic(fmt.Sprintf("asserts: wrapper of %s: %v", c.plan.op.Name, err))
	}
	return seen
}

// JudgeSeen judges an engine's observations of the call, and reports the violations.
func (c *Call) JudgeSeen(seen *Seen) {
	if c.level == Off {
		return
	}
	usual := c.usualSeen(seen)
	if c.level >= Content {
		c.counter = atContent
	}
	c.count()
	if !usual {
		c.report(seen)
	}
}

// count is small enough to be inlined.
func (c *Call) count() {
	if c.plan.calls[c.counter].Add(1) == 1 { //mutate:equivalent true: registers once all the same
		c.plan.op.register()
	}
}

func (c *Call) report(seen *Seen) {
	v := Judge(c.plan.op, seen, c.settings.policy)
	countSkips(v.Skips)
	if len(v.Violations) == 0 {
		return
	}
	site, wrapper := callSite()
	for _, violation := range v.Violations {
		if violation.Site = site; strings.HasPrefix(violation.Op, "aten::") && seen.Plain {
			violation.Func = wrapper
		}
	}
	deliver(c.settings, v.Violations)
}
