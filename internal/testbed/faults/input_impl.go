package faults

import (
	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/internal/testbed/c10"
	"github.com/opassert/opassert/internal/testbed/kernels"
)

var _ = planting(asserts.InputImpl, plant{
	acts: []act{
		{name: "rebinds", why: "makes the caller's handle refer to a copy", at: inArguments, do: change(rebind)},
		{name: "rebinds_written", why: "makes the out handle refer to another tensor instead of writing it", at: inOut,
			do: change(rebind), against: "result"},
		{name: "releases", why: "releases the caller's handle", at: inTensor, do: change((*c10.Tensor).Release)},
	},
	more: func() []Planted {
		inList := func(op string, element int, why string) Planted {
			return Planted{
				Op: "fault::" + op, Code: asserts.InputImpl, Class: OutOfPlace, Kind: OptionalList, Subject: "x",
				Element: element, Why: why,
				Args: func() []any { return []any{four(), []*c10.Tensor{four(), nil, four()}} },
			}
		}
		return []Planted{
			inList("replaces_element", 2, "replaces an element of the caller's own list"),
			inList("fills_in", 1, "puts a tensor where the caller's list had none"),
		}
	},
})

func rebind(t *c10.Tensor) {
	other := kernels.Clone(t, nil)
	defer other.Release()
	t.Rebind(other)
}

//opassert:kernel fault::replaces_element
func ReplacesElement(self *c10.Tensor, x []*c10.Tensor) *c10.Tensor {
	x[2] = kernels.Clone(x[2], nil)
	return negated(self)
}

//opassert:kernel fault::fills_in
func FillsIn(self *c10.Tensor, x []*c10.Tensor) *c10.Tensor {
	for i, t := range x {
		if t == nil {
			x[i] = kernels.Clone(self, nil)
		}
	}
	return negated(self)
}
