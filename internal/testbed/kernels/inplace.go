package kernels

import "github.com/opassert/opassert/internal/testbed/c10"

//opassert:kernel add_.Tensor
func AddTensorInPlace(self, other *c10.Tensor, alpha float64) *c10.Tensor {
	return overwrite(self, zipped(self, other, self.Sizes(), plus(alpha)))
}

//opassert:kernel zero_
func ZeroInPlace(self *c10.Tensor) *c10.Tensor {
	if self.Layout() == c10.Strided {
		self.Fill(0)
	} else {
		self.Values().Fill(0)
		self.Values().MarkWritten()
	}
	self.MarkWritten()
	return self
}

//opassert:kernel copy_
func CopyInPlace(self, src *c10.Tensor, nonBlocking bool) *c10.Tensor {
	checkNoOverlap(self)
	from := Clone(src, nil) // src may share memory with self
	defer from.Release()
	view := Expand(from, self.Sizes(), false)
	defer view.Release()
	copyElements(self, view)
	self.MarkWritten()
	return self
}

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
