package kernels

import (
	"math"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

//go:generate go run github.com/opassert/opassert/cmd/opassert gen -schema ../ops.yaml -kernels . -out ../ops

// build makes an array of n values, some of which are valid.
func build(n int, value func(int) (float64, bool)) *array.Float64 {
	b := array.NewFloat64Builder(memory.DefaultAllocator)
	defer b.Release()
	for i := range n {
		if v, valid := value(i); valid {
			b.Append(v)
		} else {
			b.AppendNull()
		}
	}
	return b.NewFloat64Array()
}

//opassert:kernel add.Tensor
func Add(self, other *array.Float64) *array.Float64 {
	if self.Len() != other.Len() {
		panic("add: the lengths differ")
	}
	return build(self.Len(), func(i int) (float64, bool) {
		return self.Value(i) + other.Value(i), self.IsValid(i) && other.IsValid(i)
	})
}

//opassert:kernel narrow
func Narrow(self *array.Float64, start, length int64) *array.Float64 {
	return array.NewSlice(self, start, start+length).(*array.Float64)
}

// Neg never releases its reference.
//
//opassert:kernel neg
func Neg(self *array.Float64) *array.Float64 {
	self.Retain()
	return build(self.Len(), func(i int) (float64, bool) { return -self.Value(i), self.IsValid(i) })
}

// Abs releases a reference that it does not have.
//
//opassert:kernel abs
func Abs(self *array.Float64) *array.Float64 {
	defer self.Release()
	return build(self.Len(), func(i int) (float64, bool) { return math.Abs(self.Value(i)), self.IsValid(i) })
}

// NanToNum marks values as valid in the array that it was given.
//
//opassert:kernel nan_to_num
func NanToNum(self *array.Float64) *array.Float64 {
	for i := range self.NullBitmapBytes() {
		self.NullBitmapBytes()[i] ^= 1
	}
	return build(self.Len(), func(i int) (float64, bool) { return self.Value(i), true })
}

// Reciprocal returns an array with the validity of the one that it was given.
//
//opassert:kernel reciprocal
func Reciprocal(self *array.Float64) *array.Float64 {
	result := build(self.Len(), func(i int) (float64, bool) { return 1 / self.Value(i), true })
	defer result.Release()
	data := result.Data().(*array.Data)
	mixed := array.NewData(data.DataType(), data.Len(), []*memory.Buffer{self.Data().Buffers()[0], data.Buffers()[1]}, nil, 0, 0)
	defer mixed.Release()
	return array.NewFloat64Data(mixed)
}
