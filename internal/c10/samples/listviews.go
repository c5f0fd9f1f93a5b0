package samples

func listViews() []testCase {
	return []testCase{
		{op: "split.Tensor", name: "uneven", args: func(b builder) []any { return []any{b.floats(5, 2), int64(2), int64(0)} }},
		{op: "split.Tensor", name: "one-piece", args: func(b builder) []any { return []any{b.floats(2, 3), int64(9), int64(1)} }},
		{op: "split.Tensor", name: "empty", args: func(b builder) []any { return []any{b.floats(0, 2), int64(0), int64(0)} }},
		{op: "split_with_sizes", name: "with-an-empty-one", args: func(b builder) []any {
			return []any{b.floats(2, 3), []int64{1, 0, 2}, int64(1)}
		}},
		{op: "unbind.int", name: "columns", args: func(b builder) []any { return []any{b.floats(2, 3), int64(1)} }},
		{op: "unbind.int", name: "none", args: func(b builder) []any { return []any{b.floats(0, 3), int64(0)} }},
		{op: "chunk", name: "three", args: func(b builder) []any { return []any{b.floats(5, 2), int64(3), int64(0)} }},
		{op: "tensor_split.sections", name: "three", args: func(b builder) []any { return []any{b.floats(5, 2), int64(3), int64(0)} }},
		{op: "unbind_copy.int", name: "rows", args: func(b builder) []any { return []any{b.floats(2, 3), int64(0)} }},
		{op: "unbind_copy.int_out", name: "rows", args: func(b builder) []any {
			return []any{b.floats(2, 3), int64(0), list(b.written(3), b.written(0))}
		}},
		{op: "split_copy.Tensor_out", name: "uneven", args: func(b builder) []any {
			return []any{b.floats(3, 2), int64(2), int64(0), list(b.written(2, 2), b.written(1, 2))}
		}},
	}
}
