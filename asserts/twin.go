package asserts

import (
	"slices"

	"github.com/opassert/opassert/internal/tensor"
)

// JudgeTwin is [JudgeMeta] for a call on any other device, named by on.
func JudgeTwin(op *Op, real, twin *Seen, on string, policy *Policy) Verdict {
	r, m := newJudge(op, real, policy), newJudge(op, twin, policy)
	m.on = on
	if len(r.outputs) == 0 != (len(m.outputs) == 0) {
		return r.conclude()
	}
	for c := range AllCodes.All() {
		if row := checks[c]; row.compares != nil {
			row.compares(r, m)
		}
	}
	return r.conclude()
}

// JudgeChanges reports the arguments with (a!) that one of two calls with equal bytes changes and
// the other does not. It is not for calls that use random numbers.
func JudgeChanges(op *Op, real, twin *Seen, on string, policy *Policy) Verdict {
	r, m := newJudge(op, real, policy), newJudge(op, twin, policy)
	m.on = on
	for i := range min(len(r.inputs), len(m.inputs)) {
		if a, b := r.inputs[i], m.inputs[i]; a.Write && !a.Inside && r.alone(a) && sameBytes(a, b) {
			r.compareChange(m, a, b)
		}
	}
	return r.conclude()
}

// alone reports whether no other argument shares an argument's storage.
func (j *judge) alone(in *input) bool {
	other := func(of *input) bool { return of != in }
	return in.before.Storage != 0 && in.after.Storage == in.before.Storage && !slices.ContainsFunc(j.byStorage[in.before.Storage], other)
}

// sameBytes reports whether two arguments had the same bytes before the calls, and as many after
// them.
func sameBytes(a, b *input) bool {
	was := a.before.Content
	for _, o := range []*Observation{&a.before, &a.after, &b.before, &b.after} {
		if o.Content == nil || o.Content.Digest == 0 || o.Content.Nbytes != was.Nbytes {
			return false
		}
	}
	return was.Digest == b.before.Content.Digest
}

func (j *judge) compareChange(m *judge, a, b *input) {
	if !j.judged(MetaAlias, &a.after, &b.after) {
		return
	}
	changes, there := otherNumbers(a.before.Content, a.after.Content), otherNumbers(b.before.Content, b.after.Content)
	if changes == there {
		return
	}
	v := j.reportInput(MetaAlias, a)
	v.Other, v.Symptom = b.after, OtherContents
	v.Saw = "the call changes its bytes, " + m.where() + " it does not change them"
	if there {
		v.Saw = "the call does not change its bytes, " + m.where() + " it changes them"
	}
	v.Fix = "the schema does not say when it is written: make " + m.kernel() + " write it where the other does, or the other where " + m.kernel() + " does"
	v.Breaks = "a program gets other numbers on one of the devices"
}

// otherNumbers reports whether a written tensor has other numbers: zeros of either sign are equal,
// as adding 0 may change it, and so are all NaNs.
func otherNumbers(was, is *Snapshot) bool {
	if !readable(was, is) {
		return was.Digest != is.Digest
	}
	d, _ := tensor.ParseDType(was.DType)
	return !slices.EqualFunc(numbersOf(was, d), numbersOf(is, d), func(a, b float64) bool { return near(a, b, 0) })
}
