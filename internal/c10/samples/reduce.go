package samples

import "slices"

func reductions() []testCase {
	dims := []int64{1}
	return slices.Concat(
		unary("sum", noDType),
		[]testCase{
			call("sum", "ints", ints(5, 2, 3), noDType),
			call("sum.dim_IntList", "rows", floats(2, 3), dims, false, noDType),
			call("sum.dim_IntList", "both", floats(2, 3), []int64{0, -1}, true, noDType),
			call("sum.dim_IntList", "0-dim", floats(), []int64{0}, false, noDType),
			call("sum.dim_IntList", "of-nothing", floats(2, 0), dims, false, noDType),
			call("amax", "rows", floats(2, 3), dims, true),
			call("amax", "all", floats(2, 3), []int64{}, false),
			call("argmax", "rows", floats(2, 3), ptr(int64(1)), false),
			call("argmax", "all", floats(2, 3), noInt, false),
			call("max.dim", "rows", floats(2, 3), 1, false),
			call("max.dim", "columns", floats(2, 3), 0, true),
			call("max.dim", "0-dim", floats(), -1, false),
			call("max.dim", "empty", floats(0, 3), 1, false),
			call("aminmax", "rows", floats(2, 3), ptr(int64(1)), true),
			call("aminmax", "all", floats(2, 3), noInt, false),
			call("var_mean.correction", "rows", floats(2, 3), dims, noFloat, false),
			call("var_mean.correction", "all", floats(2, 3), []int64(nil), ptr(0.0), false),
			call("cumsum", "rows", floats(2, 3), 1, noDType),
			call("cumsum", "0-dim", floats(), 0, noDType),
			call("cumsum", "empty", floats(0, 3), 0, noDType),
			call("_softmax", "rows", floats(2, 3), 1, false),
			call("_softmax", "empty", floats(2, 0), 1, false),
			call("topk", "two", floats(2, 3), 2, 1, true, true),
			call("topk", "none", floats(2, 3), 0, 0, false, true),
		},
	)
}
