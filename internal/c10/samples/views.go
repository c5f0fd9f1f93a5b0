package samples

import "slices"

func views() []testCase {
	viewable := without(strided, expanded)
	return slices.Concat(
		only(viewable,
			testCase{op: "view", name: "flat", args: func(b builder) []any { return []any{b.floats(2, 3), []int64{-1}} }},
			testCase{op: "view", name: "one-more", args: func(b builder) []any { return []any{b.floats(2, 6), []int64{2, 1, 3, 2}} }},
			testCase{op: "view", name: "empty", args: func(b builder) []any { return []any{b.floats(0, 3), []int64{3, 0}} }},
			testCase{op: "view", name: "0-dim", args: func(b builder) []any { return []any{b.floats(1, 1), []int64{}} }},
		),
		unary("alias"),
		unary("detach"),
		unary("squeeze"),
		unary("unsqueeze", int64(-1)),
		unary("transpose.int", int64(0), int64(-1)),
		unary("t"),
		[]testCase{
			{op: "view", name: "unchanged", args: func(b builder) []any { return []any{b.floats(2, 3), []int64{2, 3}} }},
			{op: "_reshape_alias", name: "column", args: func(b builder) []any { return []any{b.floats(2, 3), []int64{3}, []int64{1}} }},
			{op: "as_strided", name: "own-offset", args: func(b builder) []any { return []any{b.floats(2, 3), []int64{2}, []int64{1}, noInt} }},
			{op: "as_strided", name: "offset", args: func(b builder) []any {
				return []any{b.floats(2, 3), []int64{2, 2}, []int64{0, 1}, ptr(int64(1))}
			}},
			{op: "permute", name: "turned", args: func(b builder) []any { return []any{b.floats(2, 3, 4), []int64{2, 0, -2}} }},
			{op: "permute", name: "0-dim", args: func(b builder) []any { return []any{b.floats(), []int64{}} }},
			{op: "select.int", name: "last-row", args: func(b builder) []any { return []any{b.floats(2, 3), int64(0), int64(-1)} }},
			{op: "select.int", name: "vector", args: func(b builder) []any { return []any{b.floats(3), int64(0), int64(1)} }},
			{op: "slice.Tensor", name: "all", args: func(b builder) []any { return []any{b.floats(2, 3), int64(1), noInt, noInt, int64(1)} }},
			{op: "slice.Tensor", name: "every-second", args: func(b builder) []any {
				return []any{b.floats(2, 3), int64(-1), ptr(int64(-3)), ptr(int64(9)), int64(2)}
			}},
			{op: "slice.Tensor", name: "none", args: func(b builder) []any {
				return []any{b.floats(2, 3), int64(0), ptr(int64(2)), ptr(int64(1)), int64(1)}
			}},
			{op: "narrow", name: "columns", args: func(b builder) []any { return []any{b.floats(2, 3), int64(1), int64(1), int64(2)} }},
			{op: "expand", name: "rows", args: func(b builder) []any { return []any{b.floats(1, 3), []int64{2, -1}, false} }},
			{op: "expand", name: "0-dim", args: func(b builder) []any { return []any{b.floats(), []int64{2, 2}, false} }},
			{op: "expand", name: "unchanged", args: func(b builder) []any { return []any{b.floats(2, 3), []int64{2, 3}, false} }},
			{op: "squeeze.dim", name: "column", args: func(b builder) []any { return []any{b.floats(2, 1), int64(1)} }},
			{op: "squeeze.dim", name: "no-op", args: func(b builder) []any { return []any{b.floats(2, 3), int64(1)} }},
			{op: "diagonal", name: "main", args: func(b builder) []any { return []any{b.floats(2, 3), int64(0), int64(0), int64(1)} }},
			{op: "diagonal", name: "below", args: func(b builder) []any { return []any{b.floats(3, 2, 3), int64(-1), int64(2), int64(0)} }},
			{op: "unfold", name: "windows", args: func(b builder) []any { return []any{b.floats(2, 5), int64(1), int64(3), int64(2)} }},
			{op: "unfold", name: "0-dim", args: func(b builder) []any { return []any{b.floats(), int64(0), int64(1), int64(1)} }},
			{op: "view_as_real", name: "matrix", args: func(b builder) []any { return []any{b.complexes(2, 3)} }},
			{op: "view_as_complex", name: "pairs", in: without(strided), args: func(b builder) []any { return []any{b.floats(3, 2)} }},
		},
	)
}
