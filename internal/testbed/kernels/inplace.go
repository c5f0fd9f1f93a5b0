package kernels

import "github.com/opassert/opassert/internal/testbed/c10"

// binaryInPlace overwrites self with f(self, other).
func binaryInPlace(self, other *c10.Tensor, f func(a, b float64) float64) *c10.Tensor {
	return overwrite(self, zipped(self, other, self.Sizes(), f))
}

//opassert:kernel add_.Tensor
func AddTensorInPlace(self, other *c10.Tensor, alpha float64) *c10.Tensor {
	return binaryInPlace(self, other, plus(alpha))
}

//opassert:kernel mul_.Tensor
func MulTensorInPlace(self, other *c10.Tensor) *c10.Tensor { return binaryInPlace(self, other, times) }

//opassert:kernel relu_
func ReluInPlace(self *c10.Tensor) *c10.Tensor { return overwrite(self, mapped(self, rectified)) }

//opassert:kernel clamp_
func ClampInPlace(self *c10.Tensor, min, max *float64) *c10.Tensor {
	return overwrite(self, mapped(self, clamped(min, max)))
}

//opassert:kernel fill_.Scalar
func FillScalarInPlace(self *c10.Tensor, value float64) *c10.Tensor {
	self.Fill(value)
	self.MarkWritten()
	return self
}

//opassert:kernel zero_
func ZeroInPlace(self *c10.Tensor) *c10.Tensor {
	if self.Layout() != c10.Strided {
		self.Values().Fill(0)
		self.Values().MarkWritten()
		self.MarkWritten()
		return self
	}
	return FillScalarInPlace(self, 0)
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

//opassert:kernel masked_fill_.Scalar
func MaskedFillScalarInPlace(self, mask *c10.Tensor, value float64) *c10.Tensor {
	c10.Check(mask.DType() == c10.Bool, "the mask is %v", mask.DType())
	return binaryInPlace(self, mask, func(v, masked float64) float64 {
		if masked != 0 {
			return value
		}
		return v
	})
}
