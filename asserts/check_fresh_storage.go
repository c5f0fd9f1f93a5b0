package asserts

import (
	"fmt"
	"slices"
)

// FreshStorage is OA005.
const FreshStorage Code = 5

var _ = add(check{
	code:     FreshStorage,
	name:     "fresh-storage",
	promise:  Fresh,
	rule:     "a return without an alias set has a StorageImpl that nobody else holds, over memory of its own",
	breaks:   "a later in-place write to the result changes a tensor that nobody knows to be related",
	level:    Identity,
	about:    Return,
	plans:    func(_ *Op, on, _ *Subject) bool { return !on.aliased() },
	judges:   (*judge).freshStorages,
	after:    1<<UndeclaredAlias | 1<<OutputAlias,
	fixes:    fixFreshStorage,
	skips:    []Row{{Trait: Storageless, Reason: noStorage}},
	shortcut: true,
	parts:    true,
})

// freshStorages reports where OA007 and OA008 have not said whose the
// StorageImpl is.
func (j *judge) freshStorages() {
	var fresh []*output
	for i := range j.outputs {
		out := &j.outputs[i]
		if !out.codes.Has(FreshStorage) || !out.Defined() || !j.judged(FreshStorage, &out.Observation) || out.aliased {
			continue
		}
		shared := j.byStorage[out.Storage]
		sharers := j.outByStorage[out.Storage]
		if !allShare(out, shared, sameStorage) || spared(out, sharers, FreshStorage) {
			continue
		}
		if out.StorageUses <= 1 {
			fresh = append(fresh, out)
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
}

// usedAgain reports the returns that lie in the memory of what the call before
// returned, or else, of the first, that this is no longer as it was.
func (j *judge) usedAgain(fresh []*output) {
	again := len(fresh) == 0
	for _, out := range fresh {
		if slices.ContainsFunc(j.seen.Earlier, func(e Earlier) bool { return e.observed() && overlaps(&out.Observation, &e.Now) }) {
			j.reportOutput(FreshStorage, out).Saw = fmt.Sprintf("%s lies in the memory of what the call before returned, under another StorageImpl", out.place())
			again = true
		}
	}
	for _, e := range j.seen.Earlier {
		if again || !e.observed() {
			continue
		}
		if text := changedBytes(e.Then.Content, e.Now.Content); text != "" {
			j.reportOutput(FreshStorage, fresh[0]).Saw = "of what the call before returned " + text
			again = true
		}
	}
}

func (e *Earlier) observed() bool {
	return e.Then.Content != nil && e.Now.Content != nil && e.Now.Content.Memory != 0
}

func fixFreshStorage(_ *Op, v *Violation) string {
	switch {
	case v.Against.Name != "":
		return "clone before returning"
	case v.After.StorageUses <= 1:
		return "return memory of its own: a clone of what lies in a buffer that calls share"
	}
	return "keep no view of what is returned, as a cache would, or return a clone of it"
}
