package samples

import "slices"

// binaryOut returns the cases of an op that writes the result of two tensors
// into a third; before is the arguments between them.
func binaryOut(op string, before ...any) []testCase {
	triple := func(name string, sizes, out []int64) testCase {
		return testCase{op: op, name: name, args: func(b builder) []any {
			return append(append([]any{b.floats(sizes...), b.floats(sizes...)}, before...), b.written(out...))
		}}
	}
	return []testCase{
		triple("matrix", []int64{2, 3}, []int64{2, 3}),
		triple("resized", []int64{2, 3}, []int64{0}),
		triple("empty", []int64{0}, []int64{0}),
		triple("0-dim", nil, nil),
		{op: op, name: "out-is-self", args: func(b builder) []any {
			x := b.written(2, 3)
			return append(append([]any{x, b.floats(2, 3)}, before...), x)
		}},
	}
}

func out() []testCase {
	return slices.Concat(
		binaryOut("add.out", 2.0),
		binaryOut("mul.out"),
		[]testCase{
			{op: "abs.out", name: "matrix", args: func(b builder) []any { return []any{b.floats(2, 3), b.written(2, 3)} }},
			{op: "abs.out", name: "resized", args: func(b builder) []any { return []any{b.floats(2, 3), b.written(0)} }},
			{op: "abs.out", name: "out-is-self", args: func(b builder) []any {
				x := b.written(2, 3)
				return []any{x, x}
			}},
			{op: "sum.IntList_out", name: "rows", args: func(b builder) []any {
				return []any{b.floats(2, 3), []int64{1}, false, noDType, b.written(2)}
			}},
			{op: "sum.IntList_out", name: "all", args: func(b builder) []any {
				return []any{b.floats(2, 3), []int64(nil), false, noDType, b.written()}
			}},
			{op: "cat.out", name: "two", args: func(b builder) []any {
				return []any{list(b.floats(2, 3), b.floats(1, 3)), int64(0), b.written(3, 3)}
			}},
			{op: "cat.out", name: "resized", args: func(b builder) []any { return []any{list(b.floats(2, 3)), int64(1), b.written(0)} }},
			{op: "max.dim_max", name: "rows", args: func(b builder) []any {
				return []any{b.floats(2, 3), int64(1), false, b.written(2), b.outInts(2)}
			}},
			{op: "max.dim_max", name: "resized", args: func(b builder) []any {
				return []any{b.floats(2, 3), int64(0), true, b.written(0), b.outInts(0)}
			}},
			{op: "sort.values", name: "rows", args: func(b builder) []any {
				return []any{b.floats(2, 3), int64(-1), true, b.written(2, 3), b.outInts(2, 3)}
			}},
			{op: "sort.values", name: "into-itself", args: func(b builder) []any {
				x := b.written(2, 3)
				return []any{x, int64(-1), false, x, b.outInts(2, 3)}
			}},
			{op: "aminmax.out", name: "rows", args: func(b builder) []any {
				return []any{b.floats(2, 3), ptr(int64(1)), false, b.written(2), b.written(2)}
			}},
			{op: "aminmax.out", name: "all", args: func(b builder) []any {
				return []any{b.floats(2, 3), noInt, false, b.written(), b.written()}
			}},
			{op: "arange.start_out", name: "up", args: func(b builder) []any { return []any{1.0, 8.0, 2.0, b.written(4)} }},
			{op: "arange.start_out", name: "resized", args: func(b builder) []any { return []any{5.0, 0.0, -1.0, b.written(0)} }},
		},
	)
}
