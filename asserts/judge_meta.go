package asserts

import (
	"fmt"
	"slices"
	"strings"
)

// JudgeMeta holds a call on the meta device against the same call on another,
// OA011: what shares with what, and the sizes, strides and dtype of what is
// returned, or of an argument where the plan has such a line. Both calls are
// seen at the content level. A call that gave no results is not compared.
func JudgeMeta(op *Op, real, meta *Seen, policy *Policy) Verdict {
	r, m := newJudge(op, real, policy), newJudge(op, meta, policy)
	if len(r.outputs) == 0 != (len(m.outputs) == 0) {
		return r.conclude()
	}
	for i, plan := range r.plan.args {
		if plan.codes.Has(MetaAlias) {
			r.compare(m, Place{Index: plan.Index, Name: plan.Name, Type: plan.Type}, r.argument(i), m.argument(i))
		}
	}
	for i := range r.plan.results {
		if plan := &r.plan.results[i]; plan.codes.Has(MetaAlias) {
			r.compare(m, Place{Return: true, Index: plan.Index, Name: plan.Name, Type: plan.Type}, r.returned(i), m.returned(i))
		}
	}
	return r.conclude()
}

// A side is a tensor as one of the two calls leaves it.
type side struct {
	at   Place
	seen Observation
}

func (j *judge) argument(arg int) []side {
	var sides []side
	for i := range j.inputs {
		if in := &j.inputs[i]; in.arg == arg {
			sides = append(sides, side{in.place(), in.after})
		}
	}
	return sides
}

func (j *judge) returned(result int) []side {
	var sides []side
	for i := range j.outputs {
		if out := &j.outputs[i]; out.result == result {
			sides = append(sides, side{out.place(), out.Observation})
		}
	}
	return sides
}

// compare judges one subject; m is the call on meta.
func (j *judge) compare(m *judge, subject Place, real, meta []side) {
	if len(real) != len(meta) {
		subject.Element = -1
		v := j.report(MetaAlias, subject)
		v.Saw = fmt.Sprintf("%d tensors, on meta %d", len(real), len(meta))
		v.Fix = fixMeta
		return
	}
	for i := range real {
		a, b := &real[i], &meta[i]
		if !a.seen.Defined() && !b.seen.Defined() || a.seen.Traits&MetaTensor != 0 {
			continue
		}
		if !j.judged(MetaAlias, &a.seen, &b.seen) {
			continue
		}
		if saw := j.differences(m, a, b); len(saw) > 0 {
			v := j.report(MetaAlias, a.at)
			v.After, v.Other = a.seen, b.seen
			v.locate(a.seen.Content)
			v.Saw = strings.Join(saw, "; ")
			v.Fix = fixMeta
		}
	}
}

const fixMeta = "make the meta kernel give what the other gives: sizes, strides and dtype, and a view where that is a view"

func (j *judge) differences(m *judge, a, b *side) []string {
	if a.seen.Defined() != b.seen.Defined() {
		return []string{fmt.Sprintf("%s, on meta %s", definedness(a), definedness(b))}
	}
	var saw []string
	if real, meta := j.kin(a), m.kin(b); real != meta {
		saw = append(saw, fmt.Sprintf("it %s, on meta it %s", real, meta))
	}
	x, y := a.seen.Content, b.seen.Content
	if x == nil || y == nil {
		return saw
	}
	if x.DType != y.DType {
		saw = append(saw, fmt.Sprintf("dtype %s, on meta %s", x.DType, y.DType))
	}
	if !slices.Equal(x.Sizes, y.Sizes) {
		saw = append(saw, fmt.Sprintf("sizes %v, on meta %v", x.Sizes, y.Sizes))
	} else if !sameStrides(x, y) {
		saw = append(saw, fmt.Sprintf("strides %v of sizes %v, on meta %v", x.Strides, x.Sizes, y.Strides))
	}
	return saw
}

func definedness(s *side) string {
	if s.seen.Defined() {
		return "a tensor"
	}
	return "undefined"
}

// kin says what a tensor shares, and with which of those before it.
func (j *judge) kin(s *side) string {
	earlier := func(p Place) bool { return comparePlaces(p, s.at) < 0 }
	for _, in := range j.byImpl[s.seen.Impl] {
		if earlier(in.place()) {
			return "is " + in.place().String()
		}
	}
	for _, out := range j.outByImpl[s.seen.Impl] {
		if earlier(out.place()) {
			return "is " + out.place().String()
		}
	}
	for _, in := range j.byStorage[s.seen.Storage] {
		if earlier(in.place()) {
			return "shares storage with " + in.place().String()
		}
	}
	for _, out := range j.outByStorage[s.seen.Storage] {
		if earlier(out.place()) {
			return "shares storage with " + out.place().String()
		}
	}
	return "shares with nothing"
}

// sameStrides leaves out the strides that reach no element.
func sameStrides(a, b *Content) bool {
	if slices.Contains(a.Sizes, 0) {
		return true
	}
	for i, n := range a.Sizes {
		if n != 1 && stride(a, i) != stride(b, i) {
			return false
		}
	}
	return true
}

func stride(c *Content, dim int) int64 {
	if dim < len(c.Strides) {
		return c.Strides[dim]
	}
	return 0
}
