package kernels

import (
	"math"

	"github.com/opassert/opassert/internal/testbed/c10"
)

// FusedMovingAvgObsFqHelper watches the range of a tensor, derives scale and
// zero point, and rounds the tensor to them. It works on the whole tensor, not
// by row.
//
//opassert:kernel _fused_moving_avg_obs_fq_helper
func FusedMovingAvgObsFqHelper(self, observerOn, fakeQuantOn, runningMin, runningMax, scale, zeroPoint *c10.Tensor,
	averagingConst float64, quantMin, quantMax, chAxis int64, perRowFakeQuant, symmetricQuant bool) (output, mask *c10.Tensor) {
	c10.Check(!perRowFakeQuant && !symmetricQuant, "fake quantization by row, or symmetric, is not implemented")
	low, high := float64(quantMin), float64(quantMax)
	if observerOn.Int(0) != 0 {
		lowest, highest := Aminmax(self, nil, false)
		defer releaseAll([]*c10.Tensor{lowest, highest})
		moveTowards(runningMin, lowest.Float(0), averagingConst)
		moveTowards(runningMax, highest.Float(0), averagingConst)
		bottom, top := min(runningMin.Float(0), 0), max(runningMax.Float(0), 0)
		step := max((top-bottom)/(high-low), 1e-9)
		overwrite(scale, []float64{step})
		overwrite(zeroPoint, []float64{min(max(low-math.RoundToEven(bottom/step), low), high)})
	}
	output = c10.Empty(self.Sizes(), self.Options())
	mask = c10.Full(self.Sizes(), 1, self.Options().With(c10.Bool))
	values := read(self)
	if fakeQuantOn.Int(0) != 0 {
		step, zero := scale.Float(0), zeroPoint.Float(0)
		steps := float64(float32(1 / step))
		for i, v := range values {
			q := math.RoundToEven(v*steps) + zero
			mask.SetFloat(int64(i), number(low <= q && q <= high))
			values[i] = (min(max(q, low), high) - zero) * step
		}
	}
	return fill(output, values), mask
}

func moveTowards(running *c10.Tensor, now, by float64) {
	then := running.Float(0)
	if math.IsInf(then, 0) {
		then = now
	}
	overwrite(running, []float64{then + by*(now-then)})
}
