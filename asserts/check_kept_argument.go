package asserts

import (
	"fmt"
	"slices"

	"github.com/opassert/opassert/internal/usual"
)

// KeptArgument is OA016.
const KeptArgument Code = 16

var _ = add(checkRow{
	code:   KeptArgument,
	name:   "kept-argument",
	rule:   "after the call an argument has only the references from before and those of the returns",
	breaks: "the op may write a tensor that it keeps at any later time; a leaked reference is memory that is never freed",
	level:  Content,
	about:  Argument,
	plans:  func(*Op, *Subject, *Subject) bool { return true },
	judges: (*judge).keptArguments,
	usual:  usual.SameImpl | usual.SameStorage | usual.NotKept | usual.Unreturned,
	after:  1<<InputImpl | 1<<InputStorage,
	when:   func(seen *Seen) bool { return !seen.Autograd },
	fixes: func(_ *Op, v *Violation) string {
		if v.Symptom == Overreleased { // counts of retained tensors may fall too
			return fixTooOften(v)
		}
		return fmt.Sprintf("release every reference to %s before returning, as a cache of a clone does", v.Subject.Name)
	},
	skips: []Row{
		{Trait: Storageless, Reason: noStorage},
		{Trait: FunctionalWrapper, Reason: "functional wrapper: it may hold its value"},
		{Trait: DirectSubclass, Reason: "direct subclass"},
		{Trait: WrapperSubclass, Reason: "wrapper subclass"},
	},
})

const (
	tooOften   = "was released once too often"
	notCounted = "uses not counted"
)

func fixTooOften(v *Violation) string {
	return fmt.Sprintf("release only references that the kernel took: the caller owns one to %s", v.Subject.Name)
}

// keptArguments compares an argument's uses with those from before the call plus those by the
// tensors observed after it. Autograd saves tensors for backward, and the bases of views.
func (j *judge) keptArguments() {
	reported := make(map[ID]bool)
	j.writtenLate(reported)
	for _, in := range j.inputs {
		if !j.seen.Alone {
			break // other goroutines may have taken a reference
		}
		b, a := &in.before, &in.after
		if !in.codes.Has(KeptArgument) || !b.Defined() || b.Impl != a.Impl || b.Storage != a.Storage || reported[b.Impl] {
			continue
		}
		if reason := j.keeps(in); reason != "" {
			j.skipped[Skip{Code: KeptArgument, Reason: reason}]++
			continue
		}
		if !j.judged(KeptArgument, b, a) {
			continue
		}
		reported[b.Impl] = true
		impls, storages := j.holders(b.Impl, b.Storage)
		saw := ""
		switch {
		case a.ImplUses > b.ImplUses+impls:
			saw = "TensorImpl"
		case a.StorageUses > b.StorageUses+storages:
			saw = "StorageImpl"
		default:
			j.releasedTooOften(in, reported)
			continue
		}
		v := j.reportInput(KeptArgument, in)
		v.Saw = fmt.Sprintf("the %s of %s has a reference that it did not have before the call: use_count %d -> %d", saw,
			v.Subject, uses(saw, b), uses(saw, a))
	}
}

// releasedTooOften reports an argument made for the call with fewer references after it, unless a storage was replaced.
func (j *judge) releasedTooOften(in *input, reported map[ID]bool) {
	b, a := &in.before, &in.after
	moved := func(in *input) bool { return in.before.Impl != in.after.Impl || in.before.Storage != in.after.Storage }
	what := ""
	switch {
	case !j.seen.Made || slices.ContainsFunc(j.inputs, moved):
	case a.ImplUses < b.ImplUses:
		what = "TensorImpl"
	case a.StorageUses < b.StorageUses:
		what = "StorageImpl"
	}
	if what != "" {
		v := j.reportInput(KeptArgument, in)
		v.Symptom = Overreleased
		v.Saw = fmt.Sprintf("the %s of %s %s: use_count %d -> %d", what, v.Subject, tooOften, uses(what, b), uses(what, a))
		reported[b.Impl] = true
	}
}

