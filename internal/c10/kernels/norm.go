package kernels

import (
	"math"

	"github.com/opassert/opassert/internal/c10"
)

// valueOr reads an element of a tensor that may be undefined.
func valueOr(t *c10.Tensor, i int64, undefined float64) float64 {
	if t == nil {
		return undefined
	}
	return t.Float(i)
}

//opassert:kernel native_layer_norm
func NativeLayerNorm(input *c10.Tensor, normalizedShape []int64, weight, bias *c10.Tensor, eps float64) (*c10.Tensor, *c10.Tensor, *c10.Tensor) {
	dims := len(input.Sizes()) - len(normalizedShape)
	c10.Check(dims >= 0 && equalSizes(input.Sizes()[dims:], normalizedShape), "%v does not end in %v", input.Sizes(), normalizedShape)
	outer := append([]int64(nil), input.Sizes()[:dims]...)
	for range normalizedShape {
		outer = append(outer, 1)
	}
	n := c10.Numel(normalizedShape)
	out := c10.Empty(input.Sizes(), input.Options())
	mean, rstd := c10.Empty(outer, input.Options()), c10.Empty(outer, input.Options())
	for row := range mean.Numel() {
		l := line{start: row * n, step: 1, n: n}
		values := l.read(input)
		m, r := average(values), 1/math.Sqrt(squaredDeviation(values)/float64(n)+eps)
		for k, v := range values {
			values[k] = (v-m)*r*valueOr(weight, int64(k), 1) + valueOr(bias, int64(k), 0)
		}
		l.write(out, values)
		mean.SetFloat(row, m)
		rstd.SetFloat(row, r)
	}
	return out, mean, rstd
}

// NativeBatchNormLegit moves the running statistics in training, and uses them
// otherwise. Channels are dimension 1.
//
//opassert:kernel _native_batch_norm_legit
func NativeBatchNormLegit(input, weight, bias, runningMean, runningVar *c10.Tensor, training bool, momentum, eps float64) (*c10.Tensor, *c10.Tensor, *c10.Tensor) {
	c10.Check(input.Dim() >= 2, "batch norm of %v", input.Sizes())
	channels := input.Size(1)
	saved := int64(0)
	if training {
		saved = channels
	}
	out := c10.Empty(input.Sizes(), input.Options())
	mean, rstd := c10.Empty([]int64{saved}, input.Options()), c10.Empty([]int64{saved}, input.Options())
	for c := range channels {
		from, to := SelectInt(input, 1, c), SelectInt(out, 1, c)
		m, v := runningMean.Float(c), runningVar.Float(c)
		if training {
			values := read(from)
			n := float64(len(values))
			m, v = average(values), squaredDeviation(values)/n
			runningMean.SetFloat(c, (1-momentum)*runningMean.Float(c)+momentum*m)
			runningVar.SetFloat(c, (1-momentum)*runningVar.Float(c)+momentum*v*n/(n-1))
			mean.SetFloat(c, m)
			rstd.SetFloat(c, 1/math.Sqrt(v+eps))
		}
		fill(to, mapped(from, func(x float64) float64 {
			return (x-m)/math.Sqrt(v+eps)*valueOr(weight, c, 1) + valueOr(bias, c, 0)
		}))
		releaseAll([]*c10.Tensor{from, to})
	}
	if training {
		runningMean.MarkWritten()
		runningVar.MarkWritten()
	}
	return out, mean, rstd
}
