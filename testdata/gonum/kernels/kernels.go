// Package kernels has operators over gonum's mat.Dense, a type of another
// module that can't be given a method. Relu and NegInPlace have a bug.
package kernels

import (
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/maker"
)

//go:generate go run github.com/opassert/opassert/cmd/opassert gen -schema ../ops.yaml -kernels . -out ../ops

// Observe says what a matrix is made of: the Dense itself, and the array behind
// its slice, of which mat's views are parts.
//
//opassert:observe
func Observe(m *mat.Dense, o *asserts.Observation, level asserts.Level) {
	raw := m.RawMatrix()
	o.Impl, o.Storage = asserts.PointerID(m), asserts.SliceID(raw.Data)
	o.ImplUses, o.StorageUses, o.Traits = asserts.NotCounted, asserts.NotCounted, asserts.NoVersion
	if level >= asserts.Content {
		o.Look(func() {
			sizes, strides := []int64{int64(raw.Rows), int64(raw.Cols)}, []int64{int64(raw.Stride), 1}
			o.Content = asserts.SliceContent(raw.Data, sizes, strides, 0)
		})
	}
}

// FromSpec makes a matrix.
//
//opassert:make
func FromSpec(s maker.Spec) (*mat.Dense, error) {
	data, stride, err := maker.Rows[float64](s)
	if err != nil {
		return nil, err
	}
	if s.Len() == 0 {
		return nil, maker.Unsupported("empty matrices")
	}
	m := new(mat.Dense)
	m.SetRawMatrix(blas64.General{Rows: int(s.Sizes[0]), Cols: int(s.Sizes[1]), Stride: stride, Data: data})
	return m, nil
}

//opassert:kernel mm
func Mm(self, mat2 *mat.Dense) *mat.Dense {
	var product mat.Dense
	product.Mul(self, mat2)
	return &product
}

//opassert:kernel add_.Tensor
func AddInPlace(self, other *mat.Dense) *mat.Dense {
	self.Add(self, other)
	return self
}

//opassert:kernel narrow
func Narrow(self *mat.Dense, dim, start, length int64) *mat.Dense {
	rows, cols := self.Dims()
	from, to := [2]int{}, [2]int{rows, cols}
	from[dim], to[dim] = int(start), int(start+length)
	return self.Slice(from[0], to[0], from[1], to[1]).(*mat.Dense)
}

// Relu takes the matrix that it makes for a copy: its array is that of self.
//
//opassert:kernel relu
func Relu(self *mat.Dense) *mat.Dense {
	rows, cols := self.Dims()
	result := mat.NewDense(rows, cols, self.RawMatrix().Data[:rows*cols])
	for i, v := range self.RawMatrix().Data {
		result.RawMatrix().Data[i] = max(v, 0)
	}
	return result
}

// NegInPlace takes the array for the matrix: of a part of a larger one it negates what
// lies between the rows too.
//
//opassert:kernel neg_
func NegInPlace(self *mat.Dense) *mat.Dense {
	for i := range self.RawMatrix().Data {
		self.RawMatrix().Data[i] *= -1
	}
	return self
}
