package work

import (
	"slices"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/compare"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
	"github.com/opassert/opassert/schema"
)

// followed returns the bytes other than the elements of its arguments on which the results of a
// call depend, if its results are reproducible. Only for ops of a library: PyTorch has some that
// restride.
func (r *Runner) followed(t *Target, a *attempt) []asserts.Fault {
	if !t.operator.Added || t.leavesMemory() {
		return nil
	}
	return slices.Concat(r.followsNeighbours(t, a), r.followsEarlier(t, a.c))
}

// calledAgain repeats a call with the same seed.
func (r *Runner) calledAgain(t *Target, args []any) *asserts.Seen {
	if r.Engine.Seed(int64(r.Seed)) != nil {
		return nil
	}
	return r.called(t, args)
}

// same reports whether the other call was made, and no bytes differ.
func (t *Target) same(a, b *asserts.Seen) bool {
	return b != nil && len(compare.Differing(t.judged, a, b)) == 0
}

// unlike returns the results that differ between two calls, including those without copied bytes.
func (t *Target) unlike(a, b *asserts.Seen) []compare.Difference {
	return append(compare.Differing(t.judged, a, b), compare.Unknown(t.judged, a, b)...)
}

// repeats reports whether a call returns the same each time it is repeated.
func (r *Runner) repeats(t *Target, c *sample.Case, how callSetup, seen *asserts.Seen) bool {
	for range often {
		if again := r.seenAgain(t, c, how); again == nil || len(t.unlike(seen, again[0])) > 0 {
			return false
		}
	}
	return true
}

// followsNeighbours repeats a call with other bytes beside its arguments in their storages. An op
// that returns a view may return these.
func (r *Runner) followsNeighbours(t *Target, a *attempt) []asserts.Fault {
	if t.operator.Schema.View() != schema.NotView || !slices.ContainsFunc(a.c.Tensors(), (*sample.TensorSpec).Surrounded) {
		return nil
	}
	first, then := a.calls[0].seen, r.seenAgain(t, a.c, neighbours)
	if then == nil || t.same(first, then[0]) {
		return nil
	}
	if !r.repeats(t, a.c, neighbours, then[0]) || !r.repeats(t, a.c, firstTime, first) {
		return nil
	}
	return t.differing(first, then[0], asserts.Fault{
		Saw:     "depend on bytes beside an argument in its storage",
		Symptom: asserts.Neighbours,
		Breaks:  "for a slice or another view its result differs from that for a copy with the same elements",
		Fix:     "use only the argument's elements: from data_ptr() or storage_offset() on, by stride()",
	})
}

// followsEarlier makes a call, writes its arguments and repeats it, and compares the result with
// that of the call with new tensors of the same values.
func (r *Runner) followsEarlier(t *Target, c *sample.Case) []asserts.Fault {
	writes := func(s asserts.Subject) bool { return s.Write }
	if slices.ContainsFunc(t.judged.Args, writes) || !slices.ContainsFunc(c.Tensors(), (*sample.TensorSpec).Usual) {
		return nil
	}
	old, other := maker{engine: r.Engine, room: &r.room}, maker{engine: r.Engine, room: &r.room}
	defer old.release()
	defer other.release()
	args, first := r.seen(t, &old, c, firstTime)
	fresh, want := r.seen(t, &other, c, otherValue)
	if first == nil || want == nil {
		return nil
	}
	for i, held := range old.tensors {
		if _, err := other.results("aten::copy_", []any{held, other.tensors[i], false}); err != nil {
			return nil
		}
	}
	then := r.calledAgain(t, args)
	if then == nil || t.same(then, want) {
		return nil
	}
	for range often {
		if !t.same(then, r.calledAgain(t, args)) || !t.same(want, r.calledAgain(t, fresh)) {
			return nil
		}
	}
	return t.differing(then, want, asserts.Fault{
		Saw:     "depend on the contents of the arguments in an earlier call, after which they were written",
		Symptom: asserts.EarlierCall,
		Breaks:  "after an optimizer's step, or another in-place write, it uses the old elements",
		Fix:     "do not cache by the address or the identity of a tensor, or compare its _version, too",
	})
}
