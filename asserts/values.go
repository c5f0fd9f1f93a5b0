package asserts

import (
	"fmt"
	"math"
	"slices"

	"github.com/opassert/opassert/internal/tensor"
)

// Unreadable is why tensors that differ are not compared.
const Unreadable = "the sizes or the dtype differ, the elements are not numbers, or not all bytes are kept"

// Beyond returns the returns, and the arguments that are written, of which elements differ between a call
// and the same one on the CPU by more than a tolerance, relative to 1 + their size, and how many
// of those that differ cannot be compared.
func Beyond(op *Op, real, twin *Seen, tolerance float64) (faults []Fault, unreadable int) {
	for _, d := range Differing(op, real, twin) {
		if !readable(d.Tensors[0], d.Tensors[1]) {
			unreadable++
			continue
		}
		if n, which := beyond(d.Tensors[0], d.Tensors[1], tolerance); n > 0 {
			faults = append(faults, Fault{
				Code: MetaAlias, Argument: d.Argument, Return: d.Return,
				Saw: fmt.Sprintf("%d elements differ by more than %g of 1 + their size: %s", n, tolerance, which),
				Fix: "compute what the kernel for the CPU computes, or ask for a greater -tolerance",
			})
		}
	}
	return faults, unreadable
}

// readable reports whether the elements of tensors are numbers that can be compared one by one.
func readable(x, y *Snapshot) bool {
	d, known := tensor.ParseDType(x.DType)
	return known && d.Writable() && x.DType == y.DType && slices.Equal(x.Sizes, y.Sizes) && whole(x) && whole(y)
}

// beyond returns how many elements of readable tensors differ by more than a tolerance, and in
// words the first. Numbers that are whole are to be the same.
func beyond(x, y *Snapshot, tolerance float64) (n int, which string) {
	d, _ := tensor.ParseDType(x.DType)
	if d.Class() == tensor.Integral || d.Class() == tensor.Boolean {
		tolerance = 0
	}
	parts := 1
	if d.Class() == tensor.Complex {
		parts = 2
	}
	for i := range tensor.Numel(x.Sizes) {
		for part := range parts {
			a, b := element(x, d, i, part, parts), element(y, d, i, part, parts)
			if near(a, b, tolerance) {
				continue
			}
			if n++; n == 1 {
				which = fmt.Sprintf("number %d is %v, on cpu %v", i, a, b)
			}
		}
	}
	return n, which
}

// whole reports whether all bytes of a tensor are known.
func whole(s *Snapshot) bool { return int64(len(s.Bytes)) == s.Nbytes && s.Within() }

// element returns a part of the element with a number, in the order of the sizes.
func element(s *Snapshot, d tensor.DType, number int64, part, parts int) float64 {
	size := d.Size()
	return d.Get(s.Bytes[int(tensor.Position(number, s.Sizes, s.Strides, s.Offset))*size+part*size/parts:])
}

// near reports whether two numbers are the same within a tolerance. NaN is as NaN.
func near(a, b, tolerance float64) bool {
	return a == b || math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) <= tolerance*(1+math.Abs(b))
}
