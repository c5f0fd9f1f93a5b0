package asserts

import (
	"fmt"

	"github.com/opassert/opassert/internal/usual"
)

// InputImpl is OA001.
const InputImpl Code = 1

var _ = add(checkRow{
	code:   InputImpl,
	name:   "input-impl",
	rule:   "an argument's TensorImpl is the same object after the call",
	breaks: "callers and autograd use a tensor that the op has replaced",
	level:  Identity,
	about:  Argument,
	plans:  func(*Op, *Subject, *Subject) bool { return true },
	judges: (*judge).inputImpls,
	usual:  usual.SameImpl,
	fixes: func(_ *Op, v *Violation) string {
		if v.Subject.Element != NoElement {
			return fmt.Sprintf("do not change the caller's list: work on a copy of %s", v.Subject.Name)
		}
		return fmt.Sprintf("write into the TensorImpl of %s instead of replacing it", v.Subject.Name)
	},
	skips: []Row{{Trait: Lazy, Reason: "conj, neg or zero tensor: in a list the dispatcher replaces it with a plain one"}},
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

// mustKeepImpl reports whether the argument must keep its TensorImpl: not if it was never a tensor,
// nor if it was undefined and the op may fill it in.
func (in *input) mustKeepImpl() bool { return in.before.Defined() || in.after.Defined() && !in.Write }
