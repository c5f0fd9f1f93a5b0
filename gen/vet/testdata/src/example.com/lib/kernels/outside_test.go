package kernels_test

import "example.com/lib/kernels"

var within kernels.Maxer = new(kernels.Library) // the tests of kernels may

func Exp(self *kernels.Tensor) *kernels.Tensor { return kernels.Relu(self) }
