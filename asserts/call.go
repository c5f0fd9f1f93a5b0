package asserts

import (
	"context"
	"fmt"
)

// Generated1 is the version of what generated code and this package agree on.
// Each generated file mentions it, so that one which no longer fits does not
// compile.
const Generated1 = true

// A Call records what is seen of one call of a kernel: Begin, Arg or ArgList
// for each argument that holds tensors, the kernel, Returned, the same
// arguments again, Result or ResultList for each return, Judge. A call that
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

// Begin starts the record of a call. The record goes into buf, a new zeroed
// array, and onto the heap only where buf is too small: a tensor takes one
// Observation and a list of n takes n+1, arguments twice over.
func Begin(op *Op, buf []Observation) Call {
	s, p := current.Load(), op.made()
	if s.aside || p == nil || cap(buf) < p.singles {
		return s.begin(op, buf)
	}
	return Call{plan: p, settings: s, obs: buf[:cap(buf)], level: s.level, on: s.level != Off}
}

// BeginContext is Begin under what ctx sets for the calls it is passed to.
func BeginContext(ctx context.Context, op *Op, buf []Observation) Call {
	if ctx != nil {
		if sc, ok := ctx.Value(scopeKey{}).(*scope); ok {
			configure()
			return sc.over(current.Load()).begin(op, buf)
		}
	}
	return Begin(op, buf)
}

// begin is Begin for the first call of all, the first of an op, where calls
// are sampled, and where buf is too small.
func (s *settings) begin(op *Op, buf []Observation) Call {
	if s.policy == nil {
		configure()
		s = current.Load()
	}
	p, level := op.resolve(), s.level
	if level != Off && s.sample < 1 && !p.sampled(s.sample) {
		level = Off
	}
	if cap(buf) < p.singles {
		buf = make([]Observation, p.singles)
	}
	return Call{plan: p, settings: s, obs: buf[:cap(buf)], level: level, on: level != Off}
}

// Arg records an argument; nil is an undefined tensor.
func (c *Call) Arg(t Tensor) {
	// As large as the compiler still inlines, which makes Observe a plain call.
	// Result repeats it: a call of Arg would be too large.
	if c.on && t != nil {
		c.obs[c.n] = t.Observe(c.level)
	}
	c.n++
}

// ArgList records an argument that is a list.
func ArgList[T Tensor](c *Call, ts []T) {
	if !c.on {
		return
	}
	if room := len(c.obs) - c.n - len(ts) - 1; room < c.plan.singles {
		c.room(len(ts) + 1)
	}
	c.obs[c.n] = headed(len(ts))
	c.n++
	into := c.obs[c.n : c.n+len(ts)]
	for i, t := range ts {
		if Tensor(t) != nil {
			into[i] = t.Observe(c.level)
		}
	}
	c.n += len(ts)
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

// Result records a return; nil is an undefined tensor.
func (c *Call) Result(t Tensor) {
	if c.on && t != nil {
		c.obs[c.n] = t.Observe(c.level)
	}
	c.n++
}

// ResultList records a return that is a list.
func ResultList[T Tensor](c *Call, ts []T) { ArgList(c, ts) }

// Judge ends the record and reports what is wrong with the call.
func (c *Call) Judge() {
	if !c.on {
		return
	}
	if c.plan.calls.Add(1) == 1 {
		c.plan.op.register()
	}
	if !c.clean() {
		c.judge()
	}
}

// judge judges the call in full. It panics when the record does not fit the
// op, which is a mistake in the wrapper.
func (c *Call) judge() {
	op := c.plan.op
	seen, err := c.seen()
	if err != nil {
		panic(fmt.Sprintf("asserts: wrapper of %s: %v", op.Name, err))
	}
	if c.level >= Contents {
		c.plan.contents.Add(1)
	}
	v := Judge(op, seen, c.settings.policy)
	countSkips(v.Skips)
	if len(v.Violations) > 0 {
		site := callSite()
		for _, violation := range v.Violations {
			violation.Site = site
		}
		deliver(c.settings, v.Violations)
	}
}
