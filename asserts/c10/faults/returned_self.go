package faults

import (
	"github.com/opassert/opassert/asserts"
)

var _ = planting(asserts.ReturnedSelf, plant{faults: returnedSelf, also: []Kind{Out}, impossible: returnedSelfImpossible})

func returnedSelf() []Fault {
	return []Fault{
		{Op: "fault::copies_result.out", Code: asserts.ReturnedSelf, Class: InPlace, Kind: Out, Subject: "result", Element: -1, Against: "out", Args: two,
			Why: "writes the out tensor and returns a copy of it"},
		fault(asserts.ReturnedSelf, InPlace, Single, "returns_copy_.single", "result", -1, "self", one, "writes self and returns a copy of it"),
		fault(asserts.ReturnedSelf, InPlace, Tuple, "copies_result.outs", "result1", -1, "high",
			func() []any { return []any{four(), vector(0), vector(0)} }, "writes two out tensors and returns a copy of the second"),
	}
}

func returnedSelfImpossible(kind Kind, class Class) string {
	switch {
	case class != InPlace:
		return "an op that returns (a!) writes an argument, so it is in-place"
	case kind == Returned:
		return "an op that writes a list returns nothing"
	}
	return ""
}
