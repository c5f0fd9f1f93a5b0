package samples

import "github.com/opassert/opassert/internal/c10"

func mutable() []testCase {
	return []testCase{
		{op: "_cummax_helper", name: "rows", args: func(b builder) []any {
			return []any{b.floats(2, 3), b.written(2, 3), b.outInts(2, 3), int64(1)}
		}},
		{op: "_fused_moving_avg_obs_fq_helper", name: "observing", args: func(b builder) []any {
			return observer(b, b.ones(), b.ones())
		}},
		{op: "_fused_moving_avg_obs_fq_helper", name: "off", args: func(b builder) []any {
			return observer(b, b.ints(1, 1), b.ints(1, 1))
		}},
	}
}

// observer returns the arguments of _fused_moving_avg_obs_fq_helper.
func observer(b builder, observerOn, fakeQuantOn *c10.Tensor) []any {
	zeroPoint := b.tensor([]int64{1}, c10.Int32, []int64{1}, func(int64) float64 { return 0 })
	return []any{b.floats(2, 3), observerOn, fakeQuantOn, b.written(1), b.written(1), b.ones(), zeroPoint,
		0.1, int64(0), int64(255), int64(0), false, false}
}
