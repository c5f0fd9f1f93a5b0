package work

import (
	"fmt"
	"slices"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
	"github.com/opassert/opassert/asserts/suite/report"
	"github.com/opassert/opassert/schema"
)

// followed returns the bytes besides the elements of its arguments on which the results of a
// call depend, where it returns the same again. Of ops of a library: PyTorch has some that restride.
func (r *Runner) followed(t *Target, a *attempt) []asserts.Fault {
	if !t.operator.Added || t.leavesMemory() {
		return nil
	}
	return slices.Concat(r.followsNeighbours(t, a), r.followsEarlier(t, a.c))
}

// calledAgain makes a call again, with the seed that the first had.
func (r *Runner) calledAgain(t *Target, args []any) *asserts.Seen {
	if r.Engine.Seed(int64(r.Seed)) != nil {
		return nil
	}
	return r.called(t, args)
}

// same reports whether another call was made, and no bytes differ.
func (t *Target) same(a, b *asserts.Seen) bool {
	return b != nil && len(asserts.Differing(t.judged, a, b)) == 0
}

// followsNeighbours makes a call with other bytes beside its arguments in their storages. What
// returns a view may return those.
func (r *Runner) followsNeighbours(t *Target, a *attempt) []asserts.Fault {
	if t.operator.Schema.View() != schema.NotView || !slices.ContainsFunc(a.c.Tensors(), (*sample.TensorSpec).Surrounded) {
		return nil
	}
	calls := []*asserts.Seen{a.calls[0].seen}
	for _, beside := range []int{1, 0, 1} {
		m := maker{engine: r.Engine, room: &r.room, beside: beside}
		defer m.release()
		_, then := r.seen(t, &m, a.c, firstTime)
		if then == nil || len(calls) == 1 && t.same(calls[0], then) {
			return nil
		}
		calls = append(calls, then)
	}
	if !t.same(calls[0], calls[2]) || !t.same(calls[1], calls[3]) {
		return nil
	}
	return t.follows(calls[0], calls[1], report.Neighbours,
		"of a slice or another view it computes another result than of a copy with the same elements",
		"compute with the argument's elements alone: from data_ptr() or storage_offset() on, by stride()")
}

// followsEarlier makes a call, writes its arguments and makes it again, and holds that
// against the call with new tensors of the same values.
func (r *Runner) followsEarlier(t *Target, c *sample.Case) []asserts.Fault {
	writes := func(s asserts.Subject) bool { return s.Write }
	if slices.ContainsFunc(t.judged.Args, writes) || !slices.ContainsFunc(c.Tensors(), (*sample.TensorSpec).Usual) {
		return nil
	}
	old, other := maker{engine: r.Engine, room: &r.room}, maker{engine: r.Engine, room: &r.room, later: 1}
	defer old.release()
	defer other.release()
	args, first := r.seen(t, &old, c, firstTime)
	fresh, want := r.seen(t, &other, c, firstTime)
	if first == nil || want == nil {
		return nil
	}
	for i, held := range old.tensors {
		if _, err := other.results("aten::copy_", []any{held, other.tensors[i], false}); err != nil {
			return nil
		}
	}
	then := r.calledAgain(t, args)
	if then == nil || t.same(then, want) || !t.same(then, r.calledAgain(t, args)) || !t.same(want, r.calledAgain(t, fresh)) {
		return nil
	}
	return t.follows(then, want, report.Earlier,
		"after an optimizer's step, or another write in place, it computes with the old elements",
		"cache nothing by the address or the identity of a tensor, or compare its _version too")
}

// follows returns the differences between two calls as faults.
func (t *Target) follows(a, b *asserts.Seen, what, breaks, fix string) (faults []asserts.Fault) {
	for _, d := range asserts.Differing(t.judged, a, b) {
		faults = append(faults, asserts.Fault{
			Code: asserts.NondeterministicResult, Argument: d.Argument, Return: d.Return,
			Saw: fmt.Sprintf("%d of %d bytes follow what %s", d.Bytes, d.Of, what), Breaks: breaks, Fix: fix,
		})
	}
	return faults
}
