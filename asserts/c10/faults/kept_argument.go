package faults

import (
	"slices"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/c10"
	"github.com/opassert/opassert/asserts/c10/kernels"
)

// Faults in the holders of an argument: a reference to it, or to its storage,
// stays behind.

var _ = planting(asserts.KeptArgument, plant{faults: keptArgument, impossible: keptArgumentImpossible})

func keptArgument() []Fault {
	return slices.Concat(inArguments(asserts.KeptArgument, "retains", "keeps a reference to an argument"), []Fault{
		fault(asserts.KeptArgument, InPlace, Out, "retains.out", "out", -1, "", two, "keeps a view of the argument that it writes"),
	})
}

func keptArgumentImpossible(kind Kind, class Class) string {
	if kind == Out && class != InPlace {
		return "an op with an out argument is in-place"
	}
	return ""
}

//opassert:kernel fault::retains_view.tensor
//opassert:kernel fault::retains_view.optional
func RetainsInView(self, x *c10.Tensor) *c10.Tensor {
	keep(x)
	return self.Alias()
}

//opassert:kernel fault::retains_view.list
//opassert:kernel fault::retains_view.optional_list
func RetainsElementInView(self *c10.Tensor, x []*c10.Tensor) *c10.Tensor {
	return RetainsInView(self, x[1])
}

//opassert:kernel fault::retains_.tensor
//opassert:kernel fault::retains_.optional
func RetainsInPlace(self, x *c10.Tensor) *c10.Tensor {
	keepStorage(x)
	return increased(self)
}

//opassert:kernel fault::retains_.list
//opassert:kernel fault::retains_.optional_list
func RetainsElementInPlace(self *c10.Tensor, x []*c10.Tensor) *c10.Tensor {
	return RetainsInPlace(self, x[1])
}

//opassert:kernel fault::retains.tensor
//opassert:kernel fault::retains.optional
func Retains(self, x *c10.Tensor) *c10.Tensor {
	keep(x)
	return kernels.Neg(self)
}

//opassert:kernel fault::retains.list
//opassert:kernel fault::retains.optional_list
func RetainsElement(self *c10.Tensor, x []*c10.Tensor) *c10.Tensor { return Retains(self, x[1]) }

//opassert:kernel fault::retains.out
func RetainsOut(self, out *c10.Tensor) *c10.Tensor {
	keepStorage(out)
	return increased(out)
}

// CachesCopy keeps what nobody else has.
//
//opassert:kernel fault::caches_copy
func CachesCopy(self *c10.Tensor) *c10.Tensor {
	keep(kernels.Neg(self)).Release()
	return kernels.Neg(self)
}
