package samples

import "github.com/opassert/opassert/asserts/c10"

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

func lists() []testCase {
	return []testCase{
		{op: "cat", name: "two", args: func(b builder) []any { return []any{list(b.floats(2, 3), b.floats(2, 1)), int64(1)} }},
		{op: "cat", name: "one", args: func(b builder) []any { return []any{list(b.floats(2, 3)), int64(0)} }},
		{op: "cat", name: "empties", args: func(b builder) []any { return []any{list(b.floats(0, 3), b.floats(0, 3)), int64(-2)} }},
		{op: "cat", name: "twice", args: func(b builder) []any {
			x := b.floats(2, 3)
			return []any{list(x, b.floats(1, 3), x), int64(0)}
		}},
		{op: "cat", name: "refused", args: func(b builder) []any { return []any{list(), int64(0)} }},
		{op: "stack", name: "three", args: func(b builder) []any {
			return []any{list(b.floats(2, 3), b.floats(2, 3), b.floats(2, 3)), int64(-1)}
		}},
		{op: "stack", name: "0-dim", args: func(b builder) []any { return []any{list(b.floats(), b.floats()), int64(0)} }},
		{op: "stack", name: "twice", args: func(b builder) []any {
			x := b.floats(2)
			return []any{list(x, x), int64(0)}
		}},
		{op: "broadcast_tensors", name: "three", args: func(b builder) []any { return []any{list(b.floats(2, 1), b.floats(3), b.floats())} }},
		{op: "_foreach_add.List", name: "two", args: func(b builder) []any {
			return []any{list(b.floats(2, 3), b.floats()), list(b.floats(2, 3), b.floats()), 2.0}
		}},
		{op: "_foreach_add.List", name: "none", args: func(b builder) []any { return []any{list(), list(), 2.0} }},
		{op: "_foreach_add.List", name: "same-list", args: func(b builder) []any {
			ts := list(b.floats(2), b.floats(3))
			return []any{ts, ts, 1.0}
		}},
		{op: "_foreach_add_.List", name: "two", args: func(b builder) []any {
			return []any{list(b.written(2, 3), b.written(0)), list(b.floats(3), b.floats(0)), 2.0}
		}},
		{op: "_foreach_add_.List", name: "same-list", args: func(b builder) []any {
			ts := list(b.written(2), b.written(3))
			return []any{ts, ts, 1.0}
		}},
		{op: "_foreach_mul.Scalar", name: "three", args: func(b builder) []any {
			return []any{list(b.floats(2), b.floats(0), b.floats()), 3.0}
		}},
		{op: "_foreach_zero_", name: "two", args: func(b builder) []any { return []any{list(b.written(2), b.written())} }},
		{op: "_amp_foreach_non_finite_check_and_unscale_", name: "two", args: func(b builder) []any {
			return []any{list(b.written(2), b.written(2, 3)), b.written(1), b.ones()}
		}},
	}
}

// ones makes a tensor of one element, 1.
func (b builder) ones() *c10.Tensor {
	return b.tensor([]int64{1}, c10.Float32, []int64{1}, func(int64) float64 { return 1 })
}

// observer gives the arguments of _fused_moving_avg_obs_fq_helper.
func observer(b builder, observerOn, fakeQuantOn *c10.Tensor) []any {
	zeroPoint := b.tensor([]int64{1}, c10.Int32, []int64{1}, func(int64) float64 { return 0 })
	return []any{b.floats(2, 3), observerOn, fakeQuantOn, b.written(1), b.written(1), b.ones(), zeroPoint,
		0.1, int64(0), int64(255), int64(0), false, false}
}
