package asserts

import (
	"fmt"
	"slices"

	"github.com/opassert/opassert/internal/usual"
)

// FreshImpl is OA003.
const FreshImpl Code = 3

var _ = add(checkRow{
	code:   FreshImpl,
	name:   "fresh-impl",
	rule:   "a return without (a!) is a new TensorImpl that nothing else references",
	breaks: "other holders of it see, or make, changes that autograd does not record",
	level:  Identity,
	about:  Return,
	plans:  func(_ *Op, on, _ *Subject) bool { return !on.Write },
	judges: (*judge).freshImpls,
	usual:  usual.OneHolder,
	after:  1<<ReturnedSelf | 1<<ViewStorage | 1<<UndeclaredAlias | 1<<OutputAlias,
	fixes: func(_ *Op, v *Violation) string {
		if v.Against.Name == "" {
			return "keep no reference to the result, as a cache would, or return a clone"
		}
		return fmt.Sprintf("return a TensorImpl of its own: a view of %s, or a clone", v.Against.Name)
	},
	skips: []Row{
		{Trait: DirectSubclass, Reason: "direct subclass"},
		{Trait: WrapperSubclass, Reason: "wrapper subclass"},
	},
	parts: true,
})

// freshImpls reports returns with a TensorImpl referenced elsewhere, unless OA007 or OA008 has named the other holder.
func (j *judge) freshImpls() {
	for _, out := range j.outputs {
		if !out.codes.Has(FreshImpl) || !out.Defined() || j.inferenceView(out) || j.passesOver(FreshImpl, &out.Observation) {
			continue
		}
		shared := j.byImpl[out.Impl]
		sharers := j.outByImpl[out.Impl] // out is one of them
		known := len(shared)+len(sharers) > 1
		accused := out.aliased || known && out.wrong || !allShare(out, shared, sameImpl) ||
			othersAccused(out, sharers, FreshImpl)
		j.countHolders(FreshImpl, out.ImplUses, out.aliased || known)
		if accused || !known && out.ImplUses <= 1 {
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

// countHolders counts a check on a return's holders as judged, or as skipped if no use count and no tensor shows them.
func (j *judge) countHolders(code Code, uses int32, shown bool) {
	if uses == NotCounted && !shown {
		j.skipped[Skip{Code: code, Reason: notCounted}]++
		return
	}
	j.verdict.Judged[code]++
}

// inferenceView reports, and counts, a declared view of an inference tensor that is the tensor
// itself: ADInplaceOrView, which creates a TensorImpl for each view, ignores inference tensors.
func (j *judge) inferenceView(out *output) bool {
	base := func(in *input) bool { return slices.Contains(out.declared, in.arg) }
	view := out.Traits&NoVersion != 0 && slices.ContainsFunc(j.byImpl[out.Impl], base)
	if view {
		j.skipped[Skip{Code: FreshImpl, Reason: "view of an inference tensor"}]++
	}
	return view
}
