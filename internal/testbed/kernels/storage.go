package kernels

import "github.com/opassert/opassert/internal/testbed/c10"

//opassert:kernel resize_
func ResizeInPlace(self *c10.Tensor, size []int64, memoryFormat *c10.MemoryFormat) *c10.Tensor {
	self.Resize(size)
	self.MarkWritten()
	return self
}

//opassert:kernel resize_as_
func ResizeAsInPlace(self, theTemplate *c10.Tensor, memoryFormat *c10.MemoryFormat) *c10.Tensor {
	return ResizeInPlace(self, theTemplate.Sizes(), memoryFormat)
}

//opassert:kernel set_.source_Tensor
func SetSourceTensorInPlace(self, source *c10.Tensor) *c10.Tensor {
	self.SetStorage(source)
	self.MarkWritten()
	return self
}

//opassert:kernel set_
func SetInPlace(self *c10.Tensor) *c10.Tensor {
	empty := c10.Empty([]int64{0}, self.Options())
	defer empty.Release()
	return SetSourceTensorInPlace(self, empty)
}
