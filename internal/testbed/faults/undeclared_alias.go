package faults

import (
	"slices"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/internal/testbed/c10"
	"github.com/opassert/opassert/internal/testbed/kernels"
)

var _ = planting(asserts.UndeclaredAlias, plant{
	acts: []act{
		{name: "shares", why: "returns a tensor on the storage of an argument",
			at: slices.Concat(besideView, returnedNew, returnedNewAndWritten, besideOther[1:]), do: share},
		{name: "returns", why: "returns an argument as it is", at: slices.Concat(besideOther[:1], returnedNew[1:2]),
			do: returnWith},
	},
	more: func() []Planted {
		result := func(op string, args func() []any, why string) Planted {
			return Planted{
				Op: "fault::" + op, Code: asserts.UndeclaredAlias, Class: OutOfPlace, Kind: Single, Subject: "result",
				Element: asserts.NoElement, Against: "self",
				Args: args, Why: why,
			}
		}
		return []Planted{
			result("returns_empty", func() []any { return []any{vector()} }, "returns the argument as it is when it is empty"),
			result("returns_unchanged", func() []any { return []any{four(), int64(1)} },
				"returns the argument as it is when a parameter makes the op a no-op"),
		}
	},
})

// share returns a view of the tensor that the result is compared with.
func share(t, with *c10.Tensor) *c10.Tensor {
	t.Release()
	return with.Alias()
}

// ReturnsEmpty saves the work where there is nothing to compute.
//
//opassert:kernel fault::returns_empty
func ReturnsEmpty(self *c10.Tensor) *c10.Tensor {
	if self.Numel() == 0 {
		return self.Retain()
	}
	return negated(self)
}

// ReturnsUnchanged saves the work where the parameter asks for none.
//
//opassert:kernel fault::returns_unchanged
func ReturnsUnchanged(self *c10.Tensor, times int64) *c10.Tensor {
	if times == 1 {
		return self.Retain()
	}
	return kernels.Clone(self, nil)
}
