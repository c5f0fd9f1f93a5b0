package suite

import (
	"slices"

	"github.com/opassert/opassert/asserts"
)

// minimise returns the simplest case that it can find that shows the same
// violation, and the violation as it is there: each change is kept that does.
func (r *runner) minimise(t *target, c *Case, v *asserts.Violation) (*Case, *asserts.Violation) {
	budget := 60
	for changed := true; changed; {
		changed = false
		for i := range c.Args {
			for _, simpler := range simplifications(c, i) {
				if budget--; budget < 0 {
					return c, v
				}
				if made, w := r.shows(t, simpler, v); w != nil && made.String() != c.String() {
					c, v, changed = made, w, true
					break
				}
			}
		}
	}
	return c, v
}

// borrowed reports whether a violation is only there because its subject is the
// same tensor as another one: with tensors of its own the call breaks the same
// rule about that other.
func (r *runner) borrowed(t *target, c *Case, v *asserts.Violation) bool {
	if !shared(c) {
		return false
	}
	apart := c.clone()
	all := apart.tensors()
	own(all, all)
	a, err := r.try(t, apart)
	if err != nil {
		return false
	}
	found := r.judge(t, a, new(caseResult))
	return slices.ContainsFunc(found, func(w *asserts.Violation) bool { return w.Code == v.Code && !sameFault(v, w) }) &&
		!slices.ContainsFunc(found, func(w *asserts.Violation) bool { return sameFault(v, w) })
}

// shows returns the violation of the same rule about the same subject that a
// case shows, with the case as it was made, or nil.
func (r *runner) shows(t *target, c *Case, v *asserts.Violation) (*Case, *asserts.Violation) {
	a, err := r.try(t, c)
	if err != nil {
		return nil, nil
	}
	a = r.again(t, a)
	found := r.judge(t, a, new(caseResult))
	i := slices.IndexFunc(found, func(w *asserts.Violation) bool { return sameFault(v, w) && w.Device == v.Device })
	if i < 0 {
		return nil, nil
	}
	return a.c, found[i]
}

// simplifications returns cases with argument i made simpler, the simplest
// first.
func simplifications(c *Case, i int) []*Case {
	var out []*Case
	with := func(change func(*Value)) {
		d := c.clone()
		change(&d.Args[i])
		out = append(out, d)
	}
	v := c.Args[i]
	if v.Kind != DefaultValue && v.Kind != NoneValue && v.Kind != TensorValue && v.Kind < ListValue {
		with(func(v *Value) { *v = Value{} })
	}
	if n := len(v.List); v.Kind == ListValue && n > 1 && v.List[0].Kind == TensorValue && !shared(c) {
		with(func(v *Value) { v.List = v.List[:1] })
	}
	if v.Kind != TensorValue || v.Tensor.Same > 0 {
		return out
	}
	t := v.Tensor
	if t.Form != Strided {
		with(func(v *Value) { v.Tensor.Form = Strided })
	}
	if t.Arrangement != Contiguous {
		with(func(v *Value) { v.Tensor.Arrangement = Contiguous })
	}
	if d := dtypes[t.DType]; d.class == floating && t.DType != "float32" {
		with(func(v *Value) { v.Tensor.DType = "float32" })
	}
	if c.Agreed {
		return out
	}
	for d, n := range t.Sizes {
		if n > 2 {
			with(func(v *Value) { v.Tensor.Sizes[d] = 2 })
		}
	}
	if len(t.Sizes) > 1 {
		with(func(v *Value) { v.Tensor.Sizes = v.Tensor.Sizes[1:] })
	}
	return out
}

func shared(c *Case) bool {
	return slices.ContainsFunc(c.tensors(), func(t *TensorSpec) bool { return t.Same > 0 || t.View > 0 })
}
