package asserts

import (
	"fmt"
	"slices"
	"strings"

	"github.com/opassert/opassert/internal/usual"
)

// ReturnedSelf is OA006.
const ReturnedSelf Code = 6

var _ = add(checkRow{
	code:   ReturnedSelf,
	name:   "returned-self",
	rule:   "a return marked (a!) is the very TensorImpl of the argument marked (a!)",
	breaks: "autograd attaches the history of the write to a tensor that was not written",
	level:  Identity,
	about:  Return | AgainstArgument,
	plans:  func(op *Op, on, against *Subject) bool { return on.Write && op.owner(on) == against },
	judges: (*judge).writtenReturns,
	usual:  usual.IsArgument,
	fixes: func(op *Op, v *Violation) string {
		fix := "return " + v.Against.Name + " itself"
		if name, _, _ := strings.Cut(op.Name, "."); strings.HasSuffix(name, "_") || op.at(v.Against).Out {
			return fix // such an op returns what it writes
		}
		return fix + "; or drop the alias set: " + op.annotate(v.Subject, op.at(v.Subject).spell(nil, false))
	},
	inPython: "return the argument itself, as torch.utils._python_dispatch.return_and_correct_aliasing does: return " +
		"return_and_correct_aliasing(func, args, kwargs, out)",
	skips: reliable,
})

// owner returns the argument that a written return should be: with a common alias set, a written one first; or nil.
func (op *Op) owner(r *Subject) *Subject {
	var owner *Subject
	for i := range op.Args {
		if a := &op.Args[i]; shareSet(r, a) && (owner == nil || a.Write && !owner.Write) {
			owner = a
		}
	}
	return owner
}

func (j *judge) writtenReturns() {
	for _, out := range j.outputs {
		owners := j.owners(out, out.against[ReturnedSelf])
		if len(owners) == 0 || !j.judged(ReturnedSelf, &out.Observation, &owners[0].before) {
			continue
		}
		is := func(in *input) bool {
			return in.Write == owners[0].Write && (in.before.Impl == out.Impl || in.after.Impl == out.Impl)
		}
		if slices.ContainsFunc(j.owners(out, out.declared), is) {
			continue
		}
		out.wrong = true
		if v := j.reportMismatch(ReturnedSelf, out, owners[0]); v.Saw == "" {
			v.Saw = fmt.Sprintf("%s is TensorImpl %v, %s is %v", v.Subject, out.Impl, v.Against, owners[0].after.Impl)
		}
	}
}

// owners returns the tensors that a return marked (a!) may be. If return and argument are lists,
// that is the element at the same index, or any if there is no such element. An undefined argument has none.
func (j *judge) owners(out *output, args []int) []*input {
	var owners, all []*input
	for _, in := range j.inputs {
		if !slices.Contains(args, in.arg) || !in.before.Defined() && !in.after.Defined() {
			continue
		}
		if all = append(all, in); in.element == out.element {
			owners = append(owners, in)
		}
	}
	if owners == nil {
		return all
	}
	return owners
}
