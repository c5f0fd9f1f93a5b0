package suite

import "slices"

// dense lays a tensor out in a storage of its own.
func (t *TensorSpec) dense() Dense {
	s := Dense{DType: t.DType, Sizes: t.Sizes, Strides: t.strides()}
	elements := int64(1)
	for i, n := range t.Sizes {
		if n == 0 {
			elements = 0
			break
		}
		elements += (n - 1) * s.Strides[i]
	}
	if t.Arrangement == Sliced && elements > 0 {
		s.Offset = 1
		elements += 2
	}
	d := dtypes[t.DType]
	s.Data = make([]byte, elements*d.size)
	t.fill(s, d)
	return s
}

func (t *TensorSpec) strides() []int64 {
	rank := len(t.Sizes)
	order := make([]int, rank) // dimensions, innermost last
	for i := range order {
		order[i] = i
	}
	switch {
	case t.Arrangement == Transposed && rank >= 2:
		order[rank-1], order[rank-2] = order[rank-2], order[rank-1]
	case t.Arrangement == ChannelsLast && (rank == 4 || rank == 5):
		order = append(slices.Delete(order, 1, 2), 1)
	}
	strides := make([]int64, rank)
	step := int64(1)
	if t.Arrangement == Sliced {
		step = 2
	}
	for i := rank - 1; i >= 0; i-- {
		strides[order[i]] = step
		step *= max(1, t.Sizes[order[i]])
	}
	if t.Arrangement == Expanded && rank > 0 {
		strides[0] = 0
	}
	return strides
}

// fill writes the values, in the order of the elements' indices. Bytes that
// the tensor does not cover get the default values.
func (t *TensorSpec) fill(s Dense, d dtype) {
	for i := range int64(len(s.Data)) / d.size {
		d.put(s.Data[i*d.size:], usual(int(i), d.class))
	}
	if t.Fill.Name == "" || slices.Contains(t.Sizes, 0) {
		return
	}
	index := make([]int64, len(t.Sizes))
	for n := 0; ; n++ {
		at := s.Offset
		for i, k := range index {
			at += k * s.Strides[i]
		}
		d.put(s.Data[at*d.size:], t.value(n, index))
		if !next(index, t.Sizes) {
			return
		}
	}
}

// next steps an index, the last dimension fastest.
func next(index, sizes []int64) bool {
	for i := len(index) - 1; i >= 0; i-- {
		if index[i]++; index[i] < sizes[i] {
			return true
		}
		index[i] = 0
	}
	return false
}

// usual gives values in (0, 1) for floating point, for they are probabilities
// and in the domain of nearly every function, and 0 and 1 for whole numbers,
// for they are valid indices.
func usual(n int, c class) float64 {
	switch c {
	case integral:
		return float64(n % 2)
	case boolean:
		return float64((n + n/3) % 2)
	}
	return float64(1+(n*7)%16) / 17
}

// fills are the names of fills.
var fills = []string{"below", "const", "range", "offsets", "count", "spd", "lower", "upper"}

func (t *TensorSpec) value(n int, index []int64) float64 {
	switch t.Fill.Name {
	case "below": // whole numbers below a bound, every one of them
		return float64(n % max(1, int(t.Fill.Value)))
	case "const":
		return t.Fill.Value
	case "range": // 0, 1, 2, ... along the last dimension
		if len(index) == 0 {
			return 0
		}
		return float64(index[len(index)-1])
	case "offsets": // 0, 2, 4, ...
		return float64(2 * n)
	case "count": // 1, 2, 3, ...
		return float64(n + 1)
	case "spd", "lower", "upper": // diagonally dominant
		return matrix(t.Fill.Name, index)
	}
	return float64(n)
}

func matrix(name string, index []int64) float64 {
	r := len(index)
	if r < 2 {
		return 1
	}
	i, j := index[r-2], index[r-1]
	switch {
	case i == j:
		return float64(4 + i)
	case name == "lower" && j > i, name == "upper" && i > j:
		return 0
	}
	return 0.25
}
