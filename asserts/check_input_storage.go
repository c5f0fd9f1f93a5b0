package asserts

import (
	"fmt"

	"github.com/opassert/opassert/internal/usual"
)

// InputStorage is OA002.
const InputStorage Code = 2

var _ = add(checkRow{
	code:   InputStorage,
	name:   "input-storage",
	rule:   "an argument's StorageImpl is the same object after the call",
	breaks: "views of the argument, and other holders of its storage, no longer see its contents",
	level:  Identity,
	about:  Argument,
	parts:  true,
	plans:  func(*Op, *Subject, *Subject) bool { return true },
	judges: (*judge).inputStorages,
	usual:  usual.SameStorage,
	after:  1 << InputImpl,
	fixes:  fixInputStorage,
	skips:  []Row{{Trait: Storageless, Reason: noStorage}},
})

func (j *judge) inputStorages() {
	known := make(map[change]bool)
	for _, in := range j.inputs {
		b, a := &in.before, &in.after
		if !in.codes.Has(InputStorage) || in.Inside && !b.isStorage() || in.newImpl || !b.Defined() ||
			!j.judged(InputStorage, b) || a.Storage == b.Storage {
			continue
		}
		in.newStorage = true
		c := change{b.Impl, b.Storage, a.Storage}
		if known[c] {
			continue
		}
		known[c] = true
		v := j.reportInput(InputStorage, in)
		v.Saw = fmt.Sprintf("%s was on StorageImpl %v before the call and is on %v after it", v.Subject, b.Storage, a.Storage)
		if v.released() {
			v.Saw += fmt.Sprintf(": it %s, use_count %d -> 0", tooOften, b.ImplUses)
		}
		j.blame(v, "StorageImpl", j.byStorage[a.Storage], j.outByStorage[a.Storage])
	}
}

// released reports whether the argument has no reference left, although the caller holds one.
func (v *Violation) released() bool {
	return v.Before.ImplUses > 0 && v.After.ImplUses == 0 && v.After.Defined()
}

func fixInputStorage(op *Op, v *Violation) string {
	if v.released() {
		return fixTooOften(v)
	}
	if op.at(v.Subject).Write {
		return fmt.Sprintf("write into, or resize, the StorageImpl of %s; only set_ may replace it", v.Subject.Name)
	}
	return fmt.Sprintf("do not change %s: work on a view or a clone", v.Subject.Name)
}
