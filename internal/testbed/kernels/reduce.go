package kernels

import (
	"context"
	"fmt"
	"slices"

	"github.com/opassert/opassert/internal/slicesx"
	"github.com/opassert/opassert/internal/tensor"
	"github.com/opassert/opassert/internal/testbed/c10"
)

// reduce computes a tensor with one element for each group that differs only in the given dimensions; none means all.
func reduce(self *c10.Tensor, dims []int64, keepdim bool, o c10.TensorOptions, f func([]float64) float64) *c10.Tensor {
	sizes, groups := grouped(self, dims)
	out := fill(c10.Empty(sizes, o), slicesx.Map(groups, f))
	if !keepdim {
		dropDims(out, reduced(self, dims))
	}
	return out
}

func reduced(self *c10.Tensor, dims []int64) []bool {
	gone := make([]bool, self.Dim())
	for d := range gone {
		gone[d] = len(dims) == 0
	}
	for _, dim := range dims {
		if d := c10.WrapDim(dim, self.Dim()); self.Dim() > 0 {
			c10.Check(!gone[d], "dimension %d is reduced twice", d)
			gone[d] = true
		}
	}
	return gone
}

// grouped returns the sizes after reducing, with reduced dimensions as 1, and the values reduced to each element.
func grouped(self *c10.Tensor, dims []int64) ([]int64, [][]float64) {
	sizes := slices.Clone(self.Sizes())
	for d, gone := range reduced(self, dims) {
		if gone {
			sizes[d] = 1
		}
	}
	strides := geometry{sizes: sizes, strides: c10.ContiguousStrides(sizes)}.expand(self.Sizes())
	groups := make([][]float64, c10.Numel(sizes))
	for i, v := range read(self) {
		at := tensor.Position(int64(i), strides.sizes, strides.strides, strides.offset)
		groups[at] = append(groups[at], v)
	}
	return sizes, groups
}

func dropDims(t *c10.Tensor, gone []bool) {
	g := geometryOf(t)
	for d := len(gone) - 1; d >= 0; d-- {
		if gone[d] {
			g = g.drop(int64(d))
		}
	}
	g.impose(t)
}

func total(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum
}

func sumOptions(self *c10.Tensor, dtype *c10.DType) c10.TensorOptions {
	o := self.Options()
	switch {
	case dtype != nil:
		o.DType = *dtype
	case !o.DType.IsFloat():
		o.DType = c10.Int64
	}
	return o
}

//opassert:kernel sum.dim_IntList
func SumDimIntList(self *c10.Tensor, dim []int64, keepdim bool, dtype *c10.DType) *c10.Tensor {
	return reduce(self, dim, keepdim, sumOptions(self, dtype), total)
}

//opassert:kernel aminmax
func Aminmax(self *c10.Tensor, dim *int64, keepdim bool) (min, max *c10.Tensor) {
	var dims []int64
	if dim != nil {
		dims = append(dims, *dim)
	}
	return reduce(self, dims, keepdim, self.Options(), extreme(slices.Min)),
		reduce(self, dims, keepdim, self.Options(), extreme(slices.Max))
}

func extreme(of func([]float64) float64) func([]float64) float64 {
	return func(group []float64) float64 {
		c10.Check(len(group) > 0, "the extremes of no elements")
		return of(group)
	}
}

//opassert:kernel _local_scalar_dense
func LocalScalarDense(self *c10.Tensor) float64 {
	checkValues(self, "item")
	c10.Check(self.Numel() == 1, "one value of a tensor of %d", self.Numel())
	return self.Float(0)
}

//opassert:kernel equal
func Equal(self, other *c10.Tensor) bool {
	checkValues(self, "equal")
	if !slices.Equal(self.Sizes(), other.Sizes()) {
		return false
	}
	for i := range self.Numel() {
		if self.Float(i) != other.Float(i) {
			return false
		}
	}
	return true
}

// checkValues rejects a meta tensor, as the result depends on values.
func checkValues(t *c10.Tensor, op string) {
	c10.Check(!t.IsMeta(), "%s depends on values, and a meta tensor has none", op)
}

// Linear is composite: a product with the transposed weight, and the bias. It stops between rows when ctx is done.
//
//opassert:kernel linear
func Linear(ctx context.Context, input, weight, bias *c10.Tensor) (*c10.Tensor, error) {
	if input.Dim() != 2 || weight.Dim() != 2 || input.Size(1) != weight.Size(1) {
		return nil, c10.Errorf("sizes %v do not multiply with weights of sizes %v", input.Sizes(), weight.Sizes())
	}
	n, inner, m := input.Size(0), input.Size(1), weight.Size(0)
	out := c10.Empty([]int64{n, m}, c10.Common(input, weight))
	for i := range n {
		if err := ctx.Err(); err != nil {
			out.Release()
			return nil, fmt.Errorf("matrix product: %w", err)
		}
		for j := range m {
			sum := 0.0
			for k := range inner {
				sum += input.Float(i*inner+k) * weight.Float(j*inner+k)
			}
			out.SetFloat(i*m+j, sum)
		}
	}
	if bias == nil {
		return out, nil
	}
	return fill(out, zipped(out, bias, out.Sizes(), plus(1))), nil
}
