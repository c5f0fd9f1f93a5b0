package asserts

import "fmt"

// FreshStorage is OA005.
const FreshStorage Code = 5

var _ = add(check{
	code:     FreshStorage,
	name:     "fresh-storage",
	rule:     "a return without an alias set has a StorageImpl that nobody else holds",
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
	for i := range j.outputs {
		out := &j.outputs[i]
		if !out.codes.Has(FreshStorage) || !out.Defined() || !j.judged(FreshStorage, &out.Observation) || out.aliased {
			continue
		}
		shared := j.byStorage[out.Storage]
		sharers := j.outByStorage[out.Storage]
		if out.StorageUses <= 1 || !allShare(out, shared, sameStorage) || spared(out, sharers, FreshStorage) {
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
}

func fixFreshStorage(_ *Op, v *Violation) string {
	if v.Against.Name == "" {
		return "keep no view of what is returned, as a cache would, or return a clone of it"
	}
	return "clone before returning"
}
