package faults

import (
	"slices"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/c10"
)

var _ = planting(asserts.InputImpl, plant{faults: inputImpl})

func inputImpl() []Fault {
	inList := func(op string, element int, against, why string) Fault {
		return fault(asserts.InputImpl, OutOfPlace, OptionalList, op, "x", element, against, func() []any {
			return []any{four(), []*c10.Tensor{four(), nil, four()}}
		}, why)
	}
	onX := func(op string, args func() []any, why string) Fault {
		return fault(asserts.InputImpl, OutOfPlace, Tensor, op, "x", -1, "", args, why)
	}
	return slices.Concat(inArguments(asserts.InputImpl, "rebinds", "makes the caller's handle refer to a copy"), []Fault{
		{Op: "fault::rebinds.out", Code: asserts.InputImpl, Class: InPlace, Kind: Out, Subject: "out", Element: -1, Against: "result", Args: two,
			Why: "makes the out handle refer to the result instead of writing it"},
		inList("replaces_element", 2, "", "replaces an element of the caller's own list"),
		inList("fills_in", 1, "", "puts a tensor where the caller's list had none"),
		onX("releases", two, "releases the caller's handle"),
	})
}
