package asserts

import (
	"fmt"
	"slices"
	"strings"

	"github.com/opassert/opassert/internal/usual"
)

// ViewStorage is OA004.
const ViewStorage Code = 4

var _ = add(checkRow{
	code: ViewStorage,
	name: "view-storage",
	rule: "a return that is a view shares its base's StorageImpl",
	breaks: "writes through the view do not change its base, nor the other way round: silently wrong values " +
		"and gradients",
	level: Identity,
	about: Return | AgainstArgument,
	parts: true,
	plans: func(op *Op, on, against *Subject) bool {
		return !on.Write && !on.anything() && op.base(on) == against
	},
	judges: (*judge).views,
	usual:  usual.OnArgument,
	fixes: func(op *Op, v *Violation) string {
		return fmt.Sprintf("return a view: build the output on the storage of %s; or drop the alias set: %s",
			v.Against.Name, op.annotate(v.Subject, op.at(v.Subject).spell(nil, false)))
	},
	inPython: "put the view on its base's storage, as torch.utils._python_dispatch.return_and_correct_aliasing does: " +
		"return return_and_correct_aliasing(func, args, kwargs, out)",
	skips: []Row{
		{Trait: Storageless, Reason: noStorage},
		{Trait: WrapperSubclass, Unless: ReportsViews, Reason: "wrapper subclass that does not report views"},
	},
})

func (op *Op) base(r *Subject) *Subject {
	for i := range op.Args {
		if a := &op.Args[i]; shareSet(r, a) {
			return a
		}
	}
	return nil
}

func (j *judge) views() {
	for _, out := range j.outputs {
		bases := out.like(j.of(out.against[ViewStorage]))
		if len(bases) == 0 {
			continue
		}
		if !out.Defined() {
			if !strings.Contains(out.Suffix, "?") && j.judged(ViewStorage, &bases[0].before) {
				out.wrong = true
				v := j.reportMismatch(ViewStorage, out, bases[0])
				v.Saw = fmt.Sprintf("%s is an undefined tensor", v.Subject)
			}
			continue
		}
		if !j.judged(ViewStorage, &out.Observation, &bases[0].before) {
			continue
		}
		if j.declared(out, out.Storage) || j.seen.Plain && j.within(out) {
			continue
		}
		out.wrong = true
		if v := j.reportMismatch(ViewStorage, out, bases[0]); v.Saw == "" {
			v.Saw = fmt.Sprintf("%s is on StorageImpl %v, %s is on %v", v.Subject, out.Storage, v.Against,
				bases[0].after.Storage)
		}
	}
}

// within reports whether a return lies in the memory of an argument with a common alias set: a slice of
// another capacity, such as s[i:j:j], is a view, although its array has another ID.
func (j *judge) within(out *output) bool {
	return slices.ContainsFunc(j.inputs, func(in *input) bool {
		o, base := &out.Observation, &in.after
		return slices.Contains(out.declared, in.arg) && (overlaps(o, base) || base.reaches(o) && o.reaches(base))
	})
}

// reaches reports whether the array of a slice, observed without its contents, begins before the end of another one.
func (o *Observation) reaches(other *Observation) bool {
	return o.Version > 0 && o.Traits&NoVersion != 0 && o.Storage-ID(o.Version) < other.Storage
}

// like returns the bases, or for a further storage of a view the storages of that name of the bases.
func (out *output) like(bases []*input) []*input {
	if !out.Subject.Inside {
		return bases
	}
	return slices.DeleteFunc(bases, func(b *input) bool { return b.called != out.called || !b.before.isStorage() })
}
