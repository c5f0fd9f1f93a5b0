package samples

func storage() []testCase {
	return []testCase{
		{op: "resize_", name: "larger", args: func(b builder) []any { return []any{b.written(2), []int64{3, 3}, noFormat} }},
		{op: "resize_", name: "smaller", args: func(b builder) []any { return []any{b.written(2, 3), []int64{2}, noFormat} }},
		{op: "resize_", name: "from-empty", args: func(b builder) []any { return []any{b.written(0), []int64{}, noFormat} }},
		{op: "resize_as_", name: "larger", args: func(b builder) []any { return []any{b.written(2), b.floats(2, 3), noFormat} }},
		{op: "resize_as_", name: "itself", args: func(b builder) []any {
			x := b.written(2, 3)
			return []any{x, x, noFormat}
		}},
		{op: "set_.source_Tensor", name: "other", args: func(b builder) []any { return []any{b.written(2), b.floats(2, 3)} }},
		{op: "set_.source_Tensor", name: "itself", args: func(b builder) []any {
			x := b.written(2, 3)
			return []any{x, x}
		}},
		{op: "set_", name: "emptied", args: func(b builder) []any { return []any{b.written(2, 3)} }},
	}
}
