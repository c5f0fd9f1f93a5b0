package faults

import (
	"github.com/opassert/opassert/asserts/c10"
	"github.com/opassert/opassert/asserts/c10/kernels"
)

// Faults in an argument that the schema declares as written: the write is
// there, and the version counter does not show it.

//opassert:kernel fault::forgets_version_.tensor
func ForgetsVersion(self *c10.Tensor) *c10.Tensor {
	scribble(self)
	return self
}

//opassert:kernel fault::forgets_version_.list
func ForgetsVersionOfElement(self []*c10.Tensor) {
	for i, t := range self {
		scribble(t)
		if i != 1 {
			t.MarkWritten()
		}
	}
}

//opassert:kernel fault::forgets_version.optional
func ForgetsVersionOfOptional(self, running *c10.Tensor) *c10.Tensor {
	if running != nil {
		scribble(running)
	}
	return kernels.Neg(self)
}

//opassert:kernel fault::forgets_version.optional_list
func ForgetsVersionOfOptionalElement(self *c10.Tensor, running []*c10.Tensor) *c10.Tensor {
	for _, t := range running {
		if t != nil {
			scribble(t)
		}
	}
	return kernels.Neg(self)
}

//opassert:kernel fault::skips_version.out
func ForgetsVersionOfOut(self, out *c10.Tensor) *c10.Tensor {
	for i := range out.Numel() {
		out.SetFloat(i, -self.Float(i))
	}
	return out
}
