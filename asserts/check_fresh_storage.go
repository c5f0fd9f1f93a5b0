package asserts

import (
	"fmt"
	"slices"

	"github.com/opassert/opassert/internal/usual"
)

// FreshStorage is OA005.
const FreshStorage Code = 5

var _ = add(checkRow{
	code:   FreshStorage,
	name:   "fresh-storage",
	rule:   "a return without an alias set has a StorageImpl that nothing else references, over memory of its own",
	breaks: "a later in-place write to the result changes a tensor that is not known to be related",
	level:  Identity,
	about:  Return,
	plans:  func(_ *Op, on, _ *Subject) bool { return !on.aliased() },
	judges: (*judge).freshStorages,
	usual:  usual.OwnStorage,
	after:  1<<UndeclaredAlias | 1<<OutputAlias,
	fixes:  fixFreshStorage,
	skips:  []Row{{Trait: Storageless, Reason: noStorage}},
	parts:  true,
})

// freshStorages reports returns with a StorageImpl held elsewhere, unless OA007 or OA008 has named the other holder.
func (j *judge) freshStorages() {
	var fresh []*output
	for _, out := range j.outputs {
		if !out.codes.Has(FreshStorage) || !out.Defined() || j.passesOver(FreshStorage, &out.Observation) {
			continue
		}
		shared := j.byStorage[out.Storage]
		sharers := j.outByStorage[out.Storage]
		accused := out.aliased || !allShare(out, shared, sameStorage) || othersAccused(out, sharers, FreshStorage)
		j.countHolders(FreshStorage, out.StorageUses, accused)
		switch {
		case accused:
			continue
		case out.StorageUses <= 1:
			if j.ownMemory(out) {
				fresh = append(fresh, out)
			}
			continue
		}
		v := j.reportOutput(FreshStorage, out)
		if who, held, seen := j.holder(v.Subject, 0, out.Storage); held != "" {
			v.Against, v.Other = who, seen
			v.Saw = fmt.Sprintf("%s shares StorageImpl with %s, use_count is %d", v.Subject, who, out.StorageUses)
		} else {
			v.Saw = outOfSight("StorageImpl", v.Subject, out.StorageUses)
		}
	}
	j.usedAgain(fresh)
	j.changedLate(fresh)
}

func (j *judge) changedLate(fresh []*output) {
	for _, out := range fresh {
		if text := changedLater(&out.Observation, &out.late); text != "" &&
			!slices.ContainsFunc(j.verdict.Violations, func(v *Violation) bool { return v.Subject == out.place() }) {
			j.reportOutput(FreshStorage, out).Saw = out.place().String() +
				" changed after the call, so a reference is held elsewhere: " + text
		}
	}
}

// changedLater returns how the bytes changed between two observations after a call; "" if not, or not observed again.
func changedLater(then, later *Observation) string {
	if then.Content == nil || later.Content == nil || then.unobservable()+later.unobservable() != "" {
		return ""
	}
	return changedBytes(then.Content, later.Content)
}

// ownMemory reports whether a return's memory may be its own, and reports the return if not. Unknown owners are a skip.
func (j *judge) ownMemory(out *output) bool {
	owner := OwnStorage
	if out.Content != nil {
		owner = out.Content.Owner
	}
	switch {
	case owner == NoOwner:
		j.reportOutput(FreshStorage, out).Saw = fmt.Sprintf("%s lies in memory that its StorageImpl does not free: another "+
			"object's, or static", out.place())
		return false
	case owner == ForeignOwner && !slices.ContainsFunc(j.seen.Earlier,
		func(e Earlier) bool { return e.Arg == 0 && e.Now.Content != nil && e.Now.Content.Memory != 0 }):
		j.skipped[Skip{Code: FreshStorage, Reason: "memory from no allocator of the device: its other owners " +
			"are not known"}]++
	}
	return true
}

// usedAgain reports the returns that lie in the memory of a return of the previous call, or else
// the first return if one of the previous call has changed.
func (j *judge) usedAgain(fresh []*output) {
	again := len(fresh) == 0
	for _, out := range fresh {
		for _, e := range j.seen.Earlier {
			if text := e.reused(&out.Observation); text != "" {
				j.reportReturnedBefore(out, out.place().String()+" "+text)
				again = true
				break
			}
		}
	}
	for _, e := range j.seen.Earlier {
		if again || e.Arg > 0 {
			continue
		}
		if text := changedLater(&e.Then, &e.Now); text != "" {
			j.reportReturnedBefore(fresh[0], "what the previous call returned has changed: "+text)
			again = true
		}
	}
}

func (j *judge) reportReturnedBefore(out *output, saw string) {
	v := j.reportOutput(FreshStorage, out)
	v.Saw, v.Symptom = saw, ReturnedBefore
}

// reused returns how a return reuses one of the previous call, "" if it does not. Its arguments may be returned again.
func (e *Earlier) reused(o *Observation) string {
	holds := func(o *Observation) bool { return o.Content != nil && o.Content.Nbytes > 0 }
	switch {
	case e.Arg > 0 || !holds(&e.Then) || !holds(o):
	case o.Impl == e.Now.Impl:
		return "is the TensorImpl that the previous call returned"
	case o.Storage == e.Now.Storage:
		return "has the StorageImpl of what the previous call returned"
	case overlaps(o, &e.Now):
		return "lies in the memory of what the previous call returned, under another StorageImpl"
	}
	return ""
}

func fixFreshStorage(_ *Op, v *Violation) string {
	switch {
	case v.Against.Name != "":
		return "clone before returning"
	case v.After.StorageUses <= 1:
		return "return memory of its own: a clone of what lies in a buffer shared by calls"
	}
	return "keep no view of the result, as a cache would, or return a clone"
}
