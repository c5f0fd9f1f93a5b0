package faults

import (
	"github.com/opassert/opassert/asserts"
)

var _ = planting(asserts.UndeclaredAlias, plant{faults: undeclaredAlias})

func undeclaredAlias() []Fault {
	const shared = "a result on the storage of an argument"
	related := func() []any { x := four(); return []any{x, x.Alias()} }
	return []Fault{
		fault(asserts.UndeclaredAlias, View, Single, "shares_view.single", "result", -1, "x", related, "returns another view of the base, which the caller has"),
		fault(asserts.UndeclaredAlias, View, Tuple, "shares_view.tuple", "result1", -1, "self", one, shared),
		fault(asserts.UndeclaredAlias, View, Returned, "shares_view.list", "result1", 2, "self", one, shared),
		fault(asserts.UndeclaredAlias, OutOfPlace, Single, "shares.single", "result", -1, "x", two, shared),
		fault(asserts.UndeclaredAlias, OutOfPlace, Tuple, "shares.tuple", "result1", -1, "self", one, "returns an argument as it is"),
		fault(asserts.UndeclaredAlias, OutOfPlace, Returned, "shares.list", "result", 2, "x", withList, "an element on the storage of an element of an argument"),
		fault(asserts.UndeclaredAlias, InPlace, Single, "shares_writing.single", "result", -1, "self", one, shared),
		fault(asserts.UndeclaredAlias, InPlace, Tuple, "shares_writing.tuple", "result1", -1, "self", one, shared),
		fault(asserts.UndeclaredAlias, InPlace, Returned, "shares_writing.list", "result", 2, "self", one, shared),
		fault(asserts.UndeclaredAlias, OutOfPlace, Single, "returns_empty", "result", -1, "self", func() []any { return []any{vector()} }, "returns the argument as it is when it is empty"),
		fault(asserts.UndeclaredAlias, OutOfPlace, Single, "returns_unchanged", "result", -1, "self", func() []any { return append(one(), int64(1)) }, "returns the argument as it is when a parameter makes the op a no-op"),
	}
}
