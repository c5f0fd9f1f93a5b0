package samples

import (
	"slices"

	"github.com/opassert/opassert/internal/c10"
)

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
