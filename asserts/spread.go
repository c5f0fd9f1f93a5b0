package asserts

import (
	"math"

	"github.com/opassert/opassert/internal/tensor"
)

// A spread is how far apart the results of kernels may lie that add and multiply the same numbers in another
// order: those of the arguments and of the results on the CPU. What a kernel for a device returns is not asked,
// since garbage would excuse itself.
type spread struct {
	infinite    bool    // an argument holds an infinity
	unordered   bool    // an argument holds a NaN
	least, most float64 // sizes of the others, but 0
	whole       float64 // size of the largest whole number of an argument
	limit       float64 // the largest number of the dtypes
	step        float64 // between 1 and the next number of the coarsest
	count       float64 // elements of the largest tensor
	unkept      bool    // not all bytes of an argument are kept
}

func spreadOf(op *Op, real, twin *Seen) *spread {
	s := &spread{least: math.Inf(1), limit: math.MaxFloat64}
	given := split(real.Before, real.ArgLens, op.Args)
	for i := range op.Args {
		if !op.Args[i].output() {
			s.add(given[i], true)
		}
	}
	s.add(twin.After, false)
	s.add(twin.Results, false)
	return s
}

// add adds the numbers of tensors.
func (s *spread) add(all []Observation, given bool) {
	for _, o := range all {
		if o.Content == nil {
			continue
		}
		s.unkept = s.unkept || given && int64(len(o.Content.Bytes)) < o.Content.Nbytes
		d, _ := tensor.ParseDType(o.Content.DType) // 0, of no class, where it is not known
		c := d.Class()
		if c == tensor.Boolean || !d.Writable() || !whole(o.Content) {
			continue
		}
		s.count = max(s.count, float64(tensor.Numel(o.Content.Sizes)))
		if c == tensor.Integral {
			s.whole = max(s.whole, largestOf(numbersOf(o.Content, d)))
			continue
		}
		largest, _, _ := d.Limits()
		s.limit = min(s.limit, largest)
		s.step = max(s.step, d.Step())
		for _, v := range numbersOf(o.Content, d) {
			switch v = math.Abs(v); {
			case math.IsInf(v, 0):
				s.infinite = s.infinite || given
			case math.IsNaN(v):
				s.unordered = s.unordered || given
			case v > 0:
				s.least, s.most = min(s.least, v), max(s.most, v)
			}
		}
	}
}

// rounding returns the size of the rounding errors of a sum of the numbers, or of their products, that is of a
// dtype. Sums of whole numbers round where they are too large for its steps.
func (s *spread) rounding(d tensor.DType) float64 {
	step, most := max(s.step, d.Step()), s.most
	if s.whole*step > 1 {
		most = max(most, s.whole)
	}
	return 2 * step * math.Sqrt(s.count) * max(most, most*most)
}

// largestOf returns the size of the largest number.
func largestOf(all []float64) (largest float64) {
	for _, v := range all {
		largest = max(largest, math.Abs(v))
	}
	return largest
}

// overflows reports whether a step on the way to a result, such as exp(2x) or 1/x, may not be finite.
func (s *spread) overflows() bool {
	return s.infinite || s.most > math.Log(s.limit)/2 || 1/s.least > s.limit
}

// explains reports whether numbers of a dtype, in which the kernels of a device and of the CPU differ, may be
// results of the same computation in another order. No order loses a NaN, though a product has one that a
// choice leaves out.
func (s *spread) explains(a, b float64, d tensor.DType) bool {
	largest, _, _ := d.Limits()
	switch c := d.Class(); {
	case c == tensor.Integral || c == tensor.Boolean:
		return s.infinite || s.unordered || c == tensor.Integral && s.most > largest
	case math.IsNaN(a) && s.unordered:
		return true
	case math.IsNaN(a-b) || math.IsInf(a-b, 0):
		return s.overflows()
	}
	return math.Abs(a-b) <= s.rounding(d)
}
