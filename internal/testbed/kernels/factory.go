package kernels

import (
	"math"

	"github.com/opassert/opassert/internal/testbed/c10"
)

// newOptions reads the options of a factory; the default is float32 on CPU.
func newOptions(dtype *c10.DType, layout *c10.Layout, device *c10.Device) c10.TensorOptions {
	return overrides(c10.TensorOptions{DType: c10.Float32}, dtype, layout, device)
}

// overrides changes the options that are given.
func overrides(o c10.TensorOptions, dtype *c10.DType, layout *c10.Layout, device *c10.Device) c10.TensorOptions {
	c10.Check(layout == nil || *layout == c10.Strided, "this factory makes strided tensors")
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

//opassert:kernel empty_strided
func EmptyStrided(size, stride []int64, dtype *c10.DType, layout *c10.Layout, device *c10.Device, pinMemory *bool) *c10.Tensor {
	return c10.EmptyStrided(size, stride, newOptions(dtype, layout, device))
}

//opassert:kernel empty_like
func EmptyLike(self *c10.Tensor, dtype *c10.DType, layout *c10.Layout, device *c10.Device, pinMemory *bool, memoryFormat *c10.MemoryFormat) *c10.Tensor {
	return c10.Empty(self.Sizes(), overrides(self.Options(), dtype, layout, device))
}

//opassert:kernel zeros
func Zeros(size []int64, dtype *c10.DType, layout *c10.Layout, device *c10.Device, pinMemory *bool) *c10.Tensor {
	return c10.Full(size, 0, newOptions(dtype, layout, device))
}

//opassert:kernel full
func Full(size []int64, fillValue float64, dtype *c10.DType, layout *c10.Layout, device *c10.Device, pinMemory *bool) *c10.Tensor {
	return c10.Full(size, fillValue, newOptions(dtype, layout, device))
}

//opassert:kernel arange.start
func ArangeStart(start, end float64, dtype *c10.DType, layout *c10.Layout, device *c10.Device, pinMemory *bool) *c10.Tensor {
	values := stepped(start, end, 1)
	return c10.FromFloats(values, []int64{int64(len(values))}, newOptions(dtype, layout, device))
}

// stepped counts from start up to, and without, end.
func stepped(start, end, step float64) []float64 {
	c10.Check(step != 0 && (end-start)/step >= 0, "arange from %v to %v by %v", start, end, step)
	values := make([]float64, int(math.Ceil((end-start)/step)))
	for i := range values {
		values[i] = start + float64(i)*step
	}
	return values
}

//opassert:kernel eye
func Eye(n int64, dtype *c10.DType, layout *c10.Layout, device *c10.Device, pinMemory *bool) *c10.Tensor {
	out := c10.Full([]int64{n, n}, 0, newOptions(dtype, layout, device))
	for i := range n {
		out.SetFloat(i*n+i, 1)
	}
	return out
}
