// Package use calls kernels.
package use

import (
	"example.com/lib/kernels"
	"example.com/lib/ops"
)

func Use(l *kernels.Library, x *kernels.Tensor) {
	ops.Relu(x)
	kernels.Relu(x)    // want `Relu is the kernel of relu, relu_copy: call its generated wrapper`
	f := kernels.Fresh // want `Fresh is the kernel of fresh`
	f(x)
	l.Max(x) // want `Max is the kernel of max`
	kernels.Neg(x)
}
