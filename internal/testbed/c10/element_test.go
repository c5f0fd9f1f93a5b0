package c10

import (
	"math"
	"testing"
)

func TestElements(t *testing.T) {
	for _, tt := range []struct {
		d    DType
		in   float64
		want float64
	}{
		{Bool, 7, 1}, {Bool, 0.5, 1}, {Bool, 0, 0},
		{Uint8, 200, 200},
		{Int32, -5, -5},
		{Int64, -1 << 40, -1 << 40},
		{Int64, 2.9, 2},
		{Float32, 0.1, float64(float32(0.1))},
		{Float64, 0.1, 0.1},
		{Float64, math.Inf(-1), math.Inf(-1)},
	} {
		x := Full([]int64{3}, 9, TensorOptions{DType: tt.d})
		x.SetFloat(1, tt.in)
		if got := x.Float(1); got != tt.want {
			t.Errorf("%v: wrote %v, read %v, want %v", tt.d, tt.in, got, tt.want)
		}
		if x.Float(0) != x.Float(2) || x.Float(0) == 0 {
			t.Errorf("%v: neighbours are %v and %v", tt.d, x.Float(0), x.Float(2))
		}
	}
}

func TestIntElements(t *testing.T) {
	for _, d := range []DType{Int64, Float64, Int32, Uint8, Bool} {
		x := Empty([]int64{2}, TensorOptions{DType: d})
		x.SetInt(1, 1)
		if x.Int(1) != 1 || x.Int(0) != 0 {
			t.Errorf("%v: read %d and %d", d, x.Int(0), x.Int(1))
		}
	}
	x := FromInts([]int64{math.MaxInt64}, []int64{1}, TensorOptions{})
	if x.Int(0) != math.MaxInt64 {
		t.Errorf("int64 lost bits: %d", x.Int(0))
	}
}

func TestElementsOfViews(t *testing.T) {
	x := FromFloats([]float64{0, 1, 2, 3, 4, 5}, []int64{2, 3}, f32)
	for _, tt := range []struct {
		name           string
		sizes, strides []int64
		offset         int64
		want           []float64
	}{
		{"transposed", []int64{3, 2}, []int64{1, 3}, 0, []float64{0, 3, 1, 4, 2, 5}},
		{"column", []int64{2}, []int64{3}, 1, []float64{1, 4}},
		{"expanded", []int64{2, 2}, []int64{0, 1}, 4, []float64{4, 5, 4, 5}},
		{"0-dim", nil, nil, 5, []float64{5}},
	} {
		view := x.AsStrided(tt.sizes, tt.strides, tt.offset)
		for i, want := range tt.want {
			if got := view.Float(int64(i)); got != want {
				t.Errorf("%s: element %d is %v, want %v", tt.name, i, got, want)
			}
		}
		panics(t, "element", func() { view.Float(int64(len(tt.want))) })
	}
}

func TestCopyElement(t *testing.T) {
	nan := FromBytes([]byte{1, 0, 0x80, 0x7f}, []int64{1}, Float32) // a signalling NaN
	x := Empty([]int64{1}, f32)
	x.CopyElement(0, nan, 0)
	if x.Bytes()[0] != 1 {
		t.Errorf("copying changed bits: % x", x.Bytes())
	}
	big := FromInts([]int64{1<<53 + 1}, []int64{1}, TensorOptions{})
	y := Empty([]int64{1}, TensorOptions{DType: Int64})
	y.CopyElement(0, big, 0)
	if y.Int(0) != 1<<53+1 {
		t.Errorf("copied %d", y.Int(0))
	}
	x.CopyElement(0, big, 0)
	if x.Float(0) != 1<<53 {
		t.Errorf("converted to %v", x.Float(0))
	}
}

func TestMetaElements(t *testing.T) {
	x := Full([]int64{2}, 3, TensorOptions{DType: Float32, Device: Meta})
	x.SetInt(0, 4)
	if x.Float(0) != 0 || x.Int(1) != 0 || x.Bytes() != nil {
		t.Errorf("a meta tensor has values")
	}
	panics(t, "element 2", func() { x.SetFloat(2, 1) })
}

func TestComplexElements(t *testing.T) {
	x := Full([]int64{1}, 3, TensorOptions{DType: Complex64})
	parts := x.AsStridedDType(Float32, []int64{2}, []int64{1}, 0)
	if parts.Float(0) != 3 || parts.Float(1) != 0 {
		t.Errorf("parts %v and %v", parts.Float(0), parts.Float(1))
	}
	panics(t, "complex element", func() { x.Float(0) })
}
