// Package kernels holds the operators of package vector. Clamp has a bug.
package kernels

import "example.com/vector"

//go:generate go tool opassert gen -schema ../ops.yaml -kernels . -out ../ops

//opassert:kernel add.Tensor
func Add(self, other *vector.Vector) *vector.Vector {
	sum := make([]float64, len(self.Data()))
	for i, x := range self.Data() {
		sum[i] = x + other.Data()[i]
	}
	return vector.New(sum...)
}

//opassert:kernel add_.Tensor
func AddInplace(self, other *vector.Vector) *vector.Vector {
	data := self.Mutable()
	for i, x := range other.Data() {
		data[i] += x
	}
	return self
}

//opassert:kernel narrow
func Narrow(self *vector.Vector, start, length int64) *vector.Vector {
	return self.Window(int(start), int(start+length))
}

//opassert:kernel cat
func Cat(vectors []*vector.Vector) *vector.Vector {
	var all []float64
	for _, v := range vectors {
		all = append(all, v.Data()...)
	}
	return vector.New(all...)
}

// Clamp returns its input back when there is nothing to clamp. Its schema
// promises something fresh: a caller who writes the result writes the input.
//
//opassert:kernel clamp
func Clamp(self *vector.Vector, lo, hi float64) *vector.Vector {
	clamped := make([]float64, 0, len(self.Data()))
	same := true
	for _, x := range self.Data() {
		y := max(lo, min(hi, x))
		same = same && x == y
		clamped = append(clamped, y)
	}
	if same {
		return self
	}
	return vector.New(clamped...)
}
