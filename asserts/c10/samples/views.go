package samples

import (
	"slices"

	"github.com/opassert/opassert/asserts/c10"
)

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

func inPlaceViews() []testCase {
	return slices.Concat(
		unaryInPlace("t_"),
		unaryInPlace("transpose_", int64(0), int64(-1)),
		unaryInPlace("squeeze_"),
		unaryInPlace("unsqueeze_", int64(0)),
		unaryInPlace("squeeze_.dim", int64(-1)),
		[]testCase{
			{op: "as_strided_", name: "half", args: func(b builder) []any { return []any{b.written(2, 3), []int64{3}, []int64{2}, noInt} }},
			{op: "as_strided_", name: "offset", args: func(b builder) []any {
				return []any{b.written(2, 3), []int64{2}, []int64{1}, ptr(int64(2))}
			}},
		},
	)
}

func copies() []testCase {
	return slices.Concat(
		unary("clone", noFormat),
		only([]sort{plain},
			testCase{op: "clone", name: "sparse", args: func(b builder) []any { return []any{coo(b), noFormat} }},
			testCase{op: "clone", name: "csr", args: func(b builder) []any { return []any{csr(b), noFormat} }},
		),
		unary("lift"),
		unary("contiguous", c10.Contiguous),
		[]testCase{
			{op: "to.dtype", name: "other", args: func(b builder) []any {
				return []any{b.floats(2, 3), c10.Int64, false, false, noFormat}
			}},
			{op: "to.dtype", name: "no-op", args: func(b builder) []any {
				return []any{b.floats(2, 3), c10.Float32, false, false, noFormat}
			}},
			{op: "to.dtype", name: "no-op-copied", args: func(b builder) []any {
				return []any{b.floats(0, 3), c10.Float32, false, true, noFormat}
			}},
			{op: "reshape", name: "flat", args: func(b builder) []any { return []any{b.floats(2, 3), []int64{6}} }},
			{op: "reshape", name: "unchanged", args: func(b builder) []any { return []any{b.floats(2, 3), []int64{2, -1}} }},
			{op: "reshape", name: "empty", args: func(b builder) []any { return []any{b.floats(0, 3), []int64{0}} }},
			{op: "reshape", name: "0-dim", args: func(b builder) []any { return []any{b.floats(), []int64{1, 1}} }},
			{op: "flatten.using_ints", name: "middle", args: func(b builder) []any { return []any{b.floats(2, 3, 2, 1), int64(1), int64(2)} }},
			{op: "flatten.using_ints", name: "no-op", args: func(b builder) []any { return []any{b.floats(2, 3), int64(1), int64(-1)} }},
			{op: "flatten.using_ints", name: "0-dim", args: func(b builder) []any { return []any{b.floats(), int64(0), int64(-1)} }},
		},
	)
}

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
