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
		unary("detach"),
		unary("t"),
		[]testCase{
			call("view", "unchanged", floats(2, 3), []int64{2, 3}),
			call("select.int", "last-row", floats(2, 3), 0, -1),
			call("select.int", "vector", floats(3), 0, 1),
			call("slice.Tensor", "all", floats(2, 3), 1, noInt, noInt, 1),
			call("slice.Tensor", "every-second", floats(2, 3), -1, new(int64(-3)), new(int64(9)), 2),
			call("slice.Tensor", "none", floats(2, 3), 0, new(int64(2)), new(int64(1)), 1),
			call("expand", "rows", floats(1, 3), []int64{2, -1}, false),
			call("expand", "0-dim", floats(), []int64{2, 2}, false),
			call("expand", "unchanged", floats(2, 3), []int64{2, 3}, false),
		},
	)
}

func lists() []testCase {
	ts := list(floats(2), floats(3))
	return []testCase{
		call("cat", "two", list(floats(2, 3), floats(2, 1)), 1),
		call("cat", "one", list(floats(2, 3)), 0),
		call("cat", "empties", list(floats(0, 3), floats(0, 3)), -2),
		call("cat", "twice", list(read, floats(1, 3), read), 0),
		call("cat", "refused", list(), 0),
		call("unbind.int", "columns", floats(2, 3), 1),
		call("unbind.int", "none", floats(0, 3), 0),
		call("unbind_copy.int_out", "rows", floats(2, 3), 0, list(written(3), written(0))),
		call("_foreach_add.List", "two", list(floats(2, 3), floats()), list(floats(2, 3), floats()), 2.0),
		call("_foreach_add.List", "none", list(), list(), 2.0),
		call("_foreach_add.List", "same-list", ts, ts, 1.0),
	}
}
