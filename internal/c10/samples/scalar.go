package samples

func scalars() []testCase {
	values := without(meta)
	return []testCase{
		{op: "_local_scalar_dense", name: "0-dim", in: values, args: func(b builder) []any { return []any{b.floats()} }},
		{op: "item", name: "one-element", in: values, args: func(b builder) []any { return []any{b.floats(1, 1)} }},
		{op: "size.int", name: "last", args: func(b builder) []any { return []any{b.floats(2, 3), int64(-1)} }},
		{op: "is_same_size", name: "different", args: func(b builder) []any { return []any{b.floats(2, 3), b.floats(2)} }},
		{op: "is_same_size", name: "twice", args: func(b builder) []any {
			x := b.floats(2)
			return []any{x, x}
		}},
		{op: "equal", name: "same", in: values, args: func(b builder) []any { return []any{b.floats(2, 3), b.floats(2, 3)} }},
		{op: "equal", name: "empty", in: values, args: func(b builder) []any { return []any{b.floats(0), b.floats(0)} }},
		{op: "_choose_qparams_per_tensor", name: "matrix", in: values, args: func(b builder) []any { return []any{b.floats(2, 3), true} }},
	}
}
