package asserts

import (
	"fmt"

	"github.com/opassert/opassert/internal/usual"
)

// InputImpl is OA001.
const InputImpl Code = 1

var _ = add(check{
	code:    InputImpl,
	name:    "input-impl",
	promise: Objects,
	rule:    "an argument's TensorImpl is the same object after the call",
	breaks:  "callers and autograd go on with a tensor that the op has left behind",
	plain:   "callers go on with a tensor that the op has left behind",
	level:   Identity,
	about:   Argument,
	plans:   func(*Op, *Subject, *Subject) bool { return true },
	judges:  (*judge).inputImpls,
	usual:   usual.SameImpl,
	fixes:   fixInputImpl,
	skips:   []Row{{Trait: Lazy, Reason: "conj, neg or zero tensor: in a list the dispatcher puts a plain one in its place"}},
})

func (j *judge) inputImpls() {
	known := make(map[change]bool)
	for _, in := range j.inputs {
		b, a := &in.before, &in.after
		if !in.codes.Has(InputImpl) || !in.mustKeepImpl() || !j.judged(InputImpl, b) || a.Impl == b.Impl {
			continue
		}
		in.newImpl = true
		c := change{b.Impl, b.Impl, a.Impl}
		if b.Defined() && known[c] {
			continue
		}
		known[c] = true
		v := j.reportInput(InputImpl, in)
		v.Saw = fmt.Sprintf("%s was TensorImpl %v before the call and is %v after it", v.Subject, b.Impl, a.Impl)
		j.blame(v, "TensorImpl", j.byImpl[a.Impl], j.outByImpl[a.Impl])
	}
}

// mustKeepImpl returns false for a subject that was never a tensor, and for an
// undefined tensor that the op may fill in.
func (in *input) mustKeepImpl() bool {
	return in.before.Defined() || in.after.Defined() && !in.Write
}

func fixInputImpl(_ *Op, v *Violation) string {
	if v.Subject.Element != NoElement {
		return fmt.Sprintf("leave the caller's list alone: work on a copy of %s", v.Subject.Name)
	}
	return fmt.Sprintf("write into the TensorImpl of %s rather than put another in its place", v.Subject.Name)
}
