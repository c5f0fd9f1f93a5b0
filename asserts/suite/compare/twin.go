package compare

import (
	"fmt"
	"slices"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/internal/slicesx"
)

// Twins compares a call with the same one on another device, named by on: which tensors share storage, and the sizes,
// strides and dtype of the returns. Both calls are observed at the content level. A failed call is not compared.
func Twins(op *asserts.Op, real, twin *asserts.Seen, on string, policy *asserts.Policy) asserts.Verdict {
	r, m := newCall(op, real, policy), newCall(op, twin, policy)
	m.on = on
	if len(r.returns) == 0 != (len(m.returns) == 0) {
		return r.conclude()
	}
	r.compareReturns(m)
	return r.conclude()
}

func (c *call) compareReturns(m *call) {
	for i := range c.op.Results {
		if c.planned(i) {
			c.compare(m, c.op.Results[i].Place(true, 0, ""), c.returned(i), m.returned(i))
		}
	}
}

// compare judges one subject; m is the call on meta.
func (c *call) compare(m *call, subject asserts.Place, real, meta []*side) {
	if len(real) != len(meta) {
		subject.Element = asserts.NoElement
		c.report(subject).Saw = m.beside("returned", fmt.Sprintf("%d tensors", len(real)), len(meta))
		return
	}
	for i := range real {
		a, b := real[i], meta[i]
		if !a.after.Defined() && !b.after.Defined() {
			continue
		}
		if a.after.Traits&asserts.MetaTensor != 0 {
			c.skip("both calls return it on meta")
			continue
		}
		if m.fake && c.breaks(a.at) != 0 && m.breaks(b.at) == 0 {
			c.skip("the kernel contradicts the schema, the fake does not")
			continue
		}
		if !c.judged(&a.after, &b.after) {
			continue
		}
		saw := c.differences(m, a, b)
		if len(saw) == 0 {
			continue
		}
		if !m.fake && onDevice(&a.after) && (c.breaks(a.at) == 0) != (m.breaks(b.at) == 0) {
			c.skip("one of the two kernels contradicts the schema") // which another check reports
			continue
		}
		v := c.reportSide(a)
		v.Other = b.after
		v.Saw, v.Fix = texts(saw), c.contradicts(m, a.at)
		if m.fake {
			v.Breaks = consequences[saw[0].of]
			if saw[0].of == "sizes" {
				v.Fix += "; or leave sizes that depend on contents open in the fake: torch.library.get_ctx().new_dynamic_size()"
			}
		}
	}
}

func onDevice(o *asserts.Observation) bool {
	return o.Content != nil && o.Content.Device != "" && o.Content.Device != "cpu"
}

// contradicts returns which of the two calls contradicts the schema, and the remedy. A schema does
// not speak of sizes, strides and dtypes.
func (c *call) contradicts(m *call, at asserts.Place) string {
	switch real, meta := c.breaks(at), m.breaks(at); {
	case real != 0 && meta == 0:
		return fmt.Sprintf("the kernel that is not on %s contradicts the schema (%v), %s does not: "+
			"make it share as %[3]s does", m.on, real, m.kernel())
	case real == 0 && meta != 0:
		return fmt.Sprintf("%s contradicts the schema (%v), the other does not: make it share as the other does",
			m.kernel(), meta)
	case m.fake:
		return "make the fake return the sizes, strides, dtype, device and views that the kernel returns, or the other way " +
			"round if the fake is right"
	}
	return "the schema does not say which one is right: make " + m.kernel() +
		" return the sizes, strides, dtype and views of the other, or the other way round"
}

func (c *call) differences(m *call, a, b *side) []aliasDiff {
	did, what := "returned", "it "
	if !a.at.Return {
		did = "left"
	}
	if m.fake {
		what = "what "
	}
	if a.after.Defined() != b.after.Defined() {
		return []aliasDiff{{"definedness", m.beside(did, definedness(a), definedness(b))}}
	}
	var saw []aliasDiff
	shares, meta := c.shares(a), m.shares(b)
	if shares != meta {
		saw = append(saw, aliasDiff{"sharing", m.beside(did, what+shares, what+meta)})
	}
	x, y := a.after.Content, b.after.Content
	if x == nil || y == nil {
		c.skip("sizes, strides and dtype not observed")
		return saw
	}
	differ := func(what string, real, meta any) {
		saw = append(saw, aliasDiff{what, m.beside(did, fmt.Sprint(what, " ", real), meta)})
	}
	switch {
	case x.DType == y.DType:
	case m.fake:
		saw = append(saw, aliasDiff{"dtype", m.beside(did, x.DType, y.DType)})
	default:
		differ("dtype", x.DType, y.DType)
	}
	if m.fake && x.Device != y.Device {
		differ("device", x.Device, y.Device)
	}
	if !slices.Equal(x.Sizes, y.Sizes) {
		differ("sizes", x.Sizes, y.Sizes)
	} else if !x.SameStrides(y) {
		differ("strides", fmt.Sprintf("%v of sizes %v", x.Strides, x.Sizes), y.Strides)
	} else if !m.fake && shares == meta && shares != withNothing && x.Offset != y.Offset && !slices.Contains(x.Sizes, 0) {
		differ("offset", x.Offset, y.Offset)
	}
	return saw
}

type aliasDiff struct{ of, text string }

func texts(all []aliasDiff) string {
	return slicesx.Join(all, "; ", func(c aliasDiff) string { return c.text })
}

func definedness(s *side) string {
	if s.after.Defined() {
		return "a tensor"
	}
	return "undefined"
}
