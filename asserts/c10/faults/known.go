package faults

import (
	"math"

	"github.com/opassert/opassert/asserts/c10"
	"github.com/opassert/opassert/asserts/c10/kernels"
)

// Faults as they are met in the wild, the small and the rare ones above all.

//opassert:kernel fault::replaces_element
func ReplacesElement(self *c10.Tensor, x []*c10.Tensor) *c10.Tensor {
	x[2] = kernels.Clone(x[2], nil)
	return kernels.Neg(self)
}

//opassert:kernel fault::fills_in
func FillsIn(self *c10.Tensor, x []*c10.Tensor) *c10.Tensor {
	for i, t := range x {
		if t == nil {
			x[i] = kernels.Clone(self, nil)
		}
	}
	return kernels.Neg(self)
}

//opassert:kernel fault::releases
func Releases(self, x *c10.Tensor) *c10.Tensor {
	x.Release()
	return kernels.Neg(self)
}

// Recycles frees the storage of x and puts a new one on the same memory.
//
//opassert:kernel fault::recycles
func Recycles(self, x *c10.Tensor) *c10.Tensor {
	again := c10.FromBytes(x.Bytes(), x.Sizes(), x.DType())
	x.SetStorage(again)
	again.Release()
	return kernels.Neg(self)
}

//opassert:kernel fault::flips_bit
func FlipsBit(self, x *c10.Tensor) *c10.Tensor {
	x.Bytes()[0] ^= 1
	return kernels.Neg(self)
}

//opassert:kernel fault::negates_zero
func NegatesZero(self, x *c10.Tensor) *c10.Tensor {
	for i := range x.Numel() {
		if x.Float(i) == 0 {
			x.SetFloat(i, math.Copysign(0, -1))
		}
	}
	return kernels.Neg(self)
}

// ChangesNaN changes the payload of NaNs, which stay NaN.
//
//opassert:kernel fault::changes_nan
func ChangesNaN(self, x *c10.Tensor) *c10.Tensor {
	for i := range x.Numel() {
		if math.IsNaN(x.Float(i)) {
			x.Bytes()[(x.Offset()+i)*x.DType().Size()] ^= 1
		}
	}
	return kernels.Neg(self)
}

// WritesBeside writes behind the last element of x, in x's storage.
//
//opassert:kernel fault::writes_beside
func WritesBeside(self, x *c10.Tensor) *c10.Tensor {
	x.Bytes()[(x.Offset()+x.Numel())*x.DType().Size()]++
	return kernels.Neg(self)
}

//opassert:kernel fault::moves_offset
func MovesOffset(self, x *c10.Tensor) *c10.Tensor {
	x.SetSizesAndStrides(x.Sizes(), x.Strides(), x.Offset()+1)
	return kernels.Neg(self)
}

//opassert:kernel fault::turns
func Turns(self, x *c10.Tensor) *c10.Tensor {
	kernels.TInPlace(x)
	return kernels.Neg(self)
}

//opassert:kernel fault::enlarges
func Enlarges(self, x *c10.Tensor) *c10.Tensor {
	x.Resize([]int64{x.Numel() + 1})
	return kernels.Neg(self)
}

// WritesInTraining is rrelu_with_noise as PyTorch had it up to 2.5: noise is
// written and not declared.
//
//opassert:kernel fault::writes_in_training
func WritesInTraining(self, noise *c10.Tensor, training bool) *c10.Tensor {
	return kernels.RreluWithNoise(self, noise, 0.125, 0.25, training, c10.NewGenerator(1))
}

// WritesAndFails writes x before it finds that it cannot go on.
//
//opassert:kernel fault::writes_and_fails
func WritesAndFails(self, x *c10.Tensor) (*c10.Tensor, error) {
	scribble(x)
	if x.Numel() != self.Numel() {
		return nil, c10.Errorf("sizes %v and %v", self.Sizes(), x.Sizes())
	}
	return kernels.Neg(self), nil
}

// ReturnsEmpty saves the work where there is nothing to compute.
//
//opassert:kernel fault::returns_empty
func ReturnsEmpty(self *c10.Tensor) *c10.Tensor {
	if self.Numel() == 0 {
		return self.Retain()
	}
	return kernels.Neg(self)
}

// ReturnsUnchanged saves the work where the parameter asks for none.
//
//opassert:kernel fault::returns_unchanged
func ReturnsUnchanged(self *c10.Tensor, times int64) *c10.Tensor {
	if times == 1 {
		return self.Retain()
	}
	return kernels.AddScalar(self, 0, float64(times))
}

// ReturnsBase returns its argument as a view of it.
//
//opassert:kernel fault::returns_base
func ReturnsBase(self *c10.Tensor) *c10.Tensor { return self.Retain() }

// PanicsHalfway holds temporaries when it finds that it cannot go on.
//
//opassert:kernel fault::panics_
func PanicsHalfway(self, x *c10.Tensor) *c10.Tensor {
	view := self.Alias()
	defer view.Release()
	held := x.Retain()
	defer held.Release()
	c10.Check(held.Numel() == view.Numel(), "sizes %v and %v", view.Sizes(), held.Sizes())
	return increased(self)
}

// Healthy kernels that a hasty check would take for faulty.

//opassert:kernel fault::adds_
func Adds(self, x *c10.Tensor) *c10.Tensor { return kernels.AddTensorInPlace(self, x, 1) }

//opassert:kernel fault::adds_.list
func AddsList(self *c10.Tensor, x []*c10.Tensor) *c10.Tensor {
	for _, t := range x {
		if t != nil {
			kernels.AddTensorInPlace(self, t, 1)
		}
	}
	return self
}

// WritesThroughFirst writes one of two tensors that may be on one storage.
//
//opassert:kernel fault::writes_through
func WritesThroughFirst(first, second *c10.Tensor) { increased(first) }
