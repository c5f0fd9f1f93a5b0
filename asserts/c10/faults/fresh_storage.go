package faults

import (
	"github.com/opassert/opassert/asserts"
)

var _ = planting(asserts.FreshStorage, plant{faults: freshStorage, impossible: freshStorageImpossible})

func freshStorage() []Fault {
	const held = "a reference to the result's storage is kept out of sight"
	return []Fault{
		fault(asserts.FreshStorage, View, Tuple, "keeps_storage_view.tuple", "result1", -1, "", one, held),
		fault(asserts.FreshStorage, View, Returned, "keeps_storage_view.list", "result1", 2, "", one, held),
		fault(asserts.FreshStorage, OutOfPlace, Single, "keeps_storage.single", "result", -1, "", one, held),
		fault(asserts.FreshStorage, OutOfPlace, Tuple, "keeps_storage.tuple", "result1", -1, "", one, held),
		fault(asserts.FreshStorage, OutOfPlace, Returned, "keeps_storage.list", "result", 2, "", one, held),
		fault(asserts.FreshStorage, InPlace, Single, "keeps_storage_writing.single", "result", -1, "", one, held),
		fault(asserts.FreshStorage, InPlace, Tuple, "keeps_storage_writing.tuple", "result1", -1, "", one, held),
		fault(asserts.FreshStorage, InPlace, Returned, "keeps_storage_writing.list", "result", 2, "", one, held),
	}
}

func freshStorageImpossible(kind Kind, class Class) string {
	if class == View && kind == Single {
		return "the one return of a view has an alias set"
	}
	return ""
}
