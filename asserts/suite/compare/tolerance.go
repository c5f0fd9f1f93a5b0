package compare

import (
	"math"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/internal/tensor"
)

// multiplied is the step of numbers that devices multiply in a matrix product of float32, as with TensorFloat-32.
const multiplied = 1.0 / (1 << 10)

// A spread bounds the difference between kernels that add and multiply the same numbers in another order, from the
// numbers of the arguments and of the results on the CPU. Results on the device do not count: one would justify itself.
type spread struct {
	infinite    bool    // an argument holds an infinity
	unordered   bool    // an argument holds a NaN
	least, most float64 // absolute values of the other numbers except 0
	whole       float64 // absolute value of the largest integer of an argument
	limit       float64 // the largest number of the dtypes
	step        float64 // between 1 and the next number of the least precise dtype
	count       float64 // elements of the largest tensor
	partial     bool    // not all bytes of an argument are copied
	real        bool    // an argument holds floating point numbers
	negative    bool    // one of them is negative
	factors     int     // arguments that may be factors of a matrix product in float32
}

func spreadOf(op *asserts.Op, real, twin *asserts.Seen) *spread {
	s := &spread{least: math.Inf(1), limit: math.MaxFloat64}
	given, _, _ := real.Split(op)
	for i := range op.Args {
		if !op.Args[i].Output() {
			s.add(given[i], true)
		}
	}
	s.add(twin.After, false)
	s.add(twin.Results, false)
	if s.factors > 1 {
		s.step = max(s.step, multiplied)
	}
	return s
}

func (s *spread) add(all []asserts.Observation, given bool) {
	for _, o := range all {
		if o.Content == nil {
			continue
		}
		s.partial = s.partial || given && int64(len(o.Content.Bytes)) < o.Content.Nbytes
		d, known := tensor.ParseDType(o.Content.DType)
		c := d.Class()
		if !known || c == tensor.Boolean || !d.Writable() || !whole(o.Content) {
			continue
		}
		s.count = max(s.count, float64(tensor.Numel(o.Content.Sizes)))
		if c == tensor.Integral {
			for _, v := range numbersOf(o.Content, d) {
				s.whole = max(s.whole, math.Abs(v))
			}
			continue
		}
		largest, _, _ := d.Limits()
		s.limit = min(s.limit, largest)
		s.step = max(s.step, d.Step())
		s.real = s.real || given
		if given && len(o.Content.Sizes) > 1 && (d == tensor.Float32 || d == tensor.Complex64) {
			s.factors++
		}
		for _, v := range numbersOf(o.Content, d) {
			s.negative = s.negative || given && v < 0
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

// rounding returns the rounding error of a sum of the numbers, or of their products, in a dtype.
// Sums of integers round once they exceed its precision.
func (s *spread) rounding(d tensor.DType) float64 {
	step, most := max(s.step, d.Step()), s.most
	if s.whole*step > 1 {
		most = max(most, s.whole)
	}
	return 2 * step * math.Sqrt(s.count) * max(most, most*most)
}

// overflows reports whether an intermediate result, such as exp(2x) or 1/x, may not be finite.
func (s *spread) overflows() bool {
	return s.infinite || s.most > math.Log(s.limit)/2 || 1/s.least > s.limit
}

// explains reports whether numbers that differ between the kernels of a device and of the CPU may result from the same
// computation in another order. A real number that is rounded to an integer, as where it is quantized, may be rounded
// to the next one; integers of more bits are indices and counts. A negative one has no unsigned integer. A NaN remains
// in any order, although a product has one that a selection ignores.
func (s *spread) explains(a, b float64, d tensor.DType) bool {
	largest, lowest, _ := d.Limits()
	switch c := d.Class(); {
	case c == tensor.Integral && s.real && (d.Size() <= 2 && math.Abs(a-b) <= 1 || s.negative && lowest == 0):
		return true
	case c == tensor.Integral || c == tensor.Boolean:
		return s.infinite || s.unordered || c == tensor.Integral && s.most > largest
	case math.IsNaN(a) && s.unordered:
		return true
	case math.IsNaN(a-b) || math.IsInf(a-b, 0):
		return s.overflows()
	}
	return math.Abs(a-b) <= s.rounding(d)
}
