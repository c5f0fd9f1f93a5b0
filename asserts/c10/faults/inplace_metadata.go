package faults

import (
	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/c10"
	"github.com/opassert/opassert/asserts/c10/kernels"
)

// Faults in the shape of an argument that the schema declares as written.

var _ = planting(asserts.InplaceMetadata, plant{faults: inplaceMetadata, impossible: inplaceMetadataImpossible})

func inplaceMetadata() []Fault {
	const why = "writes an argument and turns it into a row"
	list := func() []any { return []any{[]*c10.Tensor{four(), four(), four()}} }
	holes := func() []any { return []any{four(), []*c10.Tensor{nil, four(), nil}} }
	return []Fault{
		fault(asserts.InplaceMetadata, InPlace, Tensor, "reshapes_.tensor", "self", -1, "", one, why),
		fault(asserts.InplaceMetadata, InPlace, List, "reshapes_.list", "self", 1, "", list, why),
		fault(asserts.InplaceMetadata, InPlace, Optional, "reshapes.optional", "running", -1, "", two, why),
		fault(asserts.InplaceMetadata, InPlace, OptionalList, "reshapes.optional_list", "running", 1, "", holes, why),
	}
}

func inplaceMetadataImpossible(kind Kind, class Class) string {
	switch {
	case class != InPlace:
		return "an op that may write an argument is in-place"
	case kind == Out:
		return "an out argument may be resized"
	}
	return ""
}

// reshaped writes a vector and makes it a matrix of one row.
func reshaped(t *c10.Tensor) *c10.Tensor {
	increased(t).SetSizesAndStrides([]int64{1, t.Numel()}, []int64{t.Numel(), 1}, t.Offset())
	return t
}

//opassert:kernel fault::reshapes_.tensor
func Reshapes(self *c10.Tensor) *c10.Tensor { return reshaped(self) }

//opassert:kernel fault::reshapes_.list
func ReshapesElement(self []*c10.Tensor) { reshaped(self[1]) }

//opassert:kernel fault::reshapes.optional
func ReshapesOptional(self, running *c10.Tensor) *c10.Tensor {
	reshaped(running)
	return kernels.Neg(self)
}

//opassert:kernel fault::reshapes.optional_list
func ReshapesOptionalElement(self *c10.Tensor, running []*c10.Tensor) *c10.Tensor {
	reshaped(running[1])
	return kernels.Neg(self)
}
