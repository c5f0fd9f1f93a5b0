package samples

import (
	"slices"

	"github.com/opassert/opassert/internal/c10"
)

func factories() []testCase {
	return slices.Concat(
		only([]sort{plain, meta},
			testCase{op: "empty.memory_format", name: "matrix", args: func(b builder) []any {
				return []any{[]int64{2, 3}, ptr(c10.Int32), noLayout, b.device(), noBool, ptr(c10.Contiguous)}
			}},
			testCase{op: "empty.memory_format", name: "empty", args: func(b builder) []any {
				return []any{[]int64{0}, noDType, noLayout, b.device(), noBool, noFormat}
			}},
			testCase{op: "empty_strided", name: "columns", args: func(b builder) []any {
				return []any{[]int64{2, 3}, []int64{1, 2}, noDType, noLayout, b.device(), noBool}
			}},
			testCase{op: "zeros", name: "matrix", args: func(b builder) []any {
				return []any{[]int64{2, 3}, noDType, noLayout, b.device(), noBool}
			}},
			testCase{op: "zeros", name: "0-dim", args: func(b builder) []any {
				return []any{[]int64{}, ptr(c10.Bool), ptr(c10.Strided), b.device(), ptr(false)}
			}},
			testCase{op: "ones", name: "empty", args: func(b builder) []any {
				return []any{[]int64{0, 2}, noDType, noLayout, b.device(), noBool}
			}},
			testCase{op: "full", name: "vector", args: func(b builder) []any {
				return []any{[]int64{4}, 7.0, ptr(c10.Uint8), noLayout, b.device(), noBool}
			}},
			testCase{op: "scalar_tensor", name: "double", args: func(b builder) []any {
				return []any{0.1, ptr(c10.Float64), noLayout, b.device(), noBool}
			}},
			testCase{op: "arange", name: "five", args: func(b builder) []any {
				return []any{4.5, noDType, noLayout, b.device(), noBool}
			}},
			testCase{op: "arange.start", name: "none", args: func(b builder) []any {
				return []any{2.0, 2.0, noDType, noLayout, b.device(), noBool}
			}},
			testCase{op: "eye", name: "three", args: func(b builder) []any {
				return []any{int64(3), noDType, noLayout, b.device(), noBool}
			}},
		),
		unary("empty_like", noDType, noLayout, (*c10.Device)(nil), noBool, noFormat),
		unary("zeros_like", ptr(c10.Int64), noLayout, (*c10.Device)(nil), noBool, noFormat),
	)
}
