package kernels

import "github.com/opassert/opassert/internal/testbed/c10"

// Dropout is composite: it returns its argument when there is nothing to drop.
//
//opassert:kernel dropout
func Dropout(input *c10.Tensor, p float64, train bool) *c10.Tensor {
	if !train || p == 0 || input.Numel() == 0 {
		return input.Retain()
	}
	kept := 1 - p
	c10.Check(0 <= kept && kept <= 1, "probability %v", kept)
	var generator *c10.Generator // the default one
	return unary(input, func(v float64) float64 {
		if generator.Uniform(0, 1) < kept {
			return v / kept
		}
		return 0
	})
}

// RreluWithNoise writes the slopes that it chose into noise, as its schema declares.
//
//opassert:kernel rrelu_with_noise
func RreluWithNoise(self, noise *c10.Tensor, lower, upper float64, training bool,
	generator *c10.Generator) *c10.Tensor {
	if !training {
		return unary(self, leaky((lower+upper)/2))
	}
	overwrite(noise, mapped(self, func(v float64) float64 {
		if v > 0 {
			return 1
		}
		return generator.Uniform(lower, upper)
	}))
	return binary(self, noise, times)
}

func leaky(slope float64) func(float64) float64 {
	return func(v float64) float64 {
		if v > 0 {
			return v
		}
		return v * slope
	}
}
