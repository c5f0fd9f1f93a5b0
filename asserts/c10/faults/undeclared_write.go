package faults

import (
	"math"
	"slices"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/c10"
)

var _ = planting(asserts.UndeclaredWrite, plant{faults: undeclaredWrite, impossible: undeclaredWriteImpossible})

func undeclaredWrite() []Fault {
	with := func(x func() *c10.Tensor) func() []any { return func() []any { return []any{four(), x()} } }
	part := func(base *c10.Tensor, n, offset int64) *c10.Tensor {
		defer base.Release()
		return base.AsStrided([]int64{n}, []int64{1}, offset)
	}
	nan := with(func() *c10.Tensor { return vector(math.NaN(), 1) })
	matrix := with(func() *c10.Tensor { return c10.FromFloats([]float64{1, 2, 3, 4, 5, 6}, []int64{2, 3}, f32) })
	onX := func(op string, args func() []any, why string) Fault {
		return fault(asserts.UndeclaredWrite, OutOfPlace, Tensor, op, "x", -1, "", args, why)
	}
	return slices.Concat(inArguments(asserts.UndeclaredWrite, "writes", "writes an element that the schema does not declare as written"), []Fault{
		onX("flips_bit", two, "changes one bit"),
		onX("negates_zero", with(func() *c10.Tensor { return vector(0, 1) }), "turns 0.0 into -0.0"),
		onX("changes_nan", nan, "changes the payload of a NaN"),
		onX("writes_beside", with(func() *c10.Tensor { return part(four(), 2, 1) }), "writes bytes of the storage outside the view"),
		onX("moves_offset", with(func() *c10.Tensor { return part(vector(5, 5, 5, 5), 2, 1) }), "changes the storage offset to where the values are the same"),
		onX("turns", matrix, "transposes an argument"),
		onX("enlarges", two, "resizes an argument"),
		onX("writes_and_fails", with(func() *c10.Tensor { return vector(1) }), "writes an argument, then returns an error"),
		fault(asserts.UndeclaredWrite, OutOfPlace, Tensor, "writes_in_training", "noise", -1, "", func() []any { return append(two(), true) }, "writes the noise that it drew into an argument, in training only"),
	})
}

func undeclaredWriteImpossible(kind Kind, _ Class) string {
	if kind == Out {
		return "an out argument is declared as written"
	}
	return ""
}
