package asserts

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/opassert/opassert/internal/tensor"
)

// unreadableWhy is why tensors that differ are not compared.
const unreadableWhy = "the sizes or the dtype differ, the elements are not numbers, or not all bytes are kept"

const asTheCPU = "compute what the kernel for the CPU computes, or ask for a greater -tolerance"

// JudgeValues compares what a call returns and writes with that of the same one on the CPU: elements of
// tensors, and numbers.
func JudgeValues(op *Op, real, twin *Seen, on string, tolerance float64, policy *Policy) Verdict {
	faults, unreadable := beyondOf(op, real, twin, tolerance)
	verdict := JudgeFaults(op, real, faults, policy)
	if unreadable > 0 {
		verdict.Skips = append(verdict.Skips, Skip{Code: MetaAlias, Reason: "values not compared: " + unreadableWhy, Count: unreadable})
	}
	r, m := newJudge(op, real, policy), newJudge(op, twin, policy)
	m.on = on
	r.compareNumbers(m, tolerance, asTheCPU)
	verdict.Violations = append(verdict.Violations, r.conclude().Violations...)
	return verdict
}

// beyondOf returns the returns, and the arguments that are written, of which elements differ between a call
// and the same one on the CPU by more than a tolerance, relative to 1 + their size, and how many
// of those that differ cannot be compared.
func beyondOf(op *Op, real, twin *Seen, tolerance float64) (faults []Fault, unreadable int) {
	for _, d := range Differing(op, real, twin) {
		if !readable(d.Tensors[0], d.Tensors[1]) {
			unreadable++
			continue
		}
		if n, which := beyond(d.Tensors[0], d.Tensors[1], tolerance); n > 0 {
			faults = append(faults, Fault{
				Code: MetaAlias, Argument: d.Argument, Return: d.Return,
				Saw: fmt.Sprintf("%d elements differ by more than %g of 1 + their size: %s", n, tolerance, which),
				Fix: asTheCPU,
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

// nearText reports whether two numbers that are texts are the same within a tolerance.
func nearText(a, b string, tolerance float64) bool {
	x, unlike := strconv.ParseFloat(a, 64)
	y, also := strconv.ParseFloat(b, 64)
	return a == b || unlike == nil && also == nil && near(x, y, tolerance)
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
