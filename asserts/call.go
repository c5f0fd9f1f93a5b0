package asserts

import (
	"context"
	"fmt"
)

// Generated1 is the version of what generated code and this package agree on.
// Each generated file mentions it, so that one which no longer fits does not
// compile.
const Generated1 = true

// A Call records what is seen of one call of a kernel: NewCall, Begin, Arg for each
// argument that holds tensors, the kernel, Returned, the same arguments again,
// Result for each return, Judge. A list is List and then each of its tensors. A call that
// fails with an error records no results; its arguments are judged all the
// same. A panic of the kernel goes through, and nothing is judged.
//
// The record and the Call stay on the caller's stack. The compiler sees that as
// long as no pointer held by a Call is stored anywhere; what those pointers
// lead to may be.
type Call struct {
	plan     *plan
	settings *settings
	obs      []Observation // before, after, results; never appended to, see room
	n        int           // how many of obs are recorded
	before   int           // how many of them before the call
	level    Level
	on       bool // not Off
}

// NewCall makes a Call that records into buf, a new zeroed array, and onto the
// heap only where buf is too small: a tensor takes one Observation and a list
// of n takes n+1, arguments twice over.
//
// It is apart from Begin so that it is inlined: the compiler takes what is
// stored through a pointer for what leaves the stack.
func NewCall(buf []Observation) Call { return Call{obs: buf} }

// Begin starts the record of a call of the op.
func (c *Call) Begin(op *Op) {
	s, p := current.Load(), op.made()
	if s.aside || p == nil || len(c.obs) < p.singles {
		c.begin(s, op)
		return
	}
	c.plan, c.settings, c.level, c.on = p, s, s.level, s.level != Off
}

// BeginContext is Begin under what ctx sets for the calls it is passed to.
func (c *Call) BeginContext(ctx context.Context, op *Op) {
	if ctx != nil {
		if sc, ok := ctx.Value(scopeKey{}).(*scope); ok {
			configure()
			c.begin(sc.over(current.Load()), op)
			return
		}
	}
	c.Begin(op)
}

// begin is Begin for the first call of all, the first of an op, where calls
// are sampled, and where buf is too small.
func (c *Call) begin(s *settings, op *Op) {
	c.start(s, op)
	if len(c.obs) < c.plan.singles {
		c.obs = make([]Observation, c.plan.singles)
	}
}

func (c *Call) start(s *settings, op *Op) {
	if s.policy == nil {
		configure()
		s = current.Load()
	}
	p, level := op.resolve(), s.level
	if level != Off && s.sample < 1 && !p.sampled(s.sample) {
		level = Off
	}
	c.plan, c.settings, c.level, c.on = p, s, level, level != Off
}

// BeginSeen starts a call that an engine observes by itself, and gives the
// level to do it at. Instead of Arg and what follows comes JudgeSeen.
func (c *Call) BeginSeen(op *Op) Level {
	c.start(current.Load(), op)
	return c.level
}

// Arg records an argument, or an element of a list; nil is an undefined tensor.
func (c *Call) Arg(t Tensor) {
	// As large as the compiler still inlines, which makes Observe a plain call.
	// Result repeats it: a call of Arg would be too large.
	if c.on && t != nil {
		t.Observe(&c.obs[c.n], c.level)
	}
	c.n++
}

// List says that an argument or a return is a list: the n tensors that follow.
func (c *Call) List(n int) {
	if !c.on {
		return
	}
	if room := len(c.obs) - c.n - n - 1; room < c.plan.singles {
		c.room(n + 1)
	}
	c.obs[c.n] = headed(n)
	c.n++
}

// room makes room for n more than the singles of the call. The record so far
// is copied: were it appended to, the compiler would put every wrapper's array
// onto the heap.
func (c *Call) room(n int) {
	obs := make([]Observation, 2*(c.n+n)+c.plan.singles)
	copy(obs, c.obs[:c.n])
	c.obs = obs
}

// Returned ends what is seen before the call: the arguments that follow are
// seen after it.
func (c *Call) Returned() { c.before = c.n }

// Result records a return, or an element of a list; nil is an undefined tensor.
func (c *Call) Result(t Tensor) {
	if c.on && t != nil {
		t.Observe(&c.obs[c.n], c.level)
	}
	c.n++
}

// Judge ends the record and reports what is wrong with the call.
func (c *Call) Judge() {
	if !c.on {
		return
	}
	c.count()
	if !c.clean() {
		c.judge()
	}
}

// judge judges the call in full. It panics when the record does not fit the
// op, which is a mistake in the wrapper.
func (c *Call) judge() {
	seen, err := c.seen()
	if err != nil {
		panic(fmt.Sprintf("asserts: wrapper of %s: %v", c.plan.op.Name, err))
	}
	c.report(seen)
}

// JudgeSeen judges what an engine saw of the call, and reports what is wrong.
func (c *Call) JudgeSeen(seen *Seen) {
	if !c.on {
		return
	}
	c.count()
	if !c.cleanSeen(seen) {
		c.report(seen)
	}
}

func (c *Call) count() {
	if c.plan.calls.Add(1) == 1 {
		c.plan.op.register()
	}
}

func (c *Call) report(seen *Seen) {
	if c.level >= Contents {
		c.plan.contents.Add(1)
	}
	v := Judge(c.plan.op, seen, c.settings.policy)
	countSkips(v.Skips)
	if len(v.Violations) == 0 {
		return
	}
	site := callSite()
	for _, violation := range v.Violations {
		violation.Site = site
	}
	deliver(c.settings, v.Violations)
}
