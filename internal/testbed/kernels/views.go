package kernels

import (
	"math"
	"slices"

	"github.com/opassert/opassert/internal/testbed/c10"
)

//opassert:kernel view
func View(self *c10.Tensor, size []int64) *c10.Tensor {
	g, ok := geometryOf(self).reshape(inferSizes(size, self.Numel()))
	c10.Check(ok, "sizes %v, strides %v cannot be viewed as %v; use reshape", self.Sizes(), self.Strides(), size)
	return g.view(self)
}

//opassert:kernel _reshape_alias
func ReshapeAlias(self *c10.Tensor, size, stride []int64) *c10.Tensor {
	return self.AsStrided(size, stride, self.Offset())
}

//opassert:kernel as_strided
func AsStrided(self *c10.Tensor, size, stride []int64, storageOffset *int64) *c10.Tensor {
	return self.AsStrided(size, stride, offsetOr(storageOffset, self))
}

func offsetOr(offset *int64, self *c10.Tensor) int64 {
	if offset != nil {
		return *offset
	}
	return self.Offset()
}

//opassert:kernel alias
func Alias(self *c10.Tensor) *c10.Tensor { return self.Alias() }

//opassert:kernel detach
func Detach(self *c10.Tensor) *c10.Tensor { return self.Alias() }

//opassert:kernel transpose.int
func TransposeInt(self *c10.Tensor, dim0, dim1 int64) *c10.Tensor {
	return geometryOf(self).transpose(dim0, dim1).view(self)
}

//opassert:kernel t
func T(self *c10.Tensor) *c10.Tensor { return geometryOf(self).t().view(self) }

//opassert:kernel permute
func Permute(self *c10.Tensor, dims []int64) *c10.Tensor {
	return geometryOf(self).permute(dims).view(self)
}

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

// Narrow is composite: it is a slice.
//
//opassert:kernel narrow
func Narrow(self *c10.Tensor, dim, start, length int64) *c10.Tensor {
	end := start + length
	c10.Check(start >= 0 && length >= 0 && end <= self.Size(dim), "narrow from %d by %d of %d", start, length, self.Size(dim))
	return SliceTensor(self, dim, &start, &end, 1)
}

//opassert:kernel expand
func Expand(self *c10.Tensor, size []int64, implicit bool) *c10.Tensor {
	return geometryOf(self).expand(size).view(self)
}

//opassert:kernel squeeze
func Squeeze(self *c10.Tensor) *c10.Tensor { return geometryOf(self).squeezeAll().view(self) }

//opassert:kernel squeeze.dim
func SqueezeDim(self *c10.Tensor, dim int64) *c10.Tensor {
	return geometryOf(self).squeeze(dim).view(self)
}

//opassert:kernel unsqueeze
func Unsqueeze(self *c10.Tensor, dim int64) *c10.Tensor {
	return geometryOf(self).unsqueeze(dim).view(self)
}

//opassert:kernel diagonal
func Diagonal(self *c10.Tensor, offset, dim1, dim2 int64) *c10.Tensor {
	return geometryOf(self).diagonal(offset, dim1, dim2).view(self)
}

//opassert:kernel view_as_real
func ViewAsReal(self *c10.Tensor) *c10.Tensor {
	c10.Check(self.DType() == c10.Complex64, "view_as_real of %v", self.DType())
	sizes := append(slices.Clone(self.Sizes()), 2)
	strides := append(scaled(self.Strides(), 2), 1)
	return self.AsStridedDType(c10.Float32, sizes, strides, 2*self.Offset())
}

func scaled(values []int64, by int64) []int64 {
	out := slices.Clone(values)
	for i := range out {
		out[i] *= by
	}
	return out
}

//opassert:kernel view_as_complex
func ViewAsComplex(self *c10.Tensor) *c10.Tensor {
	last := len(self.Sizes()) - 1
	c10.Check(self.DType() == c10.Float32, "view_as_complex of %v", self.DType())
	c10.Check(last >= 0 && self.Sizes()[last] == 2 && self.Strides()[last] == 1, "the last dimension is not a pair side by side")
	strides := slices.Clone(self.Strides()[:last])
	for i, s := range strides {
		c10.Check(s%2 == 0, "a stride of %d splits pairs", s)
		strides[i] = s / 2
	}
	c10.Check(self.Offset()%2 == 0, "an offset of %d splits pairs", self.Offset())
	return self.AsStridedDType(c10.Complex64, self.Sizes()[:last], strides, self.Offset()/2)
}
