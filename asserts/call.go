package asserts

import "context"

// Generated1 is the version of what generated code and this package agree on.
// Each generated file mentions it, so that one which no longer fits does not
// compile.
const Generated1 = true

// A Call records what is seen of one call of a kernel: Begin, Arg or ArgList
// for each argument that holds tensors, the kernel, Returned, the same
// arguments again, Result or ResultList for each return, Judge. A call that
// returns an error records no results; its arguments are judged all the same.
type Call struct {
	op     *Op
	obs    []Observation // before, after, results
	before int           // how many of obs were recorded before the call
	level  Level
}

// Begin starts the record of a call. The record goes into buf, which stays on
// the caller's stack and grows onto the heap when it is too small: it takes
// one Observation for a tensor and n+1 for a list of n, arguments twice.
func Begin(op *Op, buf []Observation) Call {
	return Call{op: op, obs: buf, level: Identity}
}

// BeginContext is Begin with the settings that ctx carries.
func BeginContext(ctx context.Context, op *Op, buf []Observation) Call {
	return Begin(op, buf)
}

// Arg records an argument; nil is an undefined tensor.
func (c *Call) Arg(t Tensor) {
	if c.level == Off {
		return
	}
	if t == nil {
		c.obs = append(c.obs, Observation{})
		return
	}
	c.obs = append(c.obs, t.Observe(c.level))
}

// ArgList records an argument that is a list.
func ArgList[T Tensor](c *Call, ts []T) {
	if c.level == Off {
		return
	}
	for _, t := range ts {
		c.Arg(t)
	}
}

// Returned ends what is seen before the call: the arguments that follow are
// seen after it.
func (c *Call) Returned() { c.before = len(c.obs) }

// Result records a return.
func (c *Call) Result(t Tensor) { c.Arg(t) }

// ResultList records a return that is a list.
func ResultList[T Tensor](c *Call, ts []T) { ArgList(c, ts) }

// Judge ends the record and reports what is wrong with the call.
func (c *Call) Judge() {}
