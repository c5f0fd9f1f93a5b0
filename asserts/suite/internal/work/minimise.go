package work

import (
	"cmp"
	"slices"

	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/internal/design"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
	"github.com/opassert/opassert/internal/tensor"
)

// minimise returns the simplest case that it can find with the same violation, and its finding: it
// retains each change that still shows the violation.
func (r *Runner) minimise(t *Target, c *sample.Case, f *report.Finding) (*sample.Case, *report.Finding) {
	budget := 60
	c = Smallest(c, func(simpler *sample.Case) (*sample.Case, bool) {
		if budget--; budget < 0 {
			return nil, true
		}
		made, g := r.shows(t, simpler, f)
		f = cmp.Or(g, f)
		return made, false
	})
	return c, f
}

// Smallest returns the simplest case that it can find: it retains each change after which try returns
// the call that was made, until try reports that it has enough.
func Smallest(c *sample.Case, try func(simpler *sample.Case) (made *sample.Case, enough bool)) *sample.Case {
	for changed := true; changed; {
		changed = false
		for i := range c.Args {
			for _, simpler := range simplifications(c, i) {
				made, enough := try(simpler)
				if enough {
					return c
				}
				if made != nil && made.String() != c.String() {
					c, changed = made, true
					break
				}
			}
		}
	}
	return c
}

// causedByAlias reports whether a violation occurs only because its subject is the same tensor as
// another one: with separate tensors, the call violates the same rule for the other.
func (r *Runner) causedByAlias(t *Target, c *sample.Case, f *report.Finding) bool {
	if !c.Shares() {
		return false
	}
	apart := c.Clone()
	all := apart.Tensors()
	design.Separate(all, all)
	a, err := r.Try(t, apart)
	if err != nil {
		return false
	}
	found := r.judge(t, a, new(report.CaseResult))
	rule := func(g *report.Finding) bool { return g.Violation.Code == f.Violation.Code }
	return slices.ContainsFunc(found, rule) && !slices.ContainsFunc(found, f.SameFault)
}

// shows returns a finding in a case that shows as much of the same fault, with the case that was made, or nil.
func (r *Runner) shows(t *Target, c *sample.Case, f *report.Finding) (*sample.Case, *report.Finding) {
	a, err := r.Try(t, c)
	if err != nil {
		return nil, nil
	}
	a = r.held(t, a)
	found := r.judge(t, a, new(report.CaseResult))
	i := slices.IndexFunc(found, func(g *report.Finding) bool {
		return f.SameFault(g) && !f.Outweighs(g) && slices.Equal(f.Devices, g.Devices)
	})
	if i < 0 {
		return nil, nil
	}
	return a.c, found[i]
}

// simplifications returns cases with argument i simplified, the simplest first.
func simplifications(c *sample.Case, i int) []*sample.Case {
	var out []*sample.Case
	with := func(change func(*sample.Value)) {
		d := c.Clone()
		change(&d.Args[i])
		out = append(out, d)
	}
	v := c.Args[i]
	if v.Kind != sample.DefaultValue && v.Kind != sample.NoneValue && v.Kind != sample.TensorValue &&
		v.Kind < sample.ListValue {
		with(func(v *sample.Value) { *v = sample.Value{} })
	}
	if n := len(v.List); v.Kind == sample.ListValue && n > 1 && v.List[0].Kind == sample.TensorValue && !c.Shares() {
		with(func(v *sample.Value) { v.List = v.List[:1] })
	}
	if v.Kind != sample.TensorValue || v.Tensor.Same > 0 {
		return out
	}
	t := v.Tensor
	if t.Form != engine.Strided {
		with(func(v *sample.Value) { v.Tensor.Form = engine.Strided })
	}
	if t.Arrangement != tensor.Contiguous {
		with(func(v *sample.Value) { v.Tensor.Arrangement = tensor.Contiguous })
	}
	if sample.Element(t.DType).Class() == tensor.Floating && t.DType != "float32" {
		with(func(v *sample.Value) { v.Tensor.DType = "float32" })
	}
	if c.Agreed {
		return out
	}
	for d, n := range t.Sizes {
		if n > 2 {
			with(func(v *sample.Value) { v.Tensor.Sizes[d] = 2 })
		}
	}
	if len(t.Sizes) > 1 {
		with(func(v *sample.Value) { v.Tensor.Sizes = v.Tensor.Sizes[1:] })
	}
	return out
}
