package faults

import (
	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/c10"
	"github.com/opassert/opassert/asserts/c10/kernels"
)

// Faults beside an argument that the schema declares as written: it is a view
// of two elements of four.

var _ = planting(asserts.WriteBeside, plant{faults: writeBeside, impossible: versionBumpImpossible})

func writeBeside() []Fault {
	const why = "writes the element behind those of the view that it was given"
	one := func() []any { return []any{half()} }
	two := func() []any { return []any{four(), half()} }
	list := func() []any { return []any{[]*c10.Tensor{four(), half(), four()}} }
	holes := func() []any { return []any{four(), []*c10.Tensor{nil, half(), nil}} }
	return []Fault{
		fault(asserts.WriteBeside, InPlace, Tensor, "oversteps_.tensor", "self", -1, "", one, why),
		fault(asserts.WriteBeside, InPlace, List, "oversteps_.list", "self", 1, "", list, why),
		fault(asserts.WriteBeside, InPlace, Optional, "oversteps.optional", "running", -1, "", two, why),
		fault(asserts.WriteBeside, InPlace, OptionalList, "oversteps.optional_list", "running", 1, "", holes, why),
		fault(asserts.WriteBeside, InPlace, Out, "oversteps.out", "out", -1, "", two, why),
	}
}

// half is the middle of four elements.
func half() *c10.Tensor {
	base := four()
	defer base.Release()
	return base.AsStrided([]int64{2}, []int64{1}, 1)
}

// overstepped writes a vector, and the element behind it if there is one.
func overstepped(t *c10.Tensor) *c10.Tensor {
	if end := (t.Offset() + t.Numel()) * t.DType().Size(); end < int64(len(t.Bytes())) {
		t.Bytes()[end]++
	}
	return increased(t)
}

//opassert:kernel fault::oversteps_.tensor
func Oversteps(self *c10.Tensor) *c10.Tensor { return overstepped(self) }

//opassert:kernel fault::oversteps_.list
func OverstepsElement(self []*c10.Tensor) { overstepped(self[1]) }

//opassert:kernel fault::oversteps.optional
func OverstepsOptional(self, running *c10.Tensor) *c10.Tensor {
	overstepped(running)
	return kernels.Neg(self)
}

//opassert:kernel fault::oversteps.optional_list
func OverstepsOptionalElement(self *c10.Tensor, running []*c10.Tensor) *c10.Tensor {
	overstepped(running[1])
	return kernels.Neg(self)
}

//opassert:kernel fault::oversteps.out
func OverstepsOut(self, out *c10.Tensor) *c10.Tensor { return overstepped(out) }
