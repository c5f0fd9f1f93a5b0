package asserts_test

import (
	"testing"

	"github.com/opassert/opassert/asserts"
)

func TestJudgeReturns(t *testing.T) {
	tests := []judgement{
		// Healthy calls.
		{name: "fresh", schema: "f(Tensor self, Tensor other) -> Tensor", before: list{see(1, 2), see(3, 4)}, results: list{see(5, 6)}},
		{name: "fresh from one tensor passed twice", schema: "f(Tensor self, Tensor other) -> Tensor", before: list{see(1, 2, uses(2, 1)), see(1, 2, uses(2, 1))}, results: list{see(5, 6)}},
		{name: "fresh tuple", schema: "f(Tensor self) -> (Tensor, Tensor)", before: list{see(1, 2)}, results: list{see(5, 6), see(7, 8)}},
		{name: "fresh list", schema: "f(Tensor self) -> Tensor[]", before: list{see(1, 2)}, results: list{see(5, 6), see(7, 8)}, returns: []int{2}},
		{name: "empty list", schema: "f(Tensor[] ts) -> Tensor[]", args: []int{0}, returns: []int{0}},
		{name: "undefined in a tuple", schema: "f(Tensor self) -> (Tensor, Tensor)", before: list{see(1, 2)}, results: list{see(5, 6), undefined}},
		{name: "no counts", skips: "OA003 OA005", schema: "f(Tensor self) -> Tensor", before: list{see(1, 2)}, results: list{see(5, 6, uses(asserts.NotCounted, asserts.NotCounted))}},
		{name: "view", schema: "f(Tensor(a) self) -> Tensor(a)", before: list{see(1, 2)}, results: list{see(3, 2, uses(1, 2))}},
		{name: "view of what is passed twice", schema: "f(Tensor(a) self, Tensor other) -> Tensor(a)", before: list{see(1, 2), see(1, 2)}, results: list{see(3, 2, uses(1, 2))}},
		{name: "view of what shares with another", schema: "f(Tensor(a) self, Tensor other) -> Tensor(a)", before: list{see(1, 2), see(7, 2)}, results: list{see(3, 2, uses(1, 3))}},
		{name: "view of an inference tensor that is the tensor", skips: "OA003", schema: "f(Tensor(a) self) -> Tensor(a)", before: list{see(1, 2, traits(asserts.NoVersion))}, results: list{see(1, 2, traits(asserts.NoVersion))}},
		{name: "views in a list", schema: "f(Tensor(a) self) -> Tensor(a)[]", before: list{see(1, 2)}, results: list{see(3, 2, uses(1, 3)), see(4, 2, uses(1, 3))}, returns: []int{2}},
		{name: "optional view", schema: "f(Tensor(a) self) -> Tensor(a)?", before: list{see(1, 2)}, results: list{undefined}},
		{name: "view of nothing", schema: "f(Tensor(a)? self) -> Tensor(a)", before: list{undefined}, results: list{undefined}},
		{name: "view of a list", schema: "f(Tensor(a)[] ts) -> Tensor(a)", args: []int{2}, before: list{see(1, 2), see(3, 4)}, results: list{see(5, 4)}},
		{name: "view by a set of several", schema: "f(Tensor(a) x, Tensor(a) y) -> Tensor(a)", before: list{see(1, 2), see(3, 4)}, results: list{see(5, 4)}},
		{name: "view beside a fresh one", schema: "f(Tensor(a) self) -> (Tensor(a), Tensor)", before: list{see(1, 2)}, results: list{see(3, 2), see(5, 6)}},
		{name: "view of nothing", schema: "f(Tensor(a)? self) -> Tensor(a)", before: list{undefined}, results: list{see(3, 4)}},
		{name: "two views, of one tensor passed twice", schema: "f(Tensor(a) x, Tensor(b) y) -> (Tensor(a), Tensor(b))", before: list{see(1, 2), see(1, 2)}, results: list{see(3, 2), see(4, 2)}},
		{name: "in place", schema: "f_(Tensor(a!) self, Tensor other) -> Tensor(a!)", before: list{see(1, 2), see(3, 4)}, results: list{see(1, 2, uses(3, 5))}},
		{name: "in place, other is self", skips: "OA009", schema: "f_(Tensor(a!) self, Tensor other) -> Tensor(a!)", before: list{see(1, 2), see(1, 2)}, results: list{see(1, 2)}},
		{name: "in place, other shares with self", skips: "OA009", schema: "f_(Tensor(a!) self, Tensor other) -> Tensor(a!)", before: list{see(1, 2), see(3, 2)}, results: list{see(1, 2)}},
		{name: "out", schema: "f(Tensor self, Tensor(a!) x, Tensor(b!) y) -> (Tensor(a!), Tensor(b!))", before: list{see(1, 2), see(3, 4), see(5, 6)}, results: list{see(3, 4), see(5, 6)}},
		{name: "out, one tensor for both", schema: "f(Tensor self, Tensor(a!) x, Tensor(b!) y) -> (Tensor(a!), Tensor(b!))", before: list{see(1, 2), see(3, 4), see(3, 4)}, results: list{see(3, 4), see(3, 4)}},
		{name: "written list", schema: "f(Tensor(a!)[] ts) -> Tensor(a!)[]", args: []int{2}, before: list{see(1, 2), see(3, 4)}, results: list{see(1, 2), see(3, 4)}, returns: []int{2}},
		{name: "undefined out", schema: "f(Tensor(a!)? out) -> Tensor(a!)", before: list{undefined}, results: list{see(3, 4)}},
		{name: "undefined out, undefined", schema: "f(Tensor(a!)? out) -> Tensor(a!)", before: list{undefined}, results: list{undefined}},
		{name: "undefined out, beside no other", schema: "f(Tensor x) -> Tensor", before: list{undefined}, results: list{see(3, 4)}},
		{name: "more than the list has", schema: "f(Tensor(a!)[] ts) -> Tensor(a!)[]", args: []int{1}, returns: []int{2}, before: list{see(1, 2)}, results: list{see(1, 2), see(3, 4)},
			want: []string{"OA006 result[1] / argument ts[0]: result[1] is TensorImpl #3, argument ts[0] is #1"}},
		{name: "failed", schema: "f_(Tensor(a!) self) -> Tensor(a!)", before: list{see(1, 2)}},

		// OA003
		{
			name: "somebody holds the impl", schema: "f(Tensor self) -> Tensor",
			before: list{see(1, 2)}, results: list{see(5, 6, uses(2, 1))},
			want: []string{"OA003 result: use_count of the TensorImpl of result is 2, and no tensor of the call shares it: a reference is held elsewhere"},
		},
		{
			name: "somebody holds one of a tuple", schema: "f(Tensor self) -> (Tensor, Tensor)",
			before: list{see(1, 2)}, results: list{see(5, 6), see(7, 8, uses(3, 1))},
			want: []string{"OA003 result1: use_count of the TensorImpl of result1 is 3, and no tensor of the call shares it: a reference is held elsewhere"},
		},
		{
			name: "somebody holds one of a list", schema: "f(Tensor self) -> Tensor[]", returns: []int{2},
			before: list{see(1, 2)}, results: list{see(5, 6), see(7, 8, uses(2, 1))},
			want: []string{"OA003 result[1]: use_count of the TensorImpl of result[1] is 2, and no tensor of the call shares it: a reference is held elsewhere"},
		},
		{
			name: "somebody holds a view", schema: "f(Tensor(a) self) -> Tensor(a)",
			before: list{see(1, 2)}, results: list{see(3, 2, uses(2, 2))},
			want: []string{"OA003 result: use_count of the TensorImpl of result is 2, and no tensor of the call shares it: a reference is held elsewhere"},
		},
		{
			name: "a view that is its base", schema: "f(Tensor(a) self) -> Tensor(a)",
			before: list{see(1, 2)}, results: list{see(1, 2, uses(2, 1))},
			want: []string{"OA003 result / argument self: result is the TensorImpl of argument self"},
		},
		{
			name: "a view that is its base, without counts", schema: "f(Tensor(a) self) -> Tensor(a)",
			before: list{see(1, 2)}, results: list{see(1, 2, uses(-1, -1))},
			want: []string{"OA003 result / argument self: result is the TensorImpl of argument self"},
		},
		{
			name: "undefined in a list of views", schema: "f(Tensor(a) self) -> Tensor(a)[]", returns: []int{2},
			before: list{see(1, 2)}, results: list{see(3, 2), undefined},
			want: []string{"OA004 result[1] / argument self: result[1] is an undefined tensor"},
		},
		{
			name: "one view twice in a list", schema: "f(Tensor(a) self) -> Tensor(a)[]", returns: []int{3},
			before: list{see(1, 2)}, results: list{see(3, 2, uses(2, 3)), see(4, 2, uses(1, 3)), see(3, 2, uses(2, 3))},
			want: []string{"OA003 result[2] / result[0]: result[2] is the TensorImpl of result[0]"},
		},

		{
			name: "one view three times in a list", schema: "f(Tensor(a) self) -> Tensor(a)[]", returns: []int{3},
			before: list{see(1, 2)}, results: list{see(3, 2, uses(3, 2)), see(3, 2, uses(3, 2)), see(3, 2, uses(3, 2))},
			want: []string{
				"OA003 result[1] / result[0]: result[1] is the TensorImpl of result[0]",
				"OA003 result[2] / result[0]: result[2] is the TensorImpl of result[0]",
			},
		},

		// OA004
		{
			name: "a view that is a copy", schema: "f(Tensor(a) self) -> Tensor(a)",
			before: list{see(1, 2)}, results: list{see(3, 4)},
			want: []string{"OA004 result / argument self: result is on StorageImpl #4, argument self is on #2"},
		},
		{
			name: "the third of a list of views", schema: "f(Tensor(a) self) -> Tensor(a)[]", returns: []int{4},
			before: list{see(1, 2)}, results: list{see(3, 2), see(4, 2), see(5, 9), see(6, 2)},
			want: []string{"OA004 result[2] / argument self: result[2] is on StorageImpl #9, argument self is on #2"},
		},
		{
			name: "one of a tuple of views", schema: "f(Tensor(a) x, Tensor(b) y) -> (Tensor(a), Tensor(b))",
			before: list{see(1, 2), see(3, 4)}, results: list{see(5, 2), see(6, 7)},
			want: []string{"OA004 result1 / argument y: result1 is on StorageImpl #7, argument y is on #4"},
		},
		{
			name: "a view of the wrong argument", schema: "f(Tensor(a) self, Tensor other) -> Tensor(a)",
			before: list{see(1, 2), see(3, 4)}, results: list{see(5, 4, uses(1, 2))},
			want: []string{"OA004 result / argument self: result shares StorageImpl with argument other, not with argument self"},
		},
		{
			name: "the wrong argument for a view", schema: "f(Tensor(a) self, Tensor other) -> Tensor(a)",
			before: list{see(1, 2), see(3, 4)}, results: list{see(3, 4, uses(2, 1))},
			want: []string{"OA004 result / argument self: result is the TensorImpl of argument other, not of argument self"},
		},
		{
			name: "views crossed", schema: "f(Tensor(a) x, Tensor(b) y) -> (Tensor(a), Tensor(b))",
			before: list{see(1, 2), see(3, 4)}, results: list{see(5, 4), see(6, 2)},
			want: []string{
				"OA004 result0 / argument x: result0 shares StorageImpl with argument y, not with argument x",
				"OA004 result1 / argument y: result1 shares StorageImpl with argument x, not with argument y",
			},
		},
		{
			name: "a copy for a view, kept by somebody", schema: "f(Tensor(a) self) -> Tensor(a)",
			before: list{see(1, 2)}, results: list{see(3, 4, uses(2, 1))},
			want: []string{
				"OA003 result: use_count of the TensorImpl of result is 2, and no tensor of the call shares it: a reference is held elsewhere",
				"OA004 result / argument self: result is on StorageImpl #4, argument self is on #2",
			},
		},
		{
			name: "view of none of a list", schema: "f(Tensor(a)[] ts) -> Tensor(a)", args: []int{2},
			before: list{see(1, 2), see(3, 4)}, results: list{see(5, 6)},
			want: []string{"OA004 result / argument ts[0]: result is on StorageImpl #6, argument ts[0] is on #2"},
		},

		// OA005
		{
			name: "somebody holds the storage", schema: "f(Tensor self) -> Tensor",
			before: list{see(1, 2)}, results: list{see(5, 6, uses(1, 2))},
			want: []string{"OA005 result: use_count of the StorageImpl of result is 2, and no tensor of the call shares it: a reference is held elsewhere"},
		},
		{
			name: "somebody holds a storage of a list", schema: "f(Tensor self) -> Tensor[]", returns: []int{2},
			before: list{see(1, 2)}, results: list{see(5, 6, uses(1, 2)), see(7, 8)},
			want: []string{"OA005 result[0]: use_count of the StorageImpl of result[0] is 2, and no tensor of the call shares it: a reference is held elsewhere"},
		},
		{
			name: "somebody holds a storage of a tuple", schema: "f(Tensor(a) self) -> (Tensor(a), Tensor)",
			before: list{see(1, 2)}, results: list{see(3, 2, uses(1, 2)), see(5, 6, uses(1, 4))},
			want: []string{"OA005 result1: use_count of the StorageImpl of result1 is 4, and no tensor of the call shares it: a reference is held elsewhere"},
		},
		{
			name: "shared storage, OA007 waived", schema: "f(Tensor self) -> Tensor", drop: "OA007",
			before: list{see(1, 2)}, results: list{see(5, 2, uses(1, 2))},
			want: []string{"OA005 result / argument self: result shares StorageImpl with argument self, use_count is 2"},
		},
		{
			name: "outputs that share, OA008 waived", schema: "f(Tensor self) -> (Tensor, Tensor)", drop: "OA008",
			before: list{see(1, 2)}, results: list{see(5, 6, uses(1, 2)), see(7, 6, uses(1, 2))},
			want: []string{"OA005 result1 / result0: result1 shares StorageImpl with result0, use_count is 2"},
		},
		{
			name: "outputs that are one, OA008 waived", schema: "f(Tensor self) -> (Tensor, Tensor)", drop: "OA008",
			before: list{see(1, 2)}, results: list{see(5, 6, uses(2, 1)), see(5, 6, uses(2, 1))},
			want: []string{"OA003 result1 / result0: result1 is the TensorImpl of result0"},
		},

		// OA006
		{
			name: "in place returns a copy", schema: "f_(Tensor(a!) self) -> Tensor(a!)",
			before: list{see(1, 2)}, results: list{see(3, 4)},
			want: []string{"OA006 result / argument self: result is TensorImpl #3, argument self is #1"},
		},
		{
			name: "an element of a written list", schema: "f_(Tensor(a!)[] ts) -> Tensor(a!)", args: []int{2},
			before: list{see(1, 2), see(3, 4)}, results: list{see(3, 4)},
		},
		{
			name: "in place returns a view", schema: "f_(Tensor(a!) self) -> Tensor(a!)",
			before: list{see(1, 2)}, results: list{see(3, 2, uses(1, 2))},
			want: []string{"OA006 result / argument self: result is a TensorImpl of its own on the StorageImpl of argument self"},
		},
		{
			name: "in place returns the other", schema: "f_(Tensor(a!) self, Tensor other) -> Tensor(a!)",
			before: list{see(1, 2), see(3, 4)}, results: list{see(3, 4)},
			want: []string{"OA006 result / argument self: result is the TensorImpl of argument other, not of argument self"},
		},
		{
			name: "in place returns a view of the other", schema: "f_(Tensor(a!) self, Tensor other) -> Tensor(a!)",
			before: list{see(1, 2), see(3, 4)}, results: list{see(5, 4)},
			want: []string{"OA006 result / argument self: result shares StorageImpl with argument other, not with argument self"},
		},
		{
			name: "in place returns nothing", schema: "f_(Tensor(a!) self) -> Tensor(a!)",
			before: list{see(1, 2)}, results: list{undefined},
			want: []string{"OA006 result / argument self: result is undefined, argument self is TensorImpl #1"},
		},
		{
			name: "out arguments crossed", schema: "f(Tensor(a!) x, Tensor(b!) y) -> (Tensor(a!), Tensor(b!))",
			before: list{see(1, 2), see(3, 4)}, results: list{see(3, 4), see(1, 2)},
			want: []string{
				"OA006 result0 / argument x: result0 is the TensorImpl of argument y, not of argument x",
				"OA006 result1 / argument y: result1 is the TensorImpl of argument x, not of argument y",
			},
		},
		{
			name: "one out argument twice", schema: "f(Tensor(a!) x, Tensor(b!) y) -> (Tensor(a!), Tensor(b!))",
			before: list{see(1, 2), see(3, 4)}, results: list{see(1, 2), see(1, 2)},
			want: []string{"OA006 result1 / argument y: result1 is the TensorImpl of argument x, not of argument y"},
		},
		{
			name: "in place, and a new impl for self", schema: "f_(Tensor(a!) self) -> Tensor(a!)",
			before: list{see(1, 2)}, after: list{see(3, 4)}, results: list{see(3, 4)},
			want: []string{"OA001 argument self / result: argument self was TensorImpl #1 before the call and is #3 after it, the TensorImpl of result"},
		},
		{
			name: "in place, a new impl for self and the old one back", schema: "f_(Tensor(a!) self) -> Tensor(a!)",
			before: list{see(1, 2)}, after: list{see(3, 4)}, results: list{see(1, 2)},
			want: []string{"OA001 argument self: argument self was TensorImpl #1 before the call and is #3 after it"},
		},
		{
			name: "an undefined out argument filled in, and another returned", schema: "f(Tensor(a!)? out) -> Tensor(a!)",
			before: list{undefined}, after: list{see(1, 2)}, results: list{see(3, 4)},
			want: []string{"OA006 result / argument out: result is TensorImpl #3, argument out is #1"},
		},
		{
			name: "OA001 waived, an argument undefined afterwards, and another returned", schema: "f(Tensor(a!) out) -> Tensor(a!)", drop: "OA001 OA002",
			before: list{see(1, 2)}, after: list{undefined}, results: list{see(3, 4)},
			want: []string{"OA006 result / argument out: result is TensorImpl #3, argument out is none"},
		},
		{
			name: "a list of one written tensor", schema: "f(Tensor(a!) self) -> Tensor(a!)[]", returns: []int{2},
			before: list{see(1, 2)}, results: list{see(1, 2), see(3, 4)},
			want: []string{"OA006 result[1] / argument self: result[1] is TensorImpl #3, argument self is #1"},
		},
		{
			name: "any of a written list", schema: "f(Tensor(a!)[] ts) -> Tensor(a!)", args: []int{2},
			before: list{see(1, 2), see(3, 4)}, results: list{see(3, 4)},
		},
		{
			name: "none of a written list", schema: "f(Tensor(a!)[] ts) -> Tensor(a!)", args: []int{2},
			before: list{see(1, 2), see(3, 4)}, results: list{see(5, 6)},
			want: []string{"OA006 result / argument ts[0]: result is TensorImpl #5, argument ts[0] is #1"},
		},
		{
			name: "one of a written list", schema: "f(Tensor(a!)[] ts) -> Tensor(a!)[]", args: []int{2}, returns: []int{2},
			before: list{see(1, 2), see(3, 4)}, results: list{see(1, 2), see(1, 2)},
			want: []string{"OA006 result[1] / argument ts[1]: result[1] is the TensorImpl of argument ts[0], not of argument ts[1]"},
		},

		// OA007
		{
			name: "the input as it is", schema: "f(Tensor self) -> Tensor",
			before: list{see(1, 2)}, results: list{see(1, 2, uses(2, 1))},
			want: []string{"OA007 result / argument self: result is the TensorImpl of argument self"},
		},
		{
			name: "a view of the input", schema: "f(Tensor self) -> Tensor",
			before: list{see(1, 2)}, results: list{see(3, 2, uses(1, 2))},
			want: []string{"OA007 result / argument self: result shares StorageImpl with argument self"},
		},
		{
			name: "a view of the second input", schema: "f(Tensor self, Tensor other) -> Tensor",
			before: list{see(1, 2), see(3, 4)}, results: list{see(5, 4, uses(1, 2))},
			want: []string{"OA007 result / argument other: result shares StorageImpl with argument other"},
		},
		{
			name: "an input that was passed twice", schema: "f(Tensor self, Tensor other) -> Tensor",
			before: list{see(1, 2), see(1, 2)}, results: list{see(1, 2, uses(3, 1))},
			want: []string{"OA007 result / argument self: result is the TensorImpl of argument self"},
		},
		{
			name: "the second of two that share", schema: "f(Tensor self, Tensor other) -> Tensor",
			before: list{see(1, 2), see(3, 2)}, results: list{see(3, 2, uses(2, 2))},
			want: []string{"OA007 result / argument other: result is the TensorImpl of argument other"},
		},
		{
			name: "one of a list", schema: "f(Tensor[] ts) -> Tensor", args: []int{3},
			before: list{see(1, 2), see(3, 4), see(5, 6)}, results: list{see(5, 6, uses(2, 1))},
			want: []string{"OA007 result / argument ts[2]: result is the TensorImpl of argument ts[2]"},
		},
		{
			name: "one of an optional list", schema: "f(Tensor?[] ts) -> Tensor", args: []int{2},
			before: list{undefined, see(3, 4)}, results: list{see(5, 4, uses(1, 2))},
			want: []string{"OA007 result / argument ts[1]: result shares StorageImpl with argument ts[1]"},
		},
		{
			name: "an optional", schema: "f(Tensor self, Tensor? w) -> Tensor",
			before: list{see(1, 2), see(3, 4)}, results: list{see(5, 4, uses(1, 2))},
			want: []string{"OA007 result / argument w: result shares StorageImpl with argument w"},
		},
		{
			name: "an element of a returned list", schema: "f(Tensor self) -> Tensor[]", returns: []int{3},
			before: list{see(1, 2)}, results: list{see(3, 4), see(5, 2, uses(1, 2)), see(7, 8)},
			want: []string{"OA007 result[1] / argument self: result[1] shares StorageImpl with argument self"},
		},
		{
			name: "one of a tuple", schema: "f(Tensor self) -> (Tensor, Tensor)",
			before: list{see(1, 2)}, results: list{see(3, 4), see(1, 2, uses(2, 1))},
			want: []string{"OA007 result1 / argument self: result1 is the TensorImpl of argument self"},
		},
		{
			name: "both of a tuple", schema: "f(Tensor self) -> (Tensor, Tensor)",
			before: list{see(1, 2)}, results: list{see(3, 2, uses(1, 3)), see(4, 2, uses(1, 3))},
			want: []string{
				"OA007 result0 / argument self: result0 shares StorageImpl with argument self",
				"OA007 result1 / argument self: result1 shares StorageImpl with argument self",
			},
		},
		{
			name: "beside a view of the same", schema: "f(Tensor(a) self) -> (Tensor(a), Tensor)",
			before: list{see(1, 2)}, results: list{see(3, 2, uses(1, 3)), see(4, 2, uses(1, 3))},
			want: []string{"OA007 result1 / argument self: result1 shares StorageImpl with argument self"},
		},
		{
			name: "a view that is another argument on the same storage", schema: "f(Tensor(a) self, Tensor other) -> Tensor(a)",
			before: list{see(1, 2), see(3, 2)}, results: list{see(3, 2, uses(2, 2))},
			want: []string{"OA007 result / argument other: result is the TensorImpl of argument other"},
		},
		{
			name: "a written argument", schema: "f(Tensor(a!) mean) -> Tensor",
			before: list{see(1, 2)}, results: list{see(1, 2, uses(2, 1))},
			want: []string{"OA007 result / argument mean: result is the TensorImpl of argument mean"},
		},
		{
			name: "storageless", skips: "OA002 OA005 OA009", schema: "f(Tensor self) -> Tensor",
			before: list{see(1, 0)}, results: list{see(1, 0, uses(2, 0))},
			want: []string{"OA007 result / argument self: result is the TensorImpl of argument self"},
		},
		{
			name: "the tensor that was replaced in the caller's list", schema: "f(Tensor[] ts) -> Tensor", args: []int{1},
			before: list{see(1, 2)}, after: list{see(3, 4)}, results: list{see(1, 2)},
			want: []string{
				"OA001 argument ts[0]: argument ts[0] was TensorImpl #1 before the call and is #3 after it",
				"OA007 result / argument ts[0]: result is the TensorImpl of argument ts[0]",
			},
		},

		{
			name: "one pair waived", schema: "f(Tensor self, Tensor other) -> Tensor", drop: "OA007/self",
			before: list{see(1, 2), see(3, 2)}, results: list{see(5, 2, uses(1, 3))},
			want: []string{"OA007 result / argument other: result shares StorageImpl with argument other"},
		},
		{
			name: "OA001 waived, the result put into the caller's list", schema: "f(Tensor[] ts) -> Tensor", args: []int{1}, drop: "OA001 OA002",
			before: list{see(1, 2)}, after: list{see(3, 4)}, results: list{see(3, 4)},
			want: []string{"OA007 result / argument ts[0]: result is the TensorImpl of argument ts[0]"},
		},
		{
			name: "OA001 waived, a view of the result put into the caller's list", schema: "f(Tensor[] ts) -> Tensor", args: []int{1}, drop: "OA001 OA002",
			before: list{see(1, 2)}, after: list{see(3, 4)}, results: list{see(5, 4)},
			want: []string{"OA007 result / argument ts[0]: result shares StorageImpl with argument ts[0]"},
		},
		{
			name: "a view of what was replaced in the caller's list", schema: "f(Tensor[] ts) -> Tensor", args: []int{1},
			before: list{see(1, 2)}, after: list{see(3, 4)}, results: list{see(5, 2)},
			want: []string{
				"OA001 argument ts[0]: argument ts[0] was TensorImpl #1 before the call and is #3 after it",
				"OA007 result / argument ts[0]: result shares StorageImpl with argument ts[0]",
			},
		},
		{
			name: "a view of what was put into the caller's list", schema: "f(Tensor[] ts) -> Tensor", args: []int{1},
			before: list{see(1, 2)}, after: list{see(3, 4, uses(1, 2))}, results: list{see(5, 4, uses(1, 2))},
			want: []string{"OA001 argument ts[0]: argument ts[0] was TensorImpl #1 before the call and is #3 after it"},
		},

		// OA008
		{
			name: "outputs that are one", schema: "f(Tensor self) -> (Tensor, Tensor)",
			before: list{see(1, 2)}, results: list{see(5, 6, uses(2, 1)), see(5, 6, uses(2, 1))},
			want: []string{"OA008 result1 / result0: result1 is the TensorImpl of result0"},
		},
		{
			name: "outputs that share", schema: "f(Tensor self) -> (Tensor, Tensor, Tensor)",
			before: list{see(1, 2)}, results: list{see(3, 4), see(5, 6, uses(1, 2)), see(7, 6, uses(1, 2))},
			want: []string{"OA008 result2 / result1: result2 shares StorageImpl with result1"},
		},
		{
			name: "three that share", schema: "f(Tensor self) -> (Tensor, Tensor, Tensor)",
			before: list{see(1, 2)}, results: list{see(3, 6, uses(1, 3)), see(5, 6, uses(1, 3)), see(7, 6, uses(1, 3))},
			want: []string{
				"OA008 result1 / result0: result1 shares StorageImpl with result0",
				"OA008 result2 / result0: result2 shares StorageImpl with result0",
			},
		},
		{
			name: "elements of a list that share", schema: "f(Tensor self) -> Tensor[]", returns: []int{3},
			before: list{see(1, 2)}, results: list{see(3, 4, uses(1, 2)), see(5, 6), see(7, 4, uses(1, 2))},
			want: []string{"OA008 result[2] / result[0]: result[2] shares StorageImpl with result[0]"},
		},
		{
			name: "an element and a tensor", schema: "f(Tensor self) -> (Tensor, Tensor[])", returns: []int{1, 2},
			before: list{see(1, 2)}, results: list{see(3, 4, uses(1, 2)), see(5, 6), see(7, 4, uses(1, 2))},
			want: []string{"OA008 result1[1] / result0: result1[1] shares StorageImpl with result0"},
		},
		{
			name: "a line of the plan on the earlier one", schema: "f(Tensor self) -> (Tensor, Tensor)", drop: "OA008",
			more:   []asserts.Check{{Code: asserts.OutputAlias, On: -1, Against: -2}},
			before: list{see(1, 2)}, results: list{see(3, 4, uses(1, 2)), see(5, 4, uses(1, 2))},
			want: []string{"OA008 result1 / result0: result1 shares StorageImpl with result0"},
		},
		{
			name: "a line of the plan on a list alone", schema: "f(Tensor self) -> Tensor[]", drop: "OA008", returns: []int{2},
			more:   []asserts.Check{{Code: asserts.OutputAlias, On: -1, Against: -1}},
			before: list{see(1, 2)}, results: list{see(3, 4, uses(1, 2)), see(5, 4, uses(1, 2))},
			want: []string{"OA008 result[1] / result[0]: result[1] shares StorageImpl with result[0]"},
		},
		{
			name: "a copy for a view, and shared", schema: "f(Tensor(a) self) -> (Tensor(a), Tensor)",
			before: list{see(1, 2)}, results: list{see(3, 4, uses(1, 2)), see(5, 4)},
			want: []string{"OA004 result0 / argument self: result0 shares StorageImpl with result1, not with argument self"},
		},
		{
			name: "beside a view of the same, OA007 waived", schema: "f(Tensor(a) self) -> (Tensor, Tensor(a))", drop: "OA007 OA008",
			before: list{see(1, 2)}, results: list{see(3, 2, uses(1, 3)), see(4, 2, uses(1, 3))},
			want: []string{"OA005 result0 / argument self: result0 shares StorageImpl with argument self, use_count is 3"},
		},
		{
			name: "without counts", schema: "f(Tensor self) -> (Tensor, Tensor)",
			before: list{see(1, 2)}, results: list{see(5, 6, uses(-1, -1)), see(5, 6, uses(-1, -1))},
			want: []string{"OA008 result1 / result0: result1 is the TensorImpl of result0"},
		},
		{
			name: "storageless ones", skips: "OA005", schema: "f(Tensor self) -> (Tensor, Tensor)",
			before: list{see(1, 2)}, results: list{see(5, 0), see(6, 0)},
		},
	}
	for _, test := range tests {
		t.Run(test.name, test.test)
	}
}

