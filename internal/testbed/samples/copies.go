package samples

import (
	"slices"

	"github.com/opassert/opassert/internal/testbed/c10"
)

func copies() []testCase {
	return slices.Concat(
		unary("clone", noFormat),
		each([]variant{plain},
			call("clone", "sparse", coo, noFormat),
			call("clone", "csr", csr, noFormat),
		),
		unary("lift"),
		unary("contiguous", c10.Contiguous),
		[]testCase{
			call("to.dtype", "other", floats(2, 3), c10.Int64, false, false, noFormat),
			call("to.dtype", "no-op", floats(2, 3), c10.Float32, false, false, noFormat),
			call("to.dtype", "no-op-copied", floats(0, 3), c10.Float32, false, true, noFormat),
			call("reshape", "flat", floats(2, 3), []int64{6}),
			call("reshape", "unchanged", floats(2, 3), []int64{2, -1}),
			call("reshape", "empty", floats(0, 3), []int64{0}),
			call("reshape", "0-dim", floats(), []int64{1, 1}),
		},
	)
}
