package samples

func products() []testCase {
	return []testCase{
		{op: "mm", name: "matrix", args: func(b builder) []any { return []any{background, b.floats(2, 3), b.floats(3, 2)} }},
		{op: "mm", name: "empty", args: func(b builder) []any { return []any{background, b.floats(2, 0), b.floats(0, 2)} }},
		{op: "mm", name: "twice", args: func(b builder) []any {
			x := b.floats(2, 2)
			return []any{background, x, x}
		}},
		{op: "mm", name: "refused", args: func(b builder) []any { return []any{background, b.floats(2, 3), b.floats(2, 3)} }},
		{op: "bmm", name: "batch", args: func(b builder) []any { return []any{background, b.floats(2, 2, 3), b.floats(2, 3, 1)} }},
		{op: "bmm", name: "refused", args: func(b builder) []any { return []any{background, b.floats(2, 2, 3), b.floats(1, 3, 1)} }},
		{op: "addmm", name: "matrix", args: func(b builder) []any {
			return []any{background, b.floats(2), b.floats(2, 3), b.floats(3, 2), 0.5, 2.0}
		}},
		{op: "matmul", name: "matrix", args: func(b builder) []any { return []any{background, b.floats(2, 3), b.floats(3, 2)} }},
		{op: "matmul", name: "vectors", args: func(b builder) []any { return []any{background, b.floats(3), b.floats(3)} }},
		{op: "matmul", name: "batch", args: func(b builder) []any { return []any{background, b.floats(2, 2, 3), b.floats(2, 3, 1)} }},
		{op: "linear", name: "bias", args: func(b builder) []any { return []any{background, b.floats(2, 3), b.floats(4, 3), b.floats(4)} }},
		{op: "linear", name: "no-bias", args: func(b builder) []any { return []any{background, b.floats(2, 3), b.floats(4, 3), undefined} }},
		{op: "linear", name: "vector", args: func(b builder) []any { return []any{background, b.floats(3), b.floats(4, 3), b.floats(4)} }},
	}
}
