package kernels

import "github.com/opassert/opassert/asserts/maker"

//opassert:kernel exp // want `a kernel can't be in a test file`
func Exp(self *Tensor) *Tensor { return Relu(self) } // the tests of kernels call them

//opassert:options
func Others() []maker.Option { return nil } // want `opassert:options: Others can't be in a test file`
