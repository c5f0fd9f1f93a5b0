package faults

import (
	"slices"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/internal/testbed/c10"
)

// Faults beside an argument that the schema declares as written: it is a view of two elements of four.
var _ = planting(asserts.WriteBeside, plant{
	acts: []act{
		{name: "oversteps", why: "writes the element behind those of the view that it was given",
			at: slices.Concat(inWritten, inOut), do: change(overstep), of: half,
			library: &LibraryAct{At: "written", Does: "zero_storage(t);", Trigger: "a view of a larger storage", Of: "slice"}},
	},
	impossible: onlyInPlace,
})

func overstep(t *c10.Tensor) {
	writeBehind(t)
	increased(t)
}
