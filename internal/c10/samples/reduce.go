package samples

import "slices"

func reductions() []testCase {
	dims := []int64{1}
	return slices.Concat(
		unary("sum", noDType),
		[]testCase{
			{op: "sum", name: "ints", args: func(b builder) []any { return []any{b.ints(5, 2, 3), noDType} }},
			{op: "sum.dim_IntList", name: "rows", args: func(b builder) []any { return []any{b.floats(2, 3), dims, false, noDType} }},
			{op: "sum.dim_IntList", name: "both", args: func(b builder) []any { return []any{b.floats(2, 3), []int64{0, -1}, true, noDType} }},
			{op: "sum.dim_IntList", name: "0-dim", args: func(b builder) []any { return []any{b.floats(), []int64{0}, false, noDType} }},
			{op: "sum.dim_IntList", name: "of-nothing", args: func(b builder) []any { return []any{b.floats(2, 0), dims, false, noDType} }},
			{op: "mean.dim", name: "rows", args: func(b builder) []any { return []any{b.floats(2, 3), dims, false, noDType} }},
			{op: "mean.dim", name: "empty", args: func(b builder) []any { return []any{b.floats(0, 3), dims, false, noDType} }},
			{op: "amax", name: "rows", args: func(b builder) []any { return []any{b.floats(2, 3), dims, true} }},
			{op: "amax", name: "all", args: func(b builder) []any { return []any{b.floats(2, 3), []int64{}, false} }},
			{op: "argmax", name: "rows", args: func(b builder) []any { return []any{b.floats(2, 3), ptr(int64(1)), false} }},
			{op: "argmax", name: "all", args: func(b builder) []any { return []any{b.floats(2, 3), noInt, false} }},
			{op: "max.dim", name: "rows", args: func(b builder) []any { return []any{b.floats(2, 3), int64(1), false} }},
			{op: "max.dim", name: "columns", args: func(b builder) []any { return []any{b.floats(2, 3), int64(0), true} }},
			{op: "max.dim", name: "0-dim", args: func(b builder) []any { return []any{b.floats(), int64(-1), false} }},
			{op: "max.dim", name: "empty", args: func(b builder) []any { return []any{b.floats(0, 3), int64(1), false} }},
			{op: "aminmax", name: "rows", args: func(b builder) []any { return []any{b.floats(2, 3), ptr(int64(1)), true} }},
			{op: "aminmax", name: "all", args: func(b builder) []any { return []any{b.floats(2, 3), noInt, false} }},
			{op: "var_mean.correction", name: "rows", args: func(b builder) []any { return []any{b.floats(2, 3), dims, noFloat, false} }},
			{op: "var_mean.correction", name: "all", args: func(b builder) []any { return []any{b.floats(2, 3), []int64(nil), ptr(0.0), false} }},
			{op: "cumsum", name: "rows", args: func(b builder) []any { return []any{b.floats(2, 3), int64(1), noDType} }},
			{op: "cumsum", name: "0-dim", args: func(b builder) []any { return []any{b.floats(), int64(0), noDType} }},
			{op: "cumsum", name: "empty", args: func(b builder) []any { return []any{b.floats(0, 3), int64(0), noDType} }},
			{op: "_softmax", name: "rows", args: func(b builder) []any { return []any{b.floats(2, 3), int64(1), false} }},
			{op: "_softmax", name: "empty", args: func(b builder) []any { return []any{b.floats(2, 0), int64(1), false} }},
			{op: "sort", name: "rows", args: func(b builder) []any { return []any{b.floats(2, 3), int64(-1), false} }},
			{op: "sort", name: "columns-down", args: func(b builder) []any { return []any{b.floats(2, 3), int64(0), true} }},
			{op: "sort", name: "0-dim", args: func(b builder) []any { return []any{b.floats(), int64(0), false} }},
			{op: "sort", name: "empty", args: func(b builder) []any { return []any{b.floats(0), int64(0), false} }},
			{op: "topk", name: "two", args: func(b builder) []any { return []any{b.floats(2, 3), int64(2), int64(1), true, true} }},
			{op: "topk", name: "none", args: func(b builder) []any { return []any{b.floats(2, 3), int64(0), int64(0), false, true} }},
		},
	)
}
