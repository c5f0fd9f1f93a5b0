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
