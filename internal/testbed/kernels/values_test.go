package kernels

import (
	"cmp"
	"context"
	"math"
	"slices"
	"testing"

	"github.com/opassert/opassert/internal/testbed/c10"
)

// What PyTorch 1.13.1 returns for the same calls.

func TestValues(t *testing.T) {
	ctx := context.Background()
	x := matrix(2, 3, -2, 1.5, -.5, 3, 1, -1)
	y := matrix(2, 3, .5, 2, -1, 0, 4, 3)
	withNaN := matrix(2, 3, 1, nan, 3, 2, 5, -1)
	sq := matrix(2, 2, 1, 2, 3, 4)
	v := vector(1, 2, 3)
	cube := c10.FromFloats([]float64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, []int64{2, 3, 2}, x.Options())
	dup := c10.NewSparseCOO(View(numbers(1, 0, 1, 2, 1, 2), []int64{2, 3}), v, []int64{2, 3}, false)
	crow := numbers(0, 1, 3)
	csr := c10.NewSparseCSR(crow, numbers(1, 0, 2), v, []int64{2, 3})
	sum := AddTensor(dup, dup, 2)
	rebuilt := SparseCooTensorWithDimsAndTensors(2, 0, []int64{2, 3}, dup.Indices(), v, nil, nil, nil, nil, nil)

	for _, tt := range []struct {
		name string
		got  []*c10.Tensor
		want []value
	}{

		{"one(AddTensor(x, y, 2))", one(AddTensor(x, y, 2)), []value{{[]int64{2, 3}, []float64{-1, 5.5, -2.5, 3, 9, 5}}}},
		{"one(AddTensor(x, v, 1))", one(AddTensor(x, v, 1)), []value{{[]int64{2, 3}, []float64{-1, 3.5, 2.5, 4, 3, 2}}}},
		{"one(MulTensor(x, y))", one(MulTensor(x, y)), []value{{[]int64{2, 3}, []float64{-1, 3, 0.5, 0, 4, -3}}}},
		{"one(Neg(x))", one(Neg(x)), []value{{[]int64{2, 3}, []float64{2, -1.5, 0.5, -3, -1, 1}}}},
		{"one(Relu(x))", one(Relu(x)), []value{{[]int64{2, 3}, []float64{0, 1.5, 0, 3, 1, 0}}}},
		{"one(Clamp(x, ptr(-1.0), ptr(1.0)))", one(Clamp(x, ptr(-1.0), ptr(1.0))), []value{{[]int64{2, 3}, []float64{-1, 1, -0.5, 1, 1, -1}}}},
		{"one(Clamp(x, ptr(1.0), ptr(-1.0)))", one(Clamp(x, ptr(1.0), ptr(-1.0))), []value{{[]int64{2, 3}, []float64{-1, -1, -1, -1, -1, -1}}}},
		{"one(SumDimIntList(x, []int64{0}, false, nil))", one(SumDimIntList(x, []int64{0}, false, nil)), []value{{[]int64{3}, []float64{1, 2.5, -1.5}}}},
		{"one(SumDimIntList(cube, []int64{0, -1}, true, nil))", one(SumDimIntList(cube, []int64{0, -1}, true, nil)), []value{{[]int64{1, 3, 1}, []float64{14, 22, 30}}}},
		{"two(Aminmax(x, ptr(int64(0)), false))", two(Aminmax(x, ptr(int64(0)), false)), []value{{[]int64{3}, []float64{-2, 1, -1}}, {[]int64{3}, []float64{3, 1.5, -0.5}}}},
		{"two(Aminmax(withNaN, ptr(int64(1)), true))", two(Aminmax(withNaN, ptr(int64(1)), true)), []value{{[]int64{2, 1}, []float64{nan, -1}}, {[]int64{2, 1}, []float64{nan, 5}}}},
		{"two(Aminmax(x, nil, false))", two(Aminmax(x, nil, false)), []value{{[]int64{}, []float64{-2}}, {[]int64{}, []float64{3}}}},
		{"fallible(Linear(ctx, x, y, nil))", fallible(Linear(ctx, x, y, nil)), []value{{[]int64{2, 2}, []float64{2.5, 4.5, 4.5, 1}}}},
		{"fallible(Linear(ctx, x, y, SelectInt(sq, 0, 1)))", fallible(Linear(ctx, x, y, SelectInt(sq, 0, 1))), []value{{[]int64{2, 2}, []float64{5.5, 8.5, 7.5, 5}}}},
		{"fallible(Cat(list(x, y, x), 1))", fallible(Cat(list(x, y, x), 1)), []value{{[]int64{2, 9}, []float64{-2, 1.5, -0.5, 0.5, 2, -1, -2, 1.5, -0.5, 3, 1, -1, 0, 4, 3, 3, 1, -1}}}},
		{"ForeachAddList(list(x, v), list(y, v), 2)", ForeachAddList(list(x, v), list(y, v), 2), []value{{[]int64{2, 3}, []float64{-1, 5.5, -2.5, 3, 9, 5}}, {[]int64{3}, []float64{3, 6, 9}}}},
		{"one(Clone(T(x), nil))", one(Clone(T(x), nil)), []value{{[]int64{3, 2}, []float64{-2, 3, 1.5, 1, -0.5, -1}}}},
		{"one(Contiguous(T(x), c10.Contiguous))", one(Contiguous(T(x), c10.Contiguous)), []value{{[]int64{3, 2}, []float64{-2, 3, 1.5, 1, -0.5, -1}}}},
		{"one(ToDtype(x, c10.Int64, false, false, nil))", one(ToDtype(x, c10.Int64, false, false, nil)), []value{{[]int64{2, 3}, []float64{-2, 1, 0, 3, 1, -1}}}},
		{"one(ToDtype(x, c10.Bool, false, false, nil))", one(ToDtype(x, c10.Bool, false, false, nil)), []value{{[]int64{2, 3}, []float64{1, 1, 1, 1, 1, 1}}}},
		{"one(View(cube, []int64{3, -1}))", one(View(cube, []int64{3, -1})), []value{{[]int64{3, 4}, []float64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}}}},
		{"one(View(SliceTensor(cube, 0, ptr(int64(1)), nil, 1), []int64{6, 1}))", one(View(SliceTensor(cube, 0, ptr(int64(1)), nil, 1), []int64{6, 1})), []value{{[]int64{6, 1}, []float64{6, 7, 8, 9, 10, 11}}}},
		{"one(Detach(x))", one(Detach(x)), []value{{[]int64{2, 3}, []float64{-2, 1.5, -0.5, 3, 1, -1}}}},
		{"one(T(x))", one(T(x)), []value{{[]int64{3, 2}, []float64{-2, 3, 1.5, 1, -0.5, -1}}}},
		{"one(T(v))", one(T(v)), []value{{[]int64{3}, []float64{1, 2, 3}}}},
		{"one(SelectInt(cube, 1, -2))", one(SelectInt(cube, 1, -2)), []value{{[]int64{2, 2}, []float64{2, 3, 8, 9}}}},
		{"one(SliceTensor(cube, 1, ptr(int64(-2)), ptr(int64(100)), 1))", one(SliceTensor(cube, 1, ptr(int64(-2)), ptr(int64(100)), 1)), []value{{[]int64{2, 2, 2}, []float64{2, 3, 4, 5, 8, 9, 10, 11}}}},
		{"one(SliceTensor(x, 1, nil, nil, 2))", one(SliceTensor(x, 1, nil, nil, 2)), []value{{[]int64{2, 2}, []float64{-2, -0.5, 3, -1}}}},
		{"one(SliceTensor(x, 1, ptr(int64(2)), ptr(int64(1)), 1))", one(SliceTensor(x, 1, ptr(int64(2)), ptr(int64(1)), 1)), []value{{[]int64{2, 0}, []float64{}}}},
		{"one(Expand(v, []int64{2, -1}, false))", one(Expand(v, []int64{2, -1}, false)), []value{{[]int64{2, 3}, []float64{1, 2, 3, 1, 2, 3}}}},
		{"UnbindInt(x, 1)", UnbindInt(x, 1), []value{{[]int64{2}, []float64{-2, 3}}, {[]int64{2}, []float64{1.5, 1}}, {[]int64{2}, []float64{-0.5, -1}}}},
		{"one(Indices(dup))", one(Indices(dup)), []value{{[]int64{2, 3}, []float64{1, 0, 1, 2, 1, 2}}}},
		{"one(CrowIndices(csr))", one(CrowIndices(csr)), []value{{[]int64{3}, []float64{0, 1, 3}}}},
		{"two(sum.Indices(), sum.Values())", two(sum.Indices(), sum.Values()), []value{{[]int64{2, 6}, []float64{1, 0, 1, 1, 0, 1, 2, 1, 2, 2, 1, 2}}, {[]int64{6}, []float64{1, 2, 3, 2, 4, 6}}}},
		{"two(rebuilt.Indices(), rebuilt.Values())", two(rebuilt.Indices(), rebuilt.Values()), []value{{[]int64{2, 3}, []float64{1, 0, 1, 2, 1, 2}}, {[]int64{3}, []float64{1, 2, 3}}}},
		{"one(EmptyMemoryFormat([]int64{2}, ptr(c10.Int32), nil, nil, nil, nil))", one(EmptyMemoryFormat([]int64{2}, ptr(c10.Int32), nil, nil, nil, nil)), []value{{[]int64{2}, []float64{0, 0}}}},
		{"one(AddTensorInPlace(fresh(x), v, 2))", one(AddTensorInPlace(fresh(x), v, 2)), []value{{[]int64{2, 3}, []float64{0, 5.5, 5.5, 5, 5, 5}}}},
		{"one(ZeroInPlace(fresh(x)))", one(ZeroInPlace(fresh(x))), []value{{[]int64{2, 3}, []float64{0, 0, 0, 0, 0, 0}}}},
		{"one(CopyInPlace(fresh(x), v, false))", one(CopyInPlace(fresh(x), v, false)), []value{{[]int64{2, 3}, []float64{1, 2, 3, 1, 2, 3}}}},
		{"one(TInPlace(fresh(x)))", one(TInPlace(fresh(x))), []value{{[]int64{3, 2}, []float64{-2, 3, 1.5, 1, -0.5, -1}}}},
		{"one(ResizeInPlace(fresh(x), []int64{2, 2}, nil))", one(ResizeInPlace(fresh(x), []int64{2, 2}, nil)), []value{{[]int64{2, 2}, []float64{-2, 1.5, -0.5, 3}}}},
		{"one(SetSourceTensorInPlace(fresh(x), v))", one(SetSourceTensorInPlace(fresh(x), v)), []value{{[]int64{3}, []float64{1, 2, 3}}}},
		{"one(AddOut(x, v, 2, out()))", one(AddOut(x, v, 2, out())), []value{{[]int64{2, 3}, []float64{0, 5.5, 5.5, 5, 5, 5}}}},
		{"two(AminmaxOut(x, ptr(int64(1)), false, out(), out()))", two(AminmaxOut(x, ptr(int64(1)), false, out(), out())), []value{{[]int64{2}, []float64{-2, -1}}, {[]int64{2}, []float64{1.5, 3}}}},
	} {
		expect(t, tt.name, tt.got, tt.want)
	}
}

