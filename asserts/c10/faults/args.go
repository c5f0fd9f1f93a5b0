package faults

import (
	"github.com/opassert/opassert/asserts/c10"
	"github.com/opassert/opassert/asserts/c10/kernels"
)

// Faults in an argument that is only read, x: a tensor, an element of a list,
// or one of these that may be undefined. What the kernels do besides is right.

// rebind makes the caller's handle refer to a copy.
func rebind(x *c10.Tensor) {
	other := kernels.Clone(x, nil)
	x.Rebind(other)
	other.Release()
}

// swapStorage puts the tensor onto a copy of its storage.
func swapStorage(x *c10.Tensor) {
	other := kernels.Clone(x, nil)
	x.SetStorage(other)
	other.Release()
}

// scribble writes an element, and says so to nobody.
func scribble(x *c10.Tensor) { x.SetFloat(0, x.Float(0)+1) }

// increased writes self, as the schema of an in-place op declares.
func increased(self *c10.Tensor) *c10.Tensor {
	scribble(self)
	self.MarkWritten()
	return self
}

//opassert:kernel fault::rebinds_view.tensor
//opassert:kernel fault::rebinds_view.optional
func RebindsInView(self, x *c10.Tensor) *c10.Tensor {
	rebind(x)
	return self.Alias()
}

//opassert:kernel fault::rebinds_view.list
//opassert:kernel fault::rebinds_view.optional_list
func RebindsElementInView(self *c10.Tensor, x []*c10.Tensor) *c10.Tensor {
	rebind(x[1])
	return self.Alias()
}

//opassert:kernel fault::rebinds_.tensor
//opassert:kernel fault::rebinds_.optional
func RebindsInPlace(self, x *c10.Tensor) *c10.Tensor {
	rebind(x)
	return increased(self)
}

//opassert:kernel fault::rebinds_.list
//opassert:kernel fault::rebinds_.optional_list
func RebindsElementInPlace(self *c10.Tensor, x []*c10.Tensor) *c10.Tensor {
	rebind(x[1])
	return increased(self)
}

//opassert:kernel fault::rebinds.tensor
//opassert:kernel fault::rebinds.optional
func Rebinds(self, x *c10.Tensor) *c10.Tensor {
	rebind(x)
	return kernels.Neg(self)
}

//opassert:kernel fault::rebinds.list
//opassert:kernel fault::rebinds.optional_list
func RebindsElement(self *c10.Tensor, x []*c10.Tensor) *c10.Tensor {
	rebind(x[1])
	return kernels.Neg(self)
}

//opassert:kernel fault::rebinds.out
func RebindsOut(self, out *c10.Tensor) *c10.Tensor {
	result := kernels.Neg(self)
	out.Rebind(result)
	result.Release()
	return out
}

//opassert:kernel fault::swaps_storage_view.tensor
//opassert:kernel fault::swaps_storage_view.optional
func SwapsStorageInView(self, x *c10.Tensor) *c10.Tensor {
	swapStorage(x)
	return self.Alias()
}

//opassert:kernel fault::swaps_storage_view.list
//opassert:kernel fault::swaps_storage_view.optional_list
func SwapsStorageOfElementInView(self *c10.Tensor, x []*c10.Tensor) *c10.Tensor {
	swapStorage(x[1])
	return self.Alias()
}

//opassert:kernel fault::swaps_storage_.tensor
//opassert:kernel fault::swaps_storage_.optional
func SwapsStorageInPlace(self, x *c10.Tensor) *c10.Tensor {
	swapStorage(x)
	return increased(self)
}

//opassert:kernel fault::swaps_storage_.list
//opassert:kernel fault::swaps_storage_.optional_list
func SwapsStorageOfElementInPlace(self *c10.Tensor, x []*c10.Tensor) *c10.Tensor {
	swapStorage(x[1])
	return increased(self)
}

//opassert:kernel fault::swaps_storage.tensor
//opassert:kernel fault::swaps_storage.optional
func SwapsStorage(self, x *c10.Tensor) *c10.Tensor {
	swapStorage(x)
	return kernels.Neg(self)
}

//opassert:kernel fault::swaps_storage.list
//opassert:kernel fault::swaps_storage.optional_list
func SwapsStorageOfElement(self *c10.Tensor, x []*c10.Tensor) *c10.Tensor {
	swapStorage(x[1])
	return kernels.Neg(self)
}

//opassert:kernel fault::swaps_storage.out
func SwapsStorageOfOut(self, out *c10.Tensor) *c10.Tensor {
	result := kernels.Neg(self)
	out.SetStorage(result)
	result.Release()
	out.MarkWritten()
	return out
}

//opassert:kernel fault::writes_view.tensor
//opassert:kernel fault::writes_view.optional
func WritesInView(self, x *c10.Tensor) *c10.Tensor {
	scribble(x)
	return self.Alias()
}

//opassert:kernel fault::writes_view.list
//opassert:kernel fault::writes_view.optional_list
func WritesElementInView(self *c10.Tensor, x []*c10.Tensor) *c10.Tensor {
	scribble(x[1])
	return self.Alias()
}

//opassert:kernel fault::writes_.tensor
//opassert:kernel fault::writes_.optional
func WritesInPlace(self, x *c10.Tensor) *c10.Tensor {
	scribble(x)
	return increased(self)
}

//opassert:kernel fault::writes_.list
//opassert:kernel fault::writes_.optional_list
func WritesElementInPlace(self *c10.Tensor, x []*c10.Tensor) *c10.Tensor {
	scribble(x[1])
	return increased(self)
}

//opassert:kernel fault::writes.tensor
//opassert:kernel fault::writes.optional
func Writes(self, x *c10.Tensor) *c10.Tensor {
	scribble(x)
	return kernels.Neg(self)
}

//opassert:kernel fault::writes.list
//opassert:kernel fault::writes.optional_list
func WritesElement(self *c10.Tensor, x []*c10.Tensor) *c10.Tensor {
	scribble(x[1])
	return kernels.Neg(self)
}
