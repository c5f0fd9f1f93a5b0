package compare

import (
	"slices"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/internal/tensor"
)

// Changes reports the arguments with (a!) that one of two calls with equal bytes changes and
// the other does not. It is not for calls that use random numbers.
func Changes(op *asserts.Op, real, twin *asserts.Seen, on string, policy *asserts.Policy) asserts.Verdict {
	r, m := newCall(op, real, policy), newCall(op, twin, policy)
	m.on = on
	for i := range min(len(r.arguments), len(m.arguments)) {
		if a, b := r.arguments[i], m.arguments[i]; a.Write && !a.Inside && r.alone(a) && sameBytes(a, b) {
			r.compareChange(m, a, b)
		}
	}
	return r.conclude()
}

func (c *call) alone(in *side) bool {
	other := func(of *side) bool { return of != in && of.holds(in.before.Storage, storageOf) }
	return in.before.Storage != 0 && in.after.Storage == in.before.Storage && !slices.ContainsFunc(c.arguments, other)
}

// sameBytes reports whether two arguments had the same bytes before the calls, and as many after them.
func sameBytes(a, b *side) bool {
	was := a.before.Content
	for _, o := range []*asserts.Observation{&a.before, &a.after, &b.before, &b.after} {
		if o.Content == nil || o.Content.Digest == 0 || o.Content.Nbytes != was.Nbytes {
			return false
		}
	}
	return was.Digest == b.before.Content.Digest
}

func (c *call) compareChange(m *call, a, b *side) {
	if !c.judged(&a.after, &b.after) {
		return
	}
	changes, there := otherNumbers(a.before.Content, a.after.Content), otherNumbers(b.before.Content, b.after.Content)
	if changes == there {
		return
	}
	v := c.reportSide(a)
	v.Other, v.Symptom = b.after, asserts.OtherContents
	v.Saw = "the call changes its bytes, on " + m.on + " it does not change them"
	if there {
		v.Saw = "the call does not change its bytes, on " + m.on + " it changes them"
	}
	v.Fix = "the schema does not say when it is written: make " + m.kernel() +
		" write it where the other does, or the other where " + m.kernel() + " does"
}

// otherNumbers reports whether a written tensor has other numbers: adding 0 changes a zero's sign; NaNs are equal.
func otherNumbers(was, is *asserts.Snapshot) bool {
	if !readable(was, is) {
		return was.Digest != is.Digest
	}
	d, _ := tensor.ParseDType(was.DType)
	return !slices.EqualFunc(numbersOf(was, d), numbersOf(is, d), func(a, b float64) bool { return near(a, b, 0) })
}
