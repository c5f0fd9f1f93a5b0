package kernels

import (
	"math"
	"slices"

	"github.com/opassert/opassert/internal/slicesx"
	"github.com/opassert/opassert/internal/testbed/c10"
)

//opassert:kernel cat
func Cat(tensors []*c10.Tensor, dim int64) (*c10.Tensor, error) {
	if len(tensors) == 0 {
		return nil, c10.Errorf("cat of no tensors")
	}
	first := tensors[0]
	if first.Dim() == 0 {
		return nil, c10.Errorf("cat of 0-dim tensors; stack them")
	}
	d := c10.WrapDim(dim, first.Dim())
	sizes := slices.Clone(first.Sizes())
	for _, t := range tensors[1:] {
		if !equalButFor(d, t.Sizes(), sizes) {
			return nil, c10.Errorf("cat of %v and %v along dimension %d", first.Sizes(), t.Sizes(), d)
		}
		sizes[d] += t.Size(d)
	}
	out := c10.Empty(sizes, c10.Common(tensors...))
	start := int64(0)
	for _, t := range tensors {
		part := Narrow(out, d, start, t.Size(d))
		copyElements(part, t)
		part.Release()
		start += t.Size(d)
	}
	return out, nil
}

func equalButFor(d int64, a, b []int64) bool {
	return len(a) == len(b) && equalSizes(a[:d], b[:d]) && equalSizes(a[d+1:], b[d+1:])
}

// BroadcastTensors is composite: it returns views.
//
//opassert:kernel broadcast_tensors
func BroadcastTensors(tensors []*c10.Tensor) []*c10.Tensor {
	sizes := broadcastSizes(tensors...)
	return slicesx.Map(tensors, func(t *c10.Tensor) *c10.Tensor { return Expand(t, sizes, false) })
}

func checkPairs(a, b []*c10.Tensor) {
	c10.Check(len(a) == len(b), "lists of %d and of %d tensors", len(a), len(b))
}

//opassert:kernel _foreach_add.List
func ForeachAddList(self, other []*c10.Tensor, alpha float64) []*c10.Tensor {
	checkPairs(self, other)
	out := make([]*c10.Tensor, len(self))
	for i, t := range self {
		out[i] = AddTensor(t, other[i], alpha)
	}
	return out
}

//opassert:kernel _foreach_add_.List
func ForeachAddListInPlace(self, other []*c10.Tensor, alpha float64) {
	checkPairs(self, other)
	for i, t := range self {
		AddTensorInPlace(t, other[i], alpha)
	}
}

//opassert:kernel _foreach_mul.Scalar
func ForeachMulScalar(self []*c10.Tensor, scalar float64) []*c10.Tensor {
	return slicesx.Map(self, func(t *c10.Tensor) *c10.Tensor { return unary(t, func(v float64) float64 { return v * scalar }) })
}

//opassert:kernel _foreach_zero_
func ForeachZeroInPlace(self []*c10.Tensor) {
	for _, t := range self {
		ZeroInPlace(t)
	}
}

//opassert:kernel _amp_foreach_non_finite_check_and_unscale_
func AmpForeachNonFiniteCheckAndUnscaleInPlace(self []*c10.Tensor, foundInf, invScale *c10.Tensor) {
	scale, found := invScale.Float(0), foundInf.Float(0)
	for _, t := range self {
		for _, v := range read(t) {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				found = 1
			}
		}
		overwrite(t, mapped(t, func(v float64) float64 { return v * scale }))
	}
	overwrite(foundInf, []float64{found})
}
