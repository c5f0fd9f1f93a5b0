package faults

import (
	"github.com/opassert/opassert/asserts"
)

var _ = planting(asserts.ViewStorage, plant{faults: viewStorage, impossible: viewStorageImpossible})

func viewStorage() []Fault {
	const copied = "a view that is a copy"
	return []Fault{
		fault(asserts.ViewStorage, View, Single, "copies_view.single", "result", -1, "self", one, copied),
		fault(asserts.ViewStorage, View, Single, "drops_view", "result", -1, "self", one, "an undefined tensor in place of a view"),
		fault(asserts.ViewStorage, View, Tuple, "copies_view.tuple", "result1", -1, "self", one, copied),
		fault(asserts.ViewStorage, View, Returned, "copies_view.list", "result", 2, "self", one, "a list of views, the third a copy"),
		fault(asserts.ViewStorage, InPlace, Single, "copies_view_writing.single", "result", -1, "self", two, copied),
		fault(asserts.ViewStorage, InPlace, Tuple, "copies_view_writing.tuple", "result1", -1, "self", two, copied),
		fault(asserts.ViewStorage, InPlace, Returned, "copies_view_writing.list", "result", 2, "self", two, "a list of views, the third a copy"),
	}
}

func viewStorageImpossible(_ Kind, class Class) string {
	if class == OutOfPlace {
		return "an op that returns an alias set is a view"
	}
	return ""
}
