package kernels

import "github.com/opassert/opassert/internal/testbed/c10"

//opassert:kernel add.out
func AddOut(self, other *c10.Tensor, alpha float64, out *c10.Tensor) *c10.Tensor {
	return copyOut(out, AddTensor(self, other, alpha))
}

//opassert:kernel aminmax.out
func AminmaxOut(self *c10.Tensor, dim *int64, keepdim bool, min, max *c10.Tensor) (*c10.Tensor, *c10.Tensor) {
	lowest, highest := Aminmax(self, dim, keepdim)
	return copyOut(min, lowest), copyOut(max, highest)
}
