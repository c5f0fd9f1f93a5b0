package asserts

import (
	"fmt"
	"slices"

	"github.com/opassert/opassert/asserts/internal/usual"
)

// FreshImpl is OA003.
const FreshImpl Code = 3

var _ = add(check{
	code:    FreshImpl,
	name:    "fresh-impl",
	promise: Fresh,
	rule:    "a return without (a!) is a new TensorImpl that nobody else holds",
	breaks:  "whoever else holds it sees, or makes, changes that autograd knows nothing of",
	level:   Identity,
	about:   Return,
	plans:   func(_ *Op, on, _ *Subject) bool { return !on.Write },
	judges:  (*judge).freshImpls,
	usual:   usual.OneHolder,
	after:   1<<ReturnedSelf | 1<<ViewStorage | 1<<UndeclaredAlias | 1<<OutputAlias,
	fixes:   fixFreshImpl,
	skips: []Row{
		{Trait: DirectSubclass, Reason: "direct subclass"},
		{Trait: WrapperSubclass, Reason: "wrapper subclass"},
	},
	parts: true,
})

// freshImpls reports where OA007 and OA008 have not said whose the TensorImpl
// is.
func (j *judge) freshImpls() {
	for i := range j.outputs {
		out := &j.outputs[i]
		if !out.codes.Has(FreshImpl) || !out.Defined() || j.inferenceView(out) || !j.judged(FreshImpl, &out.Observation) || out.aliased {
			continue
		}
		shared := j.byImpl[out.Impl]
		sharers := j.outByImpl[out.Impl] // out is one of them
		known := len(shared)+len(sharers) > 1
		if known && out.wrong || !allShare(out, shared, sameImpl) || othersAccused(out, sharers, FreshImpl) {
			continue
		}
		if !known && out.ImplUses <= 1 {
			j.uncountedPart(FreshImpl, out, out.ImplUses)
			continue
		}
		v := j.reportOutput(FreshImpl, out)
		if who, held, seen := j.holder(v.Subject, out.Impl, 0); held != "" {
			v.Against, v.Other = who, seen
			v.Saw = fmt.Sprintf("%s is the TensorImpl of %s", v.Subject, who)
		} else {
			v.Saw = outOfSight("TensorImpl", v.Subject, out.ImplUses)
		}
	}
}

// uncountedPart counts a part whose uses are not known as a skip: who holds it
// shows in nothing else.
func (j *judge) uncountedPart(code Code, out *output, uses int32) {
	if out.Subject.Inside && uses == NotCounted {
		j.verdict.Judged[code]--
		j.skipped[Skip{Code: code, Reason: "uses not counted"}]++
	}
}

// inferenceView reports, and counts, a declared view of an inference tensor
// that is the tensor: ADInplaceOrView, which makes a view a TensorImpl of its own where a
// kernel returns its argument, leaves those out.
func (j *judge) inferenceView(out *output) bool {
	base := func(in *input) bool { return slices.Contains(out.declared, in.arg) }
	view := out.Traits&NoVersion != 0 && slices.ContainsFunc(j.byImpl[out.Impl], base)
	if view {
		j.skipped[Skip{Code: FreshImpl, Reason: "view of an inference tensor"}]++
	}
	return view
}

func fixFreshImpl(_ *Op, v *Violation) string {
	if v.Against.Name == "" {
		return "keep no reference to what is returned, as a cache would, or return a clone of it"
	}
	return fmt.Sprintf("return a TensorImpl of its own: a view of %s, or a clone", v.Against.Name)
}
