package samples

func lists() []testCase {
	return []testCase{
		{op: "cat", name: "two", args: func(b builder) []any { return []any{list(b.floats(2, 3), b.floats(2, 1)), int64(1)} }},
		{op: "cat", name: "one", args: func(b builder) []any { return []any{list(b.floats(2, 3)), int64(0)} }},
		{op: "cat", name: "empties", args: func(b builder) []any { return []any{list(b.floats(0, 3), b.floats(0, 3)), int64(-2)} }},
		{op: "cat", name: "twice", args: func(b builder) []any {
			x := b.floats(2, 3)
			return []any{list(x, b.floats(1, 3), x), int64(0)}
		}},
		{op: "cat", name: "refused", args: func(b builder) []any { return []any{list(), int64(0)} }},
		{op: "stack", name: "three", args: func(b builder) []any {
			return []any{list(b.floats(2, 3), b.floats(2, 3), b.floats(2, 3)), int64(-1)}
		}},
		{op: "stack", name: "0-dim", args: func(b builder) []any { return []any{list(b.floats(), b.floats()), int64(0)} }},
		{op: "stack", name: "twice", args: func(b builder) []any {
			x := b.floats(2)
			return []any{list(x, x), int64(0)}
		}},
		{op: "broadcast_tensors", name: "three", args: func(b builder) []any { return []any{list(b.floats(2, 1), b.floats(3), b.floats())} }},
		{op: "_foreach_add.List", name: "two", args: func(b builder) []any {
			return []any{list(b.floats(2, 3), b.floats()), list(b.floats(2, 3), b.floats()), 2.0}
		}},
		{op: "_foreach_add.List", name: "none", args: func(b builder) []any { return []any{list(), list(), 2.0} }},
		{op: "_foreach_add.List", name: "same-list", args: func(b builder) []any {
			ts := list(b.floats(2), b.floats(3))
			return []any{ts, ts, 1.0}
		}},
		{op: "_foreach_add_.List", name: "two", args: func(b builder) []any {
			return []any{list(b.written(2, 3), b.written(0)), list(b.floats(3), b.floats(0)), 2.0}
		}},
		{op: "_foreach_add_.List", name: "same-list", args: func(b builder) []any {
			ts := list(b.written(2), b.written(3))
			return []any{ts, ts, 1.0}
		}},
		{op: "_foreach_mul.Scalar", name: "three", args: func(b builder) []any {
			return []any{list(b.floats(2), b.floats(0), b.floats()), 3.0}
		}},
		{op: "_foreach_zero_", name: "two", args: func(b builder) []any { return []any{list(b.written(2), b.written())} }},
		{op: "_amp_foreach_non_finite_check_and_unscale_", name: "two", args: func(b builder) []any {
			return []any{list(b.written(2), b.written(2, 3)), b.written(1), b.ones()}
		}},
	}
}
