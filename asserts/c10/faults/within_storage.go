package faults

import (
	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/c10"
	"github.com/opassert/opassert/asserts/c10/kernels"
)

// Faults in where a result lies: it is larger than its storage.

var _ = planting(asserts.WithinStorage, plant{faults: withinStorage})

func withinStorage() []Fault {
	const beyond = "a result that ends behind its storage"
	return []Fault{
		fault(asserts.WithinStorage, View, Single, "overreaches_view.single", "result", -1, "", one, "a view that ends behind its storage"),
		fault(asserts.WithinStorage, View, Tuple, "overreaches_view.tuple", "result1", -1, "", one, "a view that ends behind its storage"),
		fault(asserts.WithinStorage, View, Returned, "overreaches_view.list", "result", 2, "", one, "a list of views, of which the third ends behind its storage"),
		fault(asserts.WithinStorage, OutOfPlace, Single, "overreaches.single", "result", -1, "", one, beyond),
		fault(asserts.WithinStorage, OutOfPlace, Tuple, "overreaches.tuple", "result1", -1, "", one, beyond),
		fault(asserts.WithinStorage, OutOfPlace, Returned, "overreaches.list", "result", 2, "", one, beyond),
		fault(asserts.WithinStorage, InPlace, Single, "overreaches_writing.single", "result", -1, "", one, beyond),
		fault(asserts.WithinStorage, InPlace, Tuple, "overreaches_writing.tuple", "result1", -1, "", one, beyond),
		fault(asserts.WithinStorage, InPlace, Returned, "overreaches_writing.list", "result", 2, "", one, beyond),
	}
}

// overreach moves a tensor by one element, beyond the end of its storage.
func overreach(t *c10.Tensor) *c10.Tensor {
	t.SetSizesAndStridesUnchecked(t.Sizes(), t.Strides(), t.Offset()+1)
	return t
}

//opassert:kernel fault::overreaches_view.single
func OverreachesView(self *c10.Tensor) *c10.Tensor { return overreach(self.Alias()) }

//opassert:kernel fault::overreaches_view.tuple
func OverreachesSecondView(self *c10.Tensor) (*c10.Tensor, *c10.Tensor) {
	return self.Alias(), overreach(self.Alias())
}

//opassert:kernel fault::overreaches_view.list
func OverreachesThirdView(self *c10.Tensor) []*c10.Tensor { return thrice(self.Alias, overreach) }

//opassert:kernel fault::overreaches.single
func Overreaches(self *c10.Tensor) *c10.Tensor { return overreach(kernels.Neg(self)) }

//opassert:kernel fault::overreaches.tuple
func OverreachesSecond(self *c10.Tensor) (*c10.Tensor, *c10.Tensor) {
	return kernels.Neg(self), overreach(kernels.Neg(self))
}

//opassert:kernel fault::overreaches.list
func OverreachesThird(self *c10.Tensor) []*c10.Tensor { return thrice(negated(self), overreach) }

//opassert:kernel fault::overreaches_writing.single
func OverreachesAndWrites(self *c10.Tensor) *c10.Tensor { return Overreaches(increased(self)) }

//opassert:kernel fault::overreaches_writing.tuple
func OverreachesSecondAndWrites(self *c10.Tensor) (*c10.Tensor, *c10.Tensor) {
	return OverreachesSecond(increased(self))
}

//opassert:kernel fault::overreaches_writing.list
func OverreachesThirdAndWrites(self *c10.Tensor) []*c10.Tensor {
	return OverreachesThird(increased(self))
}
