package faults

import (
	"slices"

	"github.com/opassert/opassert/asserts"
)

var _ = planting(asserts.InputStorage, plant{faults: inputStorage})

func inputStorage() []Fault {
	onX := func(op string, args func() []any, why string) Fault {
		return fault(asserts.InputStorage, OutOfPlace, Tensor, op, "x", -1, "", args, why)
	}
	return slices.Concat(inArguments(asserts.InputStorage, "swaps_storage", "puts the tensor onto a copy of its storage"), []Fault{
		{Op: "fault::swaps_storage.out", Code: asserts.InputStorage, Class: InPlace, Kind: Out, Subject: "out", Element: -1, Args: two,
			Why: "gives the out tensor the storage of the result instead of writing it"},
		onX("recycles", two, "frees the storage and puts another at the same address"),
	})
}
