package kernels

import "github.com/opassert/opassert/internal/testbed/c10"

//opassert:kernel rand.generator
func RandGenerator(size []int64, generator *c10.Generator, dtype *c10.DType, layout *c10.Layout, device *c10.Device, pinMemory *bool) *c10.Tensor {
	out := c10.Empty(size, newOptions(dtype, layout, device))
	return fill(out, mapped(out, func(float64) float64 { return generator.Uniform(0, 1) }))
}

//opassert:kernel native_dropout
func NativeDropout(input *c10.Tensor, p float64, train *bool) (*c10.Tensor, *c10.Tensor) {
	o := input.Options().With(c10.Bool)
	if train != nil && !*train {
		return Clone(input, nil), c10.Full(input.Sizes(), 1, o)
	}
	kept := 1 - p
	c10.Check(0 <= kept && kept <= 1, "probability %v", kept)
	var generator *c10.Generator // the default one
	mask := c10.Empty(input.Sizes(), o)
	fill(mask, mapped(mask, func(float64) float64 {
		if generator.Uniform(0, 1) < kept {
			return 1
		}
		return 0
	}))
	scale := 0.0
	if kept > 0 {
		scale = 1 / kept
	}
	return binaryAs(input.Options(), input, mask, func(v, keep float64) float64 { return v * keep * scale }), mask
}

// Dropout is composite: it returns its argument when there is nothing to drop.
//
//opassert:kernel dropout
func Dropout(input *c10.Tensor, p float64, train bool) *c10.Tensor {
	if !train || p == 0 || input.Numel() == 0 {
		return input.Retain()
	}
	out, mask := NativeDropout(input, p, &train)
	mask.Release()
	return out
}

// RreluWithNoise writes the slopes that it chose into noise, as its schema declares.
//
//opassert:kernel rrelu_with_noise
func RreluWithNoise(self, noise *c10.Tensor, lower, upper float64, training bool, generator *c10.Generator) *c10.Tensor {
	if !training {
		return unary(self, leaky((lower+upper)/2))
	}
	overwrite(noise, mapped(self, func(v float64) float64 {
		if v > 0 {
			return 1
		}
		return generator.Uniform(lower, upper)
	}))
	return binaryAs(self.Options(), self, noise, times)
}

func leaky(slope float64) func(float64) float64 {
	return func(v float64) float64 {
		if v > 0 {
			return v
		}
		return v * slope
	}
}
