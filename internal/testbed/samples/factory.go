package samples

import (
	"slices"

	"github.com/opassert/opassert/internal/testbed/c10"
)

func factories() []testCase {
	return slices.Concat(
		each([]variant{plain, meta},
			call("empty.memory_format", "matrix", []int64{2, 3}, ptr(c10.Int32), noLayout, device, noBool, ptr(c10.Contiguous)),
			call("empty.memory_format", "empty", []int64{0}, noDType, noLayout, device, noBool, noFormat),
			call("empty_strided", "columns", []int64{2, 3}, []int64{1, 2}, noDType, noLayout, device, noBool),
			call("zeros", "matrix", []int64{2, 3}, noDType, noLayout, device, noBool),
			call("zeros", "0-dim", []int64{}, ptr(c10.Bool), ptr(c10.Strided), device, ptr(false)),
			call("full", "vector", []int64{4}, 7.0, ptr(c10.Uint8), noLayout, device, noBool),
			call("arange.start", "none", 2.0, 2.0, noDType, noLayout, device, noBool),
			call("eye", "three", 3, noDType, noLayout, device, noBool),
		),
		unary("empty_like", noDType, noLayout, noDevice, noBool, noFormat),
	)
}