func uses(what string, o *Observation) int32 {
	if what == "TensorImpl" {
		return o.ImplUses
	}
	return o.StorageUses
}

// writtenLate reports the arguments written after the call: some milliseconds later, or by the next call.
func (j *judge) writtenLate(reported map[ID]bool) {
	for _, in := range j.inputs {
		known := func(v *Violation) bool { return v.Before.Storage == in.before.Storage }
		if text := changedLater(&in.after, &in.late); in.codes.Has(KeptArgument) && text != "" &&
			!slices.ContainsFunc(j.verdict.Violations, known) {
			j.reportInput(KeptArgument, in).Saw = fmt.Sprintf("%s changed after the call: %s", in.place(), text)
			reported[in.before.Impl] = true
		}
	}
	for _, e := range j.seen.Earlier {
		text := changedLater(&e.Then, &e.Now)
		at := slices.IndexFunc(j.inputs, func(in *input) bool { return in.Index == e.Arg-1 && in.codes.Has(KeptArgument) })
		if text != "" && at >= 0 {
			j.reportInput(KeptArgument, j.inputs[at]).Saw = fmt.Sprintf("the %s of the previous call, which the op kept, "+
				"changed during this one: %s", j.inputs[at].place(), text)
			reported[j.inputs[at].before.Impl] = true
			return
		}
	}
}

// keeps returns the reason why the use counts of an argument may rise, or "".
func (j *judge) keeps(in *input) string {
	wrapped := func(out *output) bool { return out.Traits&FunctionalWrapper != 0 }
	written := func(in *input) bool { return in.Write && in.after.Traits&FunctionalWrapper != 0 }
	copied := func(out *output) bool { // an op that decomposes may return a copy
		return out.Storage != in.after.Storage && (out.wrong || j.op.Composite) && !out.Write &&
			shareSet(&out.Subject, &in.Subject)
	}
	graded := func(c *Snapshot) bool { return c != nil && c.RequiresGrad }
	switch b, a := &in.before, &in.after; {
	case !b.counted() || !a.counted():
		return notCounted
	case slices.ContainsFunc(j.outputs, wrapped):
		return "a functional wrapper, which may hold it, is returned"
	case slices.ContainsFunc(j.inputs, written):
		return "a functional wrapper, which may hold it, is written"
	case graded(b.Content) || graded(a.Content) || slices.ContainsFunc(j.outputs,
		func(out *output) bool { return graded(out.Content) }):
		return "autograd may keep it"
	case !j.seen.Made && slices.ContainsFunc(j.outputs,
		func(out *output) bool { return b.Storage != 0 && out.Storage == b.Storage && out.Impl != b.Impl }):
		return "autograd keeps the base of a view"
	case slices.ContainsFunc(j.outputs, func(out *output) bool { return overlaps(&out.Observation, a) }):
		return "a return lies in its memory, and may hold it"
	case slices.ContainsFunc(j.outputs, copied):
		return "a return that the schema declares a view of it is a copy, and may hold it as its base"
	}
	return ""
}

// holders returns the number of additional uses of an argument by the returns, and by the parts of other arguments.
func (j *judge) holders(impl, storage ID) (impls, storages int32) {
	on := make(map[ID]bool)
	for _, out := range j.outputs {
		switch {
		case out.Impl == impl:
			impls++
		case out.Storage == storage && storage != 0: // a view, which may hold its base
			impls++
			on[out.Impl] = true
		}
	}
	for _, in := range j.inputs {
		if b, a := &in.before, &in.after; a.Impl == impl && b.Impl != impl {
			impls++
		} else if a.Storage == storage && (b.Storage != storage || b.Impl != a.Impl) {
			on[a.Impl] = true
		}
	}
	return impls, int32(len(on))
}
