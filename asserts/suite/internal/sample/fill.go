package sample

import (
	"math"
	"slices"

	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/internal/tensor"
)

// Dense lays out a tensor in a storage of its own. Its usual values are those of tensor number turn
// of a case. The bytes are in room if that is large enough.
func (t *TensorSpec) Dense(room *[]byte, turn int) engine.Dense { return t.Among(room, turn, turn) }

// Among is Dense with the values of another turn in the bytes that the tensor does not cover.
func (t *TensorSpec) Among(room *[]byte, turn, beside int) engine.Dense {
	s := t.Layout()
	elements := int64(1)
	for i, n := range t.Sizes {
		if n == 0 {
			elements = 0
			break
		}
		elements += (n - 1) * s.Strides[i]
	}
	switch {
	case elements == 0:
	case t.Arrangement == tensor.Between:
		elements += 2 * neighbours
	case t.Arrangement == tensor.Padded:
		elements += padding
	case s.Offset > 0:
		elements += 2
	}
	d := Element(t.DType)
	*room = slices.Grow((*room)[:0], int(elements)*d.Size())
	s.Data = (*room)[:elements*int64(d.Size())]
	t.fill(s, d, turn, beside)
	return s
}

// Surrounded reports whether the tensor's storage has other elements.
func (t *TensorSpec) Surrounded() bool {
	return slices.Contains([]tensor.Arrangement{tensor.Sliced, tensor.Offset, tensor.Between,
		tensor.Padded}, t.Arrangement)
}

// Usual reports whether the elements are usual floating-point values, which differ by turn.
func (t *TensorSpec) Usual() bool {
	c := Element(t.DType).Class()
	return t.Fill.Name == "" && len(t.Values) == 0 && (c == tensor.Floating || c == tensor.Complex)
}

const (
	neighbours = 16 // the size of a vector register, before and after a tensor between others
	padding    = 2  // after each row
)

// Layout returns the layout of the elements.
func (t *TensorSpec) Layout() engine.Dense {
	s := engine.Dense{DType: t.DType, Sizes: t.Sizes, Strides: t.Strides()}
	switch {
	case slices.Contains(t.Sizes, 0):
	case t.Arrangement == tensor.Sliced || t.Arrangement == tensor.Offset:
		s.Offset = 1
	case t.Arrangement == tensor.Between:
		s.Offset = neighbours
	}
	return s
}

func (t *TensorSpec) Strides() []int64 {
	rank := len(t.Sizes)
	order := make([]int, rank) // dimensions, innermost last
	for i := range order {
		order[i] = i
	}
	switch {
	case t.Arrangement == tensor.Transposed && rank >= 2:
		order[rank-1], order[rank-2] = order[rank-2], order[rank-1]
	case t.Arrangement == tensor.ChannelsLast && (rank == 4 || rank == 5):
		order = append(slices.Delete(order, 1, 2), 1)
	}
	strides := make([]int64, rank)
	step := int64(1)
	if t.Arrangement == tensor.Sliced {
		step = 2
	}
	for i := rank - 1; i >= 0; i-- {
		strides[order[i]] = step
		step *= max(1, t.Sizes[order[i]])
		if t.Arrangement == tensor.Padded && i == rank-1 {
			step += padding
		}
	}
	if t.Arrangement == tensor.Expanded && rank > 0 {
		strides[0] = 0
	}
	return strides
}

// fill writes the values, in the order of the elements' indices. Bytes that the tensor does not
// cover get the default values of the turn beside.
func (t *TensorSpec) fill(s engine.Dense, d tensor.DType, turn, beside int) {
	size := int64(d.Size())
	put := func(i int64, v float64) { d.Put(s.Data[i*size:], v, v/2) } // the other half is imaginary
	first := min(usualPeriod*size, int64(len(s.Data)))
	for i := range first / size {
		put(i, usual(int(i), beside, d.Class()))
	}
	for n := first; n < int64(len(s.Data)); n *= 2 {
		copy(s.Data[n:], s.Data[:n])
	}
	plain := t.Fill.Name == "" && len(t.Values) == 0
	if plain && turn == beside || //mutate:equivalent false: only saves time
		slices.Contains(t.Sizes, 0) {
		return
	}
	index := make([]int64, len(t.Sizes))
	for n := 0; ; n++ {
		at := s.Offset
		for i, k := range index {
			at += k * s.Strides[i]
		}
		if plain {
			put(at, usual(int(at), turn, d.Class()))
		} else {
			put(at, t.value(d, n, turn, index))
		}
		if !next(index, t.Sizes) {
			return
		}
	}
}

// next increments an index, the last dimension fastest.
func next(index, sizes []int64) bool {
	for i := len(index) - 1; i >= 0; i-- {
		if index[i]++; index[i] < sizes[i] {
			return true
		}
		index[i] = 0
	}
	return false
}

