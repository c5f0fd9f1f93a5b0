package samples

import "github.com/opassert/opassert/internal/testbed/c10"

func mutable() []testCase {
	return []testCase{
		call("_fused_moving_avg_obs_fq_helper", "observing", observer(ones(), ones())...),
		call("_fused_moving_avg_obs_fq_helper", "off", observer(ints(1, 1), ints(1, 1))...),
	}
}

// observer returns the arguments of _fused_moving_avg_obs_fq_helper.
func observer(observerOn, fakeQuantOn *description) []any {
	zeroPoint := elements([]int64{1}, c10.Int32, (*builder).apart, listed(0))
	return []any{floats(2, 3), observerOn, fakeQuantOn, written(1), written(1), ones(), zeroPoint, 0.1, 0, 255, 0, false, false}
}
