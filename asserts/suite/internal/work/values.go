package work

import (
	"fmt"
	"math"
	"slices"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/report"
	"github.com/opassert/opassert/internal/tensor"
)

// compareValues compares the elements that a call returned or wrote with those of the same call
// on the CPU, where a tolerance was asked for. What it leaves out is a skip.
func (r *Runner) compareValues(t *Target, a *attempt, other *call, tally *report.Tally, result *report.Case) []*report.Finding {
	first := &a.calls[0]
	if r.Tolerance == 0 || other.on != engine.CPU {
		return nil
	}
	skip := func(reason string, n int) {
		if n > 0 {
			tally.AddSkips([]asserts.Skip{{Code: asserts.MetaAlias, Reason: "values not compared: " + reason, Count: n}})
		}
	}
	if !t.repeatable() || t.leavesMemory() {
		skip("they are random, or what the memory held", 1)
		return nil
	}
	skip(unkept, asserts.Unknown(t.judged, first.seen, other.seen))
	var faults []asserts.Fault
	for _, d := range asserts.Differing(t.judged, first.seen, other.seen) {
		if !readable(d.Tensors[0], d.Tensors[1]) {
			skip("the sizes or the dtype differ, the elements are not numbers, or not all bytes are kept", 1)
			continue
		}
		if n, which := beyond(d.Tensors[0], d.Tensors[1], r.Tolerance); n > 0 {
			faults = append(faults, asserts.Fault{
				Code: asserts.MetaAlias, Argument: d.Argument, Return: d.Return,
				Saw: fmt.Sprintf("%d elements differ by more than %g of 1 + their size: %s", n, r.Tolerance, which),
				Fix: "compute what the kernel for the CPU computes, or ask for a greater -tolerance",
			})
		}
	}
	return r.judgeFaults(t, a, faults, result, first.on, other.on)
}

// readable reports whether the elements of tensors are numbers that can be compared one by one.
func readable(x, y *asserts.Snapshot) bool {
	d, known := tensor.ParseDType(x.DType)
	return known && d.Writable() && x.DType == y.DType && slices.Equal(x.Sizes, y.Sizes) && whole(x) && whole(y)
}

// beyond returns how many elements of readable tensors differ by more than a tolerance, and in
// words the first. Numbers that are whole are to be the same.
func beyond(x, y *asserts.Snapshot, tolerance float64) (n int, which string) {
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
func whole(s *asserts.Snapshot) bool { return int64(len(s.Bytes)) == s.Nbytes && s.Within() }

// element returns a part of the element with a number, in the order of the sizes.
func element(s *asserts.Snapshot, d tensor.DType, number int64, part, parts int) float64 {
	size := d.Size()
	return d.Get(s.Bytes[int(tensor.Position(number, s.Sizes, s.Strides, s.Offset))*size+part*size/parts:])
}

// near reports whether two numbers are the same within a tolerance. NaN is as NaN.
func near(a, b, tolerance float64) bool {
	return a == b || math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) <= tolerance*(1+math.Abs(b))
}