// Judged counts the tensors of each check.
func TestJudged(t *testing.T) {
	j := judgement{
		schema: "f(Tensor self, Tensor? w, Tensor(a!)[] ts) -> (Tensor, Tensor[])", args: []int{1, 1, 2}, returns: []int{1, 3},
		before:  list{see(1, 2, holding("ab")), undefined, see(3, 4, holding("ab")), see(5, 6, holding("ab"))},
		results: list{see(7, 8), see(9, 10), undefined, see(11, 12)},
	}
	op, seen := j.call()
	want := map[asserts.Code]int{
		asserts.InputImpl: 3, asserts.InputStorage: 3, asserts.FreshImpl: 3, asserts.FreshStorage: 3,
		asserts.UndeclaredAlias: 3, asserts.OutputAlias: 2, asserts.UndeclaredWrite: 1, asserts.VersionBump: 2,
	}
	verdict := asserts.Judge(op, seen, asserts.Aware())
	if len(verdict.Skips) > 0 {
		t.Errorf("skipped %v", verdict.Skips)
	}
	for code, n := range verdict.Judged {
		if n != want[asserts.Code(code)] {
			t.Errorf("%v: %d, want %d", asserts.Code(code), n, want[asserts.Code(code)])
		}
	}
	view := judgement{schema: "f(Tensor(a) self) -> Tensor(a)", before: list{see(1, 2)}, results: list{see(3, 2)}}
	op, seen = view.call()
	verdict = asserts.Judge(op, seen, asserts.Aware())
	if verdict.Judged[asserts.ViewStorage] != 1 || verdict.Judged[asserts.UndeclaredAlias] != 0 || verdict.Judged[asserts.ReturnedSelf] != 0 {
		t.Errorf("a view: %v", verdict.Judged)
	}
}

