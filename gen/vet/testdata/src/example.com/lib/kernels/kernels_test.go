package kernels

import "github.com/opassert/opassert/asserts/maker"

//opassert:kernel exp // want `a kernel can't be in a test file`
func Exp(self *Tensor) *Tensor { return Relu(self) } // the tests of kernels call them

//opassert:options
func Options() []maker.Option { return nil } // want `opassert:options: Options can't be in a test file`
