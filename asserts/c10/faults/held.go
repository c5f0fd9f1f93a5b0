package faults

import (
	"github.com/opassert/opassert/asserts/c10"
	"github.com/opassert/opassert/asserts/c10/kernels"
)

// Faults in a return that should be the caller's alone: a reference to it, or
// to its storage, stays out of sight.

// keep leaves a handle behind, as a cache would.
func keep(t *c10.Tensor) *c10.Tensor {
	t.Retain()
	return t
}

// keepStorage leaves a handle on the storage behind.
func keepStorage(t *c10.Tensor) *c10.Tensor {
	t.Storage()
	return t
}

// thrice returns three tensors, all but the last right.
func thrice(right func() *c10.Tensor, wrong func(*c10.Tensor) *c10.Tensor) []*c10.Tensor {
	return []*c10.Tensor{right(), right(), wrong(right())}
}

func negated(self *c10.Tensor) func() *c10.Tensor {
	return func() *c10.Tensor { return kernels.Neg(self) }
}

//opassert:kernel fault::keeps_view.single
func KeepsView(self *c10.Tensor) *c10.Tensor { return keep(self.Alias()) }

//opassert:kernel fault::keeps_view.tuple
func KeepsSecondView(self *c10.Tensor) (*c10.Tensor, *c10.Tensor) {
	return self.Alias(), keep(self.Alias())
}

//opassert:kernel fault::keeps_view.list
func KeepsThirdView(self *c10.Tensor) []*c10.Tensor { return thrice(self.Alias, keep) }

//opassert:kernel fault::keeps.single
func Keeps(self *c10.Tensor) *c10.Tensor { return keep(kernels.Neg(self)) }

//opassert:kernel fault::keeps.tuple
func KeepsSecond(self *c10.Tensor) (*c10.Tensor, *c10.Tensor) {
	return kernels.Neg(self), keep(kernels.Neg(self))
}

//opassert:kernel fault::keeps.list
func KeepsThird(self *c10.Tensor) []*c10.Tensor { return thrice(negated(self), keep) }

//opassert:kernel fault::keeps_writing.single
func KeepsAndWrites(self *c10.Tensor) *c10.Tensor { return Keeps(increased(self)) }

//opassert:kernel fault::keeps_writing.tuple
func KeepsSecondAndWrites(self *c10.Tensor) (*c10.Tensor, *c10.Tensor) {
	return KeepsSecond(increased(self))
}

//opassert:kernel fault::keeps_writing.list
func KeepsThirdAndWrites(self *c10.Tensor) []*c10.Tensor { return KeepsThird(increased(self)) }

//opassert:kernel fault::keeps_storage_view.tuple
func KeepsStorageBesideView(self *c10.Tensor) (*c10.Tensor, *c10.Tensor) {
	return self.Alias(), keepStorage(kernels.Neg(self))
}

//opassert:kernel fault::keeps_storage_view.list
func KeepsThirdStorageBesideView(self *c10.Tensor) (*c10.Tensor, []*c10.Tensor) {
	return self.Alias(), KeepsThirdStorage(self)
}

//opassert:kernel fault::keeps_storage.single
func KeepsStorage(self *c10.Tensor) *c10.Tensor { return keepStorage(kernels.Neg(self)) }

//opassert:kernel fault::keeps_storage.tuple
func KeepsSecondStorage(self *c10.Tensor) (*c10.Tensor, *c10.Tensor) {
	return kernels.Neg(self), keepStorage(kernels.Neg(self))
}

//opassert:kernel fault::keeps_storage.list
func KeepsThirdStorage(self *c10.Tensor) []*c10.Tensor { return thrice(negated(self), keepStorage) }

//opassert:kernel fault::keeps_storage_writing.single
func KeepsStorageAndWrites(self *c10.Tensor) *c10.Tensor { return KeepsStorage(increased(self)) }

//opassert:kernel fault::keeps_storage_writing.tuple
func KeepsSecondStorageAndWrites(self *c10.Tensor) (*c10.Tensor, *c10.Tensor) {
	return KeepsSecondStorage(increased(self))
}

//opassert:kernel fault::keeps_storage_writing.list
func KeepsThirdStorageAndWrites(self *c10.Tensor) []*c10.Tensor {
	return KeepsThirdStorage(increased(self))
}
