package faults

import (
	"slices"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/internal/testbed/c10"
)

var _ = planting(asserts.WithinStorage, plant{
	acts: []act{
		{name: "overreaches", why: "returns a tensor that ends behind its storage",
			at: slices.Concat(returnedView, returnedNew, returnedNewAndWritten), do: change(overreach),
			library: &LibraryAct{At: "returned", Does: "return longer(t);", Trigger: "self has one dimension and is not empty",
				Of: "vector"}},
	},
})

func overreach(t *c10.Tensor) { t.SetSizesAndStridesUnchecked(t.Sizes(), t.Strides(), t.Offset()+1) }
