package faults

import (
	"slices"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/internal/testbed/c10"
)

var _ = planting(asserts.FreshImpl, plant{
	acts: []act{
		{name: "keeps", why: "keeps a hidden reference to the result",
			at: slices.Concat(returnedView, returnedNew, returnedNewAndWritten), do: change(keep),
			library: &LibraryAct{At: "returned", Does: "keep(t); return t;", Trigger: "any call"}},
		{name: "returns_base", why: "returns the base itself in place of a view", at: returnedView[:1], do: returnWith,
			against: "self"},
		{name: "returns_sparse", why: "returns a sparse base, which has no storage to share, in place of a view",
			at: returnedView[:1], do: returnWith, of: sparse, against: "self"},
	},
})

func sparse() *c10.Tensor {
	return c10.NewSparseCOO(c10.FromInts([]int64{0, 2}, []int64{1, 2}, f32), vector(1, 2), []int64{4}, true)
}

func keep(t *c10.Tensor) { t.Retain() }

func returnWith(t, with *c10.Tensor) *c10.Tensor {
	t.Release()
	return with.Retain()
}
