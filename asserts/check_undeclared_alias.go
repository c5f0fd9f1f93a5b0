package asserts

import (
	"fmt"
	"slices"
	"strings"

	"github.com/opassert/opassert/internal/usual"
)

// UndeclaredAlias is OA007.
const UndeclaredAlias Code = 7

var _ = add(checkRow{
	code:   UndeclaredAlias,
	name:   "undeclared-alias",
	rule:   "a return shares nothing with an argument unless the schema declares a common alias set for them",
	breaks: "an in-place write to one silently changes the other; compilers assume that they are independent",
	level:  Identity,
	about:  Return | AgainstArgument,
	// A written return is its argument.
	plans:    func(_ *Op, on, against *Subject) bool { return !on.Write && !mayShare(on, against) },
	judges:   (*judge).undeclaredAliases,
	usual:    usual.OffArguments,
	after:    1<<InputImpl | 1<<InputStorage | 1<<ReturnedSelf | 1<<ViewStorage,
	fixes:    fixUndeclaredAlias,
	inPython: "return a new tensor: one that wraps the op's results for the inner tensors",
	skips:    reliable,
	parts:    true,
})

// Sharing returns an op that decomposes with only the check of what its returns share, as if it did not.
func (op *Op) Sharing() *Op {
	sharing := *op
	sharing.plan, sharing.Composite = nil, false
	sharing.Checks = slices.DeleteFunc(sharing.Calls(), func(c Check) bool { return c.Code != UndeclaredAlias })
	return &sharing
}

// undeclaredAliases reports a return that shares with several arguments once: for the one it is, else for the first.
func (j *judge) undeclaredAliases() {
	for _, out := range j.outputs {
		if len(out.against[UndeclaredAlias]) == 0 || !out.Defined() || out.wrong ||
			!j.judged(UndeclaredAlias, &out.Observation) {
			continue
		}
		if in := j.aliasedInput(out, j.byImpl[out.Impl], sameImpl); in != nil {
			j.reportAlias(UndeclaredAlias, out, in.place(), in.after, "TensorImpl")
		} else if in := j.aliasedInput(out, j.byStorage[out.Storage], sameStorage); in != nil {
			j.reportAlias(UndeclaredAlias, out, in.place(), in.after, "StorageImpl")
		} else if in := j.aliasedInput(out, j.over(&out.Observation), sameStorage); in != nil {
			j.reportAlias(UndeclaredAlias, out, in.place(), in.after, "memory")
		} else if in := j.aliasedInput(out, j.counting(&out.Observation), sameStorage); in != nil {
			j.reportAlias(UndeclaredAlias, out, in.place(), in.after, "version counter")
		}
	}
}

func (j *judge) aliasedInput(out *output, inputs []*input, shared func(*output, *input) bool) *input {
	allowed := func(in *input) bool {
		had := in.before.Impl == out.Impl || in.before.Storage == out.Storage
		return slices.Contains(out.declared, in.arg) && (had || !out.Subject.Inside)
	}
	if slices.ContainsFunc(inputs, allowed) {
		return nil // shared through a declared argument
	}
	for _, in := range inputs {
		if !slices.Contains(out.against[UndeclaredAlias], in.arg) || !shared(out, in) {
			continue
		}
		if j.passesOver(UndeclaredAlias, &in.after) {
			continue
		}
		return in
	}
	return nil
}

func fixUndeclaredAlias(op *Op, v *Violation) string {
	on, against := op.at(v.Subject), op.at(v.Against)
	for _, s := range []*Subject{on, against} {
		if holder := s.holder(); holder != "" {
			return fmt.Sprintf("clone %s before returning: no annotation covers the tensors inside a %s",
				strings.TrimPrefix(v.Subject.String(), "result "), holder)
		}
	}
	if counts(&v.After, &v.Other) && v.After.Storage != v.Other.Storage && !overlaps(&v.After, &v.Other) {
		return fmt.Sprintf("give the result a version counter of its own, as a clone of %s has", v.Against.Name)
	}
	if op.Declared == CustomOp {
		return "clone before returning: what " + CustomOp + " defines returns tensors that share nothing"
	}
	sets := against.sets()
	if len(sets) == 0 {
		sets = []string{op.freeSet()}
	}
	if against.Write {
		return fmt.Sprintf("clone before returning; or return %s itself and annotate: %s",
			v.Against.Name, op.annotate(v.Subject, on.spell(sets[:1], true)))
	}
	fix := "clone before returning; or annotate: "
	if v.After.Impl == v.Other.Impl || v.After.Storage != v.Other.Storage {
		fix = "clone before returning; or return a view of it and annotate: "
	}
	if len(against.sets()) == 0 {
		fix += annotate(v.Against, against.spell(sets, false)) + ", "
	}
	all := slices.Sorted(slices.Values(slices.Concat(on.sets(), sets[:1])))
	return fix + op.annotate(v.Subject, on.spell(slices.Compact(all), false))
}
