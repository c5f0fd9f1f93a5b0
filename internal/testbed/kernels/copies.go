package kernels

import "github.com/opassert/opassert/internal/testbed/c10"

//opassert:kernel clone
func Clone(self *c10.Tensor, memoryFormat *c10.MemoryFormat) *c10.Tensor {
	if self.Layout() == c10.SparseCOO {
		return assembleCOO(Clone(self.Indices(), nil), Clone(self.Values(), nil), self.Sizes(), self.IsCoalesced())
	}
	out := c10.Empty(self.Sizes(), self.Options())
	copyElements(out, self)
	return out
}

// Lift returns its argument: the op exists for tracers, which replace it. The allowlist excuses it.
//
//opassert:kernel lift
func Lift(self *c10.Tensor) *c10.Tensor { return self.Retain() }

// The ops below are composite: they may return their argument or a view of it.

//opassert:kernel contiguous
func Contiguous(self *c10.Tensor, memoryFormat c10.MemoryFormat) *c10.Tensor {
	if self.IsContiguous() {
		return self.Retain()
	}
	return Clone(self, nil)
}

//opassert:kernel to.dtype
func ToDtype(self *c10.Tensor, dtype c10.DType, nonBlocking, copy bool, memoryFormat *c10.MemoryFormat) *c10.Tensor {
	if self.DType() == dtype && !copy {
		return self.Retain()
	}
	out := c10.Empty(self.Sizes(), self.Options().With(dtype))
	copyElements(out, self)
	return out
}

func newOptions(dtype *c10.DType, layout *c10.Layout, device *c10.Device) c10.TensorOptions {
	c10.Check(layout == nil || *layout == c10.Strided, "this factory makes strided tensors")
	o := c10.TensorOptions{DType: c10.Float32}
	if dtype != nil {
		o.DType = *dtype
	}
	if device != nil {
		o.Device = *device
	}
	return o
}

//opassert:kernel empty.memory_format
func EmptyMemoryFormat(size []int64, dtype *c10.DType, layout *c10.Layout, device *c10.Device, pinMemory *bool,
	memoryFormat *c10.MemoryFormat) *c10.Tensor {
	return c10.Empty(size, newOptions(dtype, layout, device))
}
