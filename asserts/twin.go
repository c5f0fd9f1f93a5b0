package asserts

import (
	"slices"

	"github.com/opassert/opassert/internal/tensor"
)

// JudgeTwin is [JudgeMeta] for the call on any other device, which it names.
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

// JudgeChanges reports the arguments with (a!) that one of two calls with equal bytes changes and the other
// leaves as they were. It is not for calls that draw random numbers.
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

// alone reports whether no other argument has the storage of one.
func (j *judge) alone(in *input) bool {
	other := func(of *input) bool { return of != in }
	return in.before.Storage != 0 && in.after.Storage == in.before.Storage && !slices.ContainsFunc(j.byStorage[in.before.Storage], other)
}

// sameBytes reports whether two arguments had the same bytes before the calls, and as many after them.
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
	v.Saw = "the call changes its bytes, " + m.where() + " it leaves them as they were"
	if there {
		v.Saw = "the call leaves its bytes as they were, " + m.where() + " it changes them"
	}
	v.Fix = "the schema says that it may be written, not when: make " + m.kernel() + " write it where the other does; or the other where " + m.kernel() + " does"
	v.Breaks = "a program computes with other numbers on one of the devices"
}

// otherNumbers reports whether a tensor that was written has other contents: zero of another sign is the same
// number, as what adds 0 leaves, and so is NaN of other bits.
func otherNumbers(was, is *Snapshot) bool {
	if !readable(was, is) {
		return was.Digest != is.Digest
	}
	d, _ := tensor.ParseDType(was.DType)
	return !slices.EqualFunc(numbersOf(was, d), numbersOf(is, d), func(a, b float64) bool { return near(a, b, 0) })
}
