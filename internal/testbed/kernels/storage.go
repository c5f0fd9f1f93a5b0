package kernels

import "github.com/opassert/opassert/internal/testbed/c10"

// TInPlace changes sizes and strides, and no byte of the storage.
//
//opassert:kernel t_
func TInPlace(self *c10.Tensor) *c10.Tensor { return geometryOf(self).t().impose(self) }

//opassert:kernel resize_
func ResizeInPlace(self *c10.Tensor, size []int64, memoryFormat *c10.MemoryFormat) *c10.Tensor {
	self.Resize(size)
	self.MarkWritten()
	return self
}

//opassert:kernel set_.source_Tensor
func SetSourceTensorInPlace(self, source *c10.Tensor) *c10.Tensor {
	self.SetStorage(source)
	self.MarkWritten()
	return self
}
