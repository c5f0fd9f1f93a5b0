package kernels

import "github.com/opassert/opassert/internal/testbed/c10"

// In-place views change sizes, strides and offset of their argument, and no byte of
// its storage.

//opassert:kernel t_
func TInPlace(self *c10.Tensor) *c10.Tensor { return geometryOf(self).t().impose(self) }

//opassert:kernel transpose_
func TransposeInPlace(self *c10.Tensor, dim0, dim1 int64) *c10.Tensor {
	return geometryOf(self).transpose(dim0, dim1).impose(self)
}

//opassert:kernel squeeze_
func SqueezeInPlace(self *c10.Tensor) *c10.Tensor {
	return geometryOf(self).squeezeAll().impose(self)
}

//opassert:kernel unsqueeze_
func UnsqueezeInPlace(self *c10.Tensor, dim int64) *c10.Tensor {
	return geometryOf(self).unsqueeze(dim).impose(self)
}

//opassert:kernel as_strided_
func AsStridedInPlace(self *c10.Tensor, size, stride []int64, storageOffset *int64) *c10.Tensor {
	return geometry{size, stride, offsetOr(storageOffset, self)}.impose(self)
}
