package faults

import (
	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/c10"
)

var _ = planting(asserts.FreshImpl, plant{faults: freshImpl})

func freshImpl() []Fault {
	const kept = "a reference to the result is kept out of sight"
	indices := c10.FromInts([]int64{0, 2}, []int64{1, 2}, f32)
	sparse := func() []any { return []any{c10.NewSparseCOO(indices, vector(1, 2), []int64{4}, true)} }
	return []Fault{
		fault(asserts.FreshImpl, View, Single, "keeps_view.single", "result", -1, "", one, kept),
		fault(asserts.FreshImpl, View, Tuple, "keeps_view.tuple", "result1", -1, "", one, kept),
		fault(asserts.FreshImpl, View, Returned, "keeps_view.list", "result", 2, "", one, kept),
		fault(asserts.FreshImpl, OutOfPlace, Single, "keeps.single", "result", -1, "", one, kept),
		fault(asserts.FreshImpl, OutOfPlace, Tuple, "keeps.tuple", "result1", -1, "", one, kept),
		fault(asserts.FreshImpl, OutOfPlace, Returned, "keeps.list", "result", 2, "", one, kept),
		fault(asserts.FreshImpl, InPlace, Single, "keeps_writing.single", "result", -1, "", one, kept),
		fault(asserts.FreshImpl, InPlace, Tuple, "keeps_writing.tuple", "result1", -1, "", one, kept),
		fault(asserts.FreshImpl, InPlace, Returned, "keeps_writing.list", "result", 2, "", one, kept),
		fault(asserts.FreshImpl, View, Single, "returns_base", "result", -1, "self", one, "returns the base itself in place of a view"),
		fault(asserts.FreshImpl, View, Single, "returns_base", "result", -1, "self", sparse, "returns a sparse base, which has no storage to share, in place of a view"),
	}
}
