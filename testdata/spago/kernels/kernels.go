// Package kernels has operators over spago's mat.Dense, a generic type of
// another module. Ravel has a bug.
package kernels

import (
	"github.com/nlpodyssey/spago/mat"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/maker"
)

//go:generate go run github.com/opassert/opassert/cmd/opassert gen -schema ../ops.yaml -kernels . -out ../ops

// Observe says what a matrix is made of. mat.Data is the slice itself where it
// is asked for in the matrix's own type.
//
//opassert:observe
func Observe(m *mat.Dense[float32], o *asserts.Observation, level asserts.Level) {
	asserts.ObserveSlice(o, level, m, mat.Data[float32](m), int64(m.Shape()[0]), int64(m.Shape()[1]))
}

// FromSpec makes a matrix.
//
//opassert:make
func FromSpec(s maker.Spec) (*mat.Dense[float32], error) {
	data, err := maker.Elements[float32](s, 2)
	if err != nil {
		return nil, err
	}
	if s.Len() == 0 {
		return nil, maker.Unsupported("empty matrices")
	}
	return mat.NewDense[float32](mat.WithShape(int(s.Sizes[0]), int(s.Sizes[1])), mat.WithBacking(data)), nil
}

//opassert:kernel add.Tensor
func Add(self, other *mat.Dense[float32]) *mat.Dense[float32] {
	return self.Add(other).(*mat.Dense[float32])
}

//opassert:kernel mul_.Tensor
func MulInPlace(self, other *mat.Dense[float32]) *mat.Dense[float32] {
	self.ProdInPlace(other)
	return self
}

// Ravel reshapes its argument where it was to make a copy.
//
//opassert:kernel ravel
func Ravel(self *mat.Dense[float32]) *mat.Dense[float32] {
	return self.FlattenInPlace().(*mat.Dense[float32])
}

//opassert:kernel t
func T(self *mat.Dense[float32]) *mat.Dense[float32] { return self.T().(*mat.Dense[float32]) }
