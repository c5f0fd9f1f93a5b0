package faults

import (
	"slices"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/internal/testbed/c10"
	"github.com/opassert/opassert/internal/testbed/kernels"
)

var _ = planting(asserts.ViewStorage, plant{
	acts: []act{
		{name: "copies", why: "returns a copy in place of a view",
			at: slices.Concat(returnedView, returnedViewAndWritten), do: copied},
		{name: "drops", why: "returns an undefined tensor in place of a view", at: returnedView[:1], do: drop},
	},
	impossible: []cells{{class: OutOfPlace, why: "an op that returns an alias set is a view"}},
})

func copied(view, _ *c10.Tensor) *c10.Tensor {
	defer view.Release()
	return kernels.Clone(view, nil)
}

func drop(view, _ *c10.Tensor) *c10.Tensor {
	view.Release()
	return nil
}