// A value is an expected tensor.
type value struct {
	sizes  []int64
	values []float64
}

var nan = math.NaN()

func expect(t *testing.T, name string, got []*c10.Tensor, want []value) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d results, want %d", name, len(got), len(want))
		return
	}
	for i, w := range want {
		values := read(got[i])
		same := slices.Equal(got[i].Sizes(), w.sizes) && len(values) == len(w.values)
		for k := 0; same && k < len(values); k++ {
			same = near(values[k], w.values[k])
		}
		if !same {
			t.Errorf("%s: result %d is %v %v, want %v %v", name, i, got[i].Sizes(), values, w.sizes, w.values)
		}
	}
}

func near(a, b float64) bool {
	if math.IsNaN(a) || math.IsNaN(b) || math.IsInf(b, 0) {
		return cmp.Compare(a, b) == 0
	}
	return math.Abs(a-b) <= 2e-6*max(1, math.Abs(b))
}

func matrix(n, m int64, values ...float64) *c10.Tensor {
	return c10.FromFloats(values, []int64{n, m}, c10.TensorOptions{DType: c10.Float32})
}

func vector(values ...float64) *c10.Tensor {
	return c10.FromFloats(values, []int64{int64(len(values))}, c10.TensorOptions{DType: c10.Float32})
}

func numbers(values ...int64) *c10.Tensor {
	return c10.FromInts(values, []int64{int64(len(values))}, c10.TensorOptions{})
}

func scalar(v float64) *c10.Tensor { return c10.Full(nil, v, c10.TensorOptions{DType: c10.Float32}) }

func fresh(t *c10.Tensor) *c10.Tensor { return Clone(t, nil) }

func out() *c10.Tensor { return vector(5) }

func ptr[T any](v T) *T { return &v }

func list(ts ...*c10.Tensor) []*c10.Tensor { return ts }

func one(t *c10.Tensor) []*c10.Tensor { return list(t) }

func two(a, b *c10.Tensor) []*c10.Tensor { return list(a, b) }

func fallible(t *c10.Tensor, err error) []*c10.Tensor {
	if err != nil {
		panic(err)
	}
	return list(t)
}