// usualPeriod is the period of the usual values, in every class.
const usualPeriod = 48

// usual returns values in (0, 1) for floating point, which are probabilities and in the domain of
// nearly every function, and 0 and 1 for integers, which are valid indices, zero first. Tensors of
// different turns differ: otherwise copying one to the other would change nothing.
func usual(n, turn int, c tensor.DTypeClass) float64 {
	switch c {
	case tensor.Integral:
		return digit(wholes, n, turn)
	case tensor.Boolean:
		return digit(truths, n, turn)
	}
	return float64(1+(n*7+turn*5)%16) / 17
}

// Usual integers and bools, by turn.
var (
	wholes = []string{"01", "0110", "001", "0011"}
	truths = []string{"010", "0110", "1001", "110"}
)

func digit(patterns []string, n, turn int) float64 {
	pattern := patterns[turn%len(patterns)]
	return float64(pattern[n%len(pattern)] - '0')
}

var fills = []string{"below", "const", "in", "ascending", "sum", "range", "offsets", "count", "spd", "lower", "upper",
	"equal", "negative", "wide", "special", "max", "lowest", "subnormal"}

// Value returns element n, at an index, of tensor number turn of a case.
func (t *TensorSpec) Value(n, turn int, index []int64) float64 {
	return t.value(Element(t.DType), n, turn, index)
}

func (t *TensorSpec) value(d tensor.DType, n, turn int, index []int64) float64 {
	if n < len(t.Values) {
		return t.Values[n]
	}
	switch class := d.Class(); t.Fill.Name {
	case "":
		return usual(n, turn, class)
	case "equal": // the values of the first tensor
		return usual(n, 0, class)
	case "below": // integers below a bound, all of them
		return float64(n % max(1, int(t.Fill.Value)))
	case "const":
		return t.Fill.Value
	case "in": // the two ends, and values between
		return between(t.Fill.Value, t.Fill.High, n, class)
	case "ascending": // from 0 to a bound, evenly
		last := max(1, tensor.Numel(t.Sizes)-1)
		return math.Floor(t.Fill.Value * float64(n) / float64(last))
	case "sum": // integers that add up to a bound, evenly
		count := float64(max(1, tensor.Numel(t.Sizes)))
		return math.Floor(t.Fill.Value*float64(n+1)/count) - math.Floor(t.Fill.Value*float64(n)/count)
	case "range": // 0, 1, 2, ... along the last dimension
		if len(index) == 0 {
			return 0
		}
		return float64(index[len(index)-1])
	case "offsets": // 0, 2, 4, ...
		return float64(2 * n)
	case "count": // 1, 2, 3, ...
		return float64(n + 1)
	case "negative": // for floating point the usual values, negated; else -1, -2, -3
		if class == tensor.Floating || class == tensor.Complex {
			return -usual(n, turn, class)
		}
		return float64(-1 - n%3)
	case "wide": // -7 to 8, for floating point with halves
		v := float64((n*5+turn*3)%16 - 7)
		if class == tensor.Floating || class == tensor.Complex {
			v += 0.5 * float64(n%2)
		}
		return v
	case "special":
		return special(d, n)
	case "max":
		largest, _, _ := d.Limits()
		return largest
	case "lowest":
		_, lowest, _ := d.Limits()
		return lowest
	case "subnormal":
		_, _, subnormal := d.Limits()
		return subnormal
	case "spd", "lower", "upper": // diagonally dominant
		return matrix(t.Fill.Name, index)
	}
	return float64(n)
}

// between returns element n of a repeated sequence through a range.
func between(low, high float64, n int, c tensor.DTypeClass) float64 {
	if c == tensor.Integral || c == tensor.Boolean {
		return low + float64(n%max(1, int(high-low)+1))
	}
	return low + (high-low)*[]float64{0, 1, 0.5, 0.25, 0.75}[n%5]
}

// special returns in turn the values that kernels treat specially, NaN first.
func special(d tensor.DType, n int) float64 {
	largest, lowest, subnormal := d.Limits()
	all := []float64{math.NaN(), 0, math.Inf(1), 1, math.Copysign(0, -1), math.Inf(-1), subnormal, largest, lowest, -1}
	if counts(d) {
		all = []float64{0, largest, 1, lowest, 2}
	}
	return all[n%len(all)]
}

func matrix(name string, index []int64) float64 {
	r := len(index)
	if r < 2 {
		return 1
	}
	switch i, j := index[r-2], index[r-1]; {
	case i == j:
		return float64(4 + i)
	case name == "lower" && j > i, name == "upper" && i > j:
		return 0
	}
	return 0.25
}
