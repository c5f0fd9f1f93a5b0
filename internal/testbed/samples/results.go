package samples

import (
	"slices"

	"github.com/opassert/opassert/internal/testbed/c10"
)

func results() []testCase {
	values := without(meta)
	return slices.Concat(
		each([]variant{plain, meta},
			call("empty.memory_format", "matrix", []int64{2, 3}, new(c10.Int32), noLayout, device, noBool, new(c10.Contiguous)),
			call("empty.memory_format", "empty", []int64{0}, noDType, noLayout, device, noBool, noFormat),
		),
		[]testCase{
			call("sum.dim_IntList", "rows", floats(2, 3), []int64{1}, false, noDType),
			call("sum.dim_IntList", "both", floats(2, 3), []int64{0, -1}, true, noDType),
			call("sum.dim_IntList", "ints", ints(5, 2, 3), []int64{}, false, noDType),
			call("sum.dim_IntList", "0-dim", floats(), []int64{0}, false, noDType),
			call("sum.dim_IntList", "of-nothing", floats(2, 0), []int64{1}, false, noDType),
			call("aminmax", "rows", floats(2, 3), new(int64(1)), true),
			call("aminmax", "all", floats(2, 3), noInt, false),
			call("aminmax", "columns", floats(2, 3), new(int64(0)), false),
			call("aminmax", "last", floats(2, 3, 2), new(int64(-1)), false),
			call("aminmax", "0-dim", floats(), noInt, false),
			call("aminmax", "one-element", floats(1, 1), new(int64(1)), true),
			call("linear", "bias", background, floats(2, 3), floats(4, 3), floats(4)),
			call("linear", "no-bias", background, floats(2, 3), floats(4, 3), undefined),
			call("linear", "empty", background, floats(2, 0), floats(2, 0), undefined),
			call("linear", "twice", background, read, read, undefined),
			call("linear", "refused", background, floats(2, 3), floats(3, 2), undefined),
		},
		unary("clone", noFormat),
		each([]variant{plain}, call("clone", "sparse", coo, noFormat)),
		unary("lift"),
		unary("contiguous", c10.Contiguous),
		[]testCase{
			call("to.dtype", "other", floats(2, 3), c10.Int64, false, false, noFormat),
			call("to.dtype", "no-op", floats(2, 3), c10.Float32, false, false, noFormat),
			call("to.dtype", "no-op-copied", floats(0, 3), c10.Float32, false, true, noFormat),
			call("_local_scalar_dense", "0-dim", floats()).in(values...),
			call("equal", "same", floats(2, 3), floats(2, 3)).in(values...),
			call("equal", "empty", floats(0), floats(0)).in(values...),
		},
	)
}

func random() []testCase {
	return []testCase{
		call("dropout", "training", floats(2, 3), 0.5, true),
		call("dropout", "evaluation", floats(2, 3), 0.5, false),
		call("rrelu_with_noise", "training", floats(2, 3), written(2, 3), 0.1, 0.3, true, generator),
		call("rrelu_with_noise", "evaluation", floats(2, 3), written(2, 3), 0.1, 0.3, false, generator),
	}
}
