package samples

import "slices"

func views() []testCase {
	viewable := without(strided, expanded)
	return slices.Concat(
		each(viewable,
			call("view", "flat", floats(2, 3), []int64{-1}),
			call("view", "one-more", floats(2, 6), []int64{2, 1, 3, 2}),
			call("view", "empty", floats(0, 3), []int64{3, 0}),
			call("view", "0-dim", floats(1, 1), []int64{}),
		),
		unary("alias"),
		unary("detach"),
		unary("squeeze"),
		unary("unsqueeze", -1),
		unary("transpose.int", 0, -1),
		unary("t"),
		[]testCase{
			call("view", "unchanged", floats(2, 3), []int64{2, 3}),
			call("_reshape_alias", "column", floats(2, 3), []int64{3}, []int64{1}),
			call("as_strided", "own-offset", floats(2, 3), []int64{2}, []int64{1}, noInt),
			call("as_strided", "offset", floats(2, 3), []int64{2, 2}, []int64{0, 1}, ptr(int64(1))),
			call("permute", "turned", floats(2, 3, 4), []int64{2, 0, -2}),
			call("permute", "0-dim", floats(), []int64{}),
			call("select.int", "last-row", floats(2, 3), 0, -1),
			call("select.int", "vector", floats(3), 0, 1),
			call("slice.Tensor", "all", floats(2, 3), 1, noInt, noInt, 1),
			call("slice.Tensor", "every-second", floats(2, 3), -1, ptr(int64(-3)), ptr(int64(9)), 2),
			call("slice.Tensor", "none", floats(2, 3), 0, ptr(int64(2)), ptr(int64(1)), 1),
			call("narrow", "columns", floats(2, 3), 1, 1, 2),
			call("expand", "rows", floats(1, 3), []int64{2, -1}, false),
			call("expand", "0-dim", floats(), []int64{2, 2}, false),
			call("expand", "unchanged", floats(2, 3), []int64{2, 3}, false),
			call("squeeze.dim", "column", floats(2, 1), 1),
			call("squeeze.dim", "no-op", floats(2, 3), 1),
			call("diagonal", "main", floats(2, 3), 0, 0, 1),
			call("diagonal", "below", floats(3, 2, 3), -1, 2, 0),
			call("view_as_real", "matrix", complexes(2, 3)),
			call("view_as_complex", "pairs", floats(3, 2)).in(without(strided)...),
		},
	)
}
