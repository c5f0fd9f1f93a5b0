package faults

import (
	"slices"

	"github.com/opassert/opassert/asserts"
)

var _ = planting(asserts.OutputAlias, plant{
	acts: []act{
		{name: "twins", why: "returns one tensor twice",
			at: slices.DeleteFunc(slices.Clone(besideReturn),
				func(p placement) bool { return p.kind != Tuple }), do: returnWith},
		{name: "overlaps", why: "returns two elements of a list on one storage",
			at: slices.DeleteFunc(slices.Clone(besideReturn), func(p placement) bool { return p.kind != Returned }), do: share},
	},
	impossible: []cells{{kind: Single, why: "there is no other output"}},
})