// LooksUsual holds for the calls that programs consist of, and not for those that the judge must see.
func TestUsual(t *testing.T) {
	plain := []judgement{
		{schema: "f(Tensor self, Tensor other) -> Tensor", before: list{see(1, 2), see(3, 4)}, results: list{see(5, 6)}},
		{schema: "f(Tensor self, Tensor? w) -> Tensor", before: list{see(1, 2), undefined}, results: list{see(5, 6)}},
		{schema: "f(Tensor self, Tensor other) -> Tensor", before: list{see(1, 2), see(1, 2)}, results: list{undefined}},
		{schema: "f(Tensor self, Tensor other) -> (Tensor, Tensor, Tensor)", before: list{see(1, 2), see(3, 2)}, results: list{see(5, 6), undefined, see(7, 8)}},
		{schema: "f(Tensor self) -> (Tensor, Tensor)", before: list{see(1, 2)}, results: list{undefined, undefined}},
		{schema: "f(Tensor self) -> Tensor[]", returns: []int{2}, before: list{see(1, 2)}, results: list{undefined, undefined}},
		{schema: "f(Tensor self) -> Tensor", drop: "OA003 OA005", before: list{see(1, 2)}, results: list{see(5, 6, uses(2, 2))}},
		{schema: "f_(Tensor(a!) self) -> Tensor(a!)[]", returns: []int{2}, before: list{see(1, 2)}, results: list{see(1, 2), see(1, 2)}},
		{schema: "f(Tensor self) -> Tensor", before: list{see(1, 2)}, results: list{see(5, 6, uses(-1, -1))}},
		{schema: "f(Tensor self) -> Tensor", before: list{see(1, 2, traits(asserts.MetaTensor|asserts.NoVersion|asserts.FunctionalWrapper))}, results: list{see(5, 6)}},
		{schema: "f(Tensor(a) self) -> Tensor(a)", before: list{see(1, 2)}, results: list{see(3, 2, uses(1, 5))}},
		{schema: "f(Tensor other, Tensor(a) self) -> Tensor(a)", before: list{see(5, 6), see(1, 2)}, results: list{see(3, 2)}},
		{schema: "f(Tensor(a) x, Tensor(b) y) -> (Tensor(a), Tensor(b))", before: list{see(1, 2), see(3, 4)}, results: list{see(5, 2), see(6, 4)}},
		{schema: "f_(Tensor(a!) self, Tensor other) -> Tensor(a!)", before: list{see(1, 2), see(1, 2)}, results: list{see(1, 2, uses(9, 9))}},
		{schema: "f(Tensor self, Tensor(a!) x, Tensor(b!) y) -> (Tensor(a!), Tensor(b!))", before: list{see(1, 2), see(3, 4), see(5, 6)}, results: list{see(3, 4), see(5, 6)}},
		{schema: "f(Tensor self) -> ()", before: list{see(1, 2)}},
		{schema: "f() -> Tensor", results: list{see(1, 2)}},
		{schema: "f(Tensor[] ts) -> Tensor", args: []int{3}, before: list{see(1, 2), undefined, see(1, 2)}, results: list{see(5, 6)}},
		{schema: "f(Tensor[] ts) -> Tensor[]", args: []int{0}, returns: []int{0}},
		{schema: "f(Tensor self) -> Tensor[]", returns: []int{2}, before: list{see(1, 2)}, results: list{see(3, 4), see(5, 6)}},
		{schema: "f(Tensor(a) self) -> Tensor(a)[]", returns: []int{3}, before: list{see(1, 2)}, results: list{see(3, 2), see(4, 2), see(5, 2)}},
		{schema: "f(Tensor[] ts, Tensor other, Tensor(a) self) -> (Tensor(a)[], Tensor)", args: []int{2, 1, 1}, returns: []int{2, 1}, before: list{see(1, 2), see(3, 4), see(5, 6), see(7, 8)}, results: list{see(9, 8), see(11, 8), see(13, 14)}},
		{schema: "f_(Tensor[] ts, Tensor(a!) self) -> Tensor(a!)", args: []int{2, 1}, returns: []int{1}, before: list{see(1, 2), see(3, 4), see(5, 6)}, results: list{see(5, 6)}},
		{schema: "f(Tensor(a!)[] ts) -> ()", args: []int{2}, before: list{see(1, 2), see(3, 4)}},
	}
	clean := func(j *judgement) bool {
		op, seen := j.call()
		seen.Level = asserts.Identity
		return asserts.LooksUsual(op, seen, asserts.Aware())
	}
	for _, j := range plain {
		if !clean(&j) {
			t.Errorf("%s: the judge sees %v -> %v", j.schema, j.before, j.results)
		}
	}
	many := make(list, 40)
	for i := range many {
		many[i] = see(asserts.ID(100+i), asserts.ID(200+i))
	}
	other := []judgement{
		{schema: "f(Tensor self, Tensor other) -> Tensor", before: list{see(1, 2), see(3, 4)}},                                // failed
		{schema: "f(Tensor self, Tensor other) -> Tensor", before: list{see(1, 2)}, results: list{see(3, 4)}},                 // too short
		{schema: "f(Tensor[] ts, Tensor other) -> Tensor", args: []int{1}, before: list{see(1, 2)}, results: list{see(3, 4)}}, // too short
		{schema: "f(Tensor self) -> Tensor[]", returns: []int{40}, before: list{see(1, 2)}, results: many},                    // too many pairs
		{schema: "f(Tensor(a)[] ts) -> Tensor(a)", args: []int{1}, before: list{see(1, 2)}, results: list{see(3, 2)}},
		{schema: "f(Tensor(a!)[] ts) -> Tensor(a!)", args: []int{1}, before: list{see(1, 2)}, results: list{undefined}},      // OA006
		{schema: "f(Tensor(a!)[] ts) -> Tensor(a!)", args: []int{0}, results: list{undefined}},                               // an empty list
		{schema: "f(Tensor(a!) self) -> (Tensor(a!), Tensor)", before: list{see(1, 2)}, results: list{see(1, 4), see(3, 4)}}, // OA008: one TensorImpl, two storages
		{ // two bases
			schema: "f(Tensor(a) x, Tensor(a) y) -> Tensor(a)", before: list{see(1, 2), see(3, 4)}, results: list{see(5, 2)},
			more: []asserts.Check{{Code: asserts.ViewStorage, On: -1, Against: 2}},
		},
	}
	for _, j := range other {
		if clean(&j) {
			t.Errorf("%s: the judge does not see %v -> %v", j.schema, j.before, j.results)
		}
	}
}

// A return's base is an argument with its alias set, and likewise for the tensors inside.
func TestBase(t *testing.T) {
	op := opOf("f(Tensor(a) self, Tensor other) -> (Tensor(a), Tensor)")
	self, other := asserts.Place{Index: 0}, asserts.Place{Index: 1}
	result, fresh := asserts.Place{Return: true, Index: 0}, asserts.Place{Return: true, Index: 1}
	inside := result
	inside.Inside = true
	for _, test := range []struct {
		result, arg asserts.Place
		want        bool
	}{
		{result, self, true}, {inside, self, true}, {result, other, false}, {fresh, self, false},
		{self, self, false}, {self, result, false}, {result, result, false},
	} {
		if got := op.Base(test.result, test.arg); got != test.want {
			t.Errorf("Base(%+v, %+v) = %t, want %t", test.result, test.arg, got, test.want)
		}
	}
}
