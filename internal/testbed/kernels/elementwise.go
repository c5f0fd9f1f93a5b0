package kernels

import (
	"slices"

	"github.com/opassert/opassert/internal/testbed/c10"
)

func unary(self *c10.Tensor, f func(float64) float64) *c10.Tensor {
	return fill(c10.Empty(self.Sizes(), self.Options()), mapped(self, f))
}

func mapped(self *c10.Tensor, f func(float64) float64) []float64 {
	values := read(self)
	for i, v := range values {
		values[i] = f(v)
	}
	return values
}

func binary(self, other *c10.Tensor, f func(a, b float64) float64) *c10.Tensor {
	sizes := broadcastSizes(self.Sizes(), other.Sizes())
	return fill(c10.Empty(sizes, c10.Common(self, other)), zipped(self, other, sizes, f))
}

func zipped(self, other *c10.Tensor, sizes []int64, f func(a, b float64) float64) []float64 {
	values, others := readAs(self, sizes), readAs(other, sizes)
	for i := range values {
		values[i] = f(values[i], others[i])
	}
	return values
}

func plus(alpha float64) func(a, b float64) float64 {
	return func(a, b float64) float64 { return a + alpha*b }
}

func times(a, b float64) float64 { return a * b }

//opassert:kernel add.Tensor
func AddTensor(self, other *c10.Tensor, alpha float64) *c10.Tensor {
	if self.Layout() == c10.SparseCOO {
		return addSparse(self, other, alpha)
	}
	return binary(self, other, plus(alpha))
}

//opassert:kernel mul.Tensor
func MulTensor(self, other *c10.Tensor) *c10.Tensor { return binary(self, other, times) }

//opassert:kernel neg
func Neg(self *c10.Tensor) *c10.Tensor { return unary(self, func(v float64) float64 { return -v }) }

//opassert:kernel relu
func Relu(self *c10.Tensor) *c10.Tensor {
	return unary(self, func(v float64) float64 { return max(v, 0) })
}

//opassert:kernel clamp
func Clamp(self *c10.Tensor, min, max *float64) *c10.Tensor { return unary(self, clamped(min, max)) }

// clamped keeps a value within bounds; if they cross, it returns the upper one.
func clamped(low, high *float64) func(float64) float64 {
	c10.Check(low != nil || high != nil, "clamp needs a bound")
	return func(v float64) float64 {
		if low != nil && v < *low {
			v = *low
		}
		if high != nil && v > *high {
			v = *high
		}
		return v
	}
}

// broadcastSizes returns the sizes that both expand to.
//
// Source: aten/src/ATen/ExpandUtils.cpp, infer_size.
func broadcastSizes(a, b []int64) []int64 {
	if len(a) < len(b) {
		a, b = b, a
	}
	sizes := slices.Clone(a)
	for i, n := range b {
		d := len(a) - len(b) + i
		c10.Check(a[d] == n || a[d] == 1 || n == 1, "sizes %v and %v do not broadcast", a, b)
		if a[d] == 1 {
			sizes[d] = n
		}
	}
	return sizes
}

func readAs(t *c10.Tensor, sizes []int64) []float64 {
	view := Expand(t, sizes, false)
	defer view.Release()
	return read(view)
}
