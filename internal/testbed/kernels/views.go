package kernels

import (
	"math"
	"slices"

	"github.com/opassert/opassert/internal/testbed/c10"
)

// View takes elements that are contiguous, or sizes that stay; PyTorch finds strides in more cases.
//
//opassert:kernel view
func View(self *c10.Tensor, size []int64) *c10.Tensor {
	sizes := inferSizes(size, self.Numel())
	if slices.Equal(sizes, self.Sizes()) {
		return self.Alias()
	}
	c10.Check(self.IsContiguous(), "sizes %v, strides %v cannot be viewed as %v; use reshape", self.Sizes(),
		self.Strides(), size)
	return geometry{sizes, c10.ContiguousStrides(sizes), self.Offset()}.view(self)
}

//opassert:kernel detach
func Detach(self *c10.Tensor) *c10.Tensor { return self.Alias() }

//opassert:kernel t
func T(self *c10.Tensor) *c10.Tensor { return geometryOf(self).t().view(self) }

//opassert:kernel select.int
func SelectInt(self *c10.Tensor, dim, index int64) *c10.Tensor {
	return geometryOf(self).selected(dim, index).view(self)
}

//opassert:kernel slice.Tensor
func SliceTensor(self *c10.Tensor, dim int64, start, end *int64, step int64) *c10.Tensor {
	from, to := int64(0), int64(math.MaxInt64)
	if start != nil {
		from = *start
	}
	if end != nil {
		to = *end
	}
	return geometryOf(self).slice(dim, from, to, step).view(self)
}

//opassert:kernel expand
func Expand(self *c10.Tensor, size []int64, implicit bool) *c10.Tensor {
	return geometryOf(self).expand(size).view(self)
}
