package kernels

import "github.com/opassert/opassert/internal/testbed/c10"

// newOptions reads the options of a factory; the default is float32 on CPU.
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
func EmptyMemoryFormat(size []int64, dtype *c10.DType, layout *c10.Layout, device *c10.Device, pinMemory *bool, memoryFormat *c10.MemoryFormat) *c10.Tensor {
	return c10.Empty(size, newOptions(dtype, layout, device))
}
