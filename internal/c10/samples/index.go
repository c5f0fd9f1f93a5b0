package samples

import "github.com/opassert/opassert/internal/c10"

func indices() []testCase {
	values := without(meta)
	return []testCase{
		{op: "index.Tensor", name: "rows", args: func(b builder) []any { return []any{b.floats(2, 3), list(b.ints(2, 4))} }},
		{op: "index.Tensor", name: "whole-then-columns", args: func(b builder) []any {
			return []any{b.floats(2, 3), list(undefined, b.ints(3, 2, 2))}
		}},
		{op: "index.Tensor", name: "points", args: func(b builder) []any { return []any{b.floats(2, 3), list(b.ints(2, 2), b.ints(3, 1))} }},
		{op: "index.Tensor", name: "apart", args: func(b builder) []any {
			return []any{b.floats(2, 3, 2), list(b.ints(2, 2), undefined, b.ints(2, 2))}
		}},
		{op: "index.Tensor", name: "mask", in: values, args: func(b builder) []any { return []any{b.floats(2, 3), list(b.bools(2, 3))} }},
		{op: "index.Tensor", name: "empty", args: func(b builder) []any { return []any{b.floats(2, 3), list(b.ints(2, 0))} }},
		{op: "index.Tensor", name: "same-index-twice", args: func(b builder) []any {
			i := b.ints(2, 2)
			return []any{b.floats(2, 2), list(i, i)}
		}},
		{op: "index.Tensor", name: "refused", in: values, args: func(b builder) []any { return []any{b.floats(2, 3), list(b.ints(9, 9))} }},
		{op: "index_put_", name: "rows", args: func(b builder) []any {
			return []any{b.written(2, 3), list(b.ints(2, 2)), b.floats(3), false}
		}},
		{op: "index_put_", name: "accumulated", args: func(b builder) []any {
			return []any{b.written(2, 3), list(undefined, b.ints(3, 4)), b.floats(), true}
		}},
		{op: "index_put_", name: "mask", in: values, args: func(b builder) []any {
			return []any{b.written(2, 3), list(b.bools(2)), b.floats(), false}
		}},
		{op: "index_put_", name: "refused", in: values, args: func(b builder) []any {
			return []any{b.written(2, 3), list(b.ints(9, 9)), b.floats(), false}
		}},
		{op: "index_add_", name: "rows", args: func(b builder) []any {
			return []any{b.written(2, 3), int64(0), b.ints(2, 3), b.floats(3, 3), 2.0}
		}},
		{op: "gather", name: "columns", args: func(b builder) []any {
			return []any{b.floats(2, 3), int64(1), b.ints(3, 2, 2), false}
		}},
		{op: "gather", name: "empty", args: func(b builder) []any { return []any{b.floats(2, 3), int64(1), b.ints(3, 2, 0), false} }},
		{op: "nonzero", name: "matrix", in: values, args: func(b builder) []any { return []any{b.floats(2, 3)} }},
		{op: "nonzero", name: "0-dim", in: values, args: func(b builder) []any { return []any{b.floats()} }},
		{op: "masked_select", name: "broadcast", in: values, args: func(b builder) []any { return []any{b.floats(2, 3), b.bools(3)} }},
		{op: "masked_select", name: "empty", in: values, args: func(b builder) []any { return []any{b.floats(0), b.bools(0)} }},
		{op: "embedding", name: "table", args: func(b builder) []any {
			return []any{b.floats(4, 3), b.ints(4, 2, 2), int64(-1), false, false}
		}},
		{op: "embedding", name: "refused", args: func(b builder) []any {
			return []any{b.floats(4), b.ints(4, 2), int64(-1), false, false}
		}},
	}
}

// ones makes a tensor of one element, 1.
func (b builder) ones() *c10.Tensor {
	return b.tensor([]int64{1}, c10.Float32, []int64{1}, func(int64) float64 { return 1 })
}
