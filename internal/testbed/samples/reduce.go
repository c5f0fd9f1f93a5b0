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
			call("aminmax", "rows", floats(2, 3), ptr(int64(1)), true),
			call("aminmax", "all", floats(2, 3), noInt, false),
		},
	)
}
