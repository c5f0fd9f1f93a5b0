package faults

import (
	"github.com/opassert/opassert/asserts"
)

var _ = planting(asserts.OutputAlias, plant{faults: outputAlias, impossible: outputAliasImpossible})

func outputAlias() []Fault {
	const same = "two results that are one tensor"
	const overlap = "two elements of a list on one storage"
	return []Fault{
		fault(asserts.OutputAlias, View, Tuple, "twins_view.tuple", "result2", -1, "result1", one, same),
		fault(asserts.OutputAlias, View, Returned, "twins_view.list", "result1", 2, "result1", one, overlap),
		fault(asserts.OutputAlias, OutOfPlace, Tuple, "twins.tuple", "result1", -1, "result0", one, same),
		fault(asserts.OutputAlias, OutOfPlace, Returned, "twins.list", "result", 2, "result", one, overlap),
		fault(asserts.OutputAlias, InPlace, Tuple, "twins_writing.tuple", "result1", -1, "result0", one, same),
		fault(asserts.OutputAlias, InPlace, Returned, "twins_writing.list", "result", 2, "result", one, overlap),
	}
}

func outputAliasImpossible(kind Kind, _ Class) string {
	if kind == Single {
		return "there is no other output"
	}
	return ""
}
