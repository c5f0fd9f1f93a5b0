package maker_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/opassert/opassert/asserts/maker"
)

func spec(sizes, strides []int64, offset int64, data ...byte) maker.Spec {
	return maker.Spec{DType: "uint8", Sizes: sizes, Strides: strides, Offset: offset, Data: data}
}

func TestSpec(t *testing.T) {
	for _, test := range []struct {
		name     string
		spec     maker.Spec
		elements []uint8 // nil: not in row-major order, without gaps
	}{
		{"vector", spec([]int64{3}, []int64{1}, 0, 1, 2, 3), []uint8{1, 2, 3}},
		{"scalar", spec(nil, nil, 0, 7), []uint8{7}},
		{"matrix", spec([]int64{2, 2}, []int64{2, 1}, 0, 1, 2, 3, 4), []uint8{1, 2, 3, 4}},
		{"row of any stride", spec([]int64{1, 2}, []int64{9, 1}, 0, 1, 2), []uint8{1, 2}},
		{"empty of any stride", spec([]int64{0, 2}, []int64{9, 9}, 0), []uint8{}},
		{"transposed", spec([]int64{2, 2}, []int64{1, 2}, 0, 1, 2, 3, 4), nil},
		{"every other", spec([]int64{2}, []int64{2}, 0, 1, 2, 3), nil},
		{"among others", spec([]int64{2}, []int64{1}, 1, 1, 2, 3, 4), []uint8{2, 3}},
	} {
		elements, err := maker.Elements[uint8](test.spec)
		if !slices.Equal(elements, test.elements) || (err == nil) != (test.elements != nil) || test.spec.Contiguous() != (err == nil && test.spec.Offset == 0) {
			t.Errorf("%s: %v, %v", test.name, elements, err)
		}
		if storage, err := maker.Storage[uint8](test.spec); err != nil || !slices.Equal(storage, test.spec.Data) {
			t.Errorf("%s: storage %v, %v", test.name, storage, err)
		}
	}
	for _, test := range []struct {
		name   string
		spec   maker.Spec
		data   []uint8 // nil: refused
		stride int
	}{
		{"matrix", spec([]int64{2, 2}, []int64{2, 1}, 0, 1, 2, 3, 4), []uint8{1, 2, 3, 4}, 2},
		{"padded", spec([]int64{2, 2}, []int64{3, 1}, 1, 0, 1, 2, 3, 4, 5, 6), []uint8{1, 2, 3, 4, 5}, 3},
		{"padded column", spec([]int64{2, 1}, []int64{3, 7}, 0, 1, 2, 3, 4, 5), []uint8{1, 2, 3, 4}, 3},
		{"row", spec([]int64{1, 2}, []int64{9, 1}, 0, 1, 2), []uint8{1, 2}, 2},
		{"empty", spec([]int64{0, 2}, []int64{9, 9}, 0), []uint8{}, 2},
		{"transposed", spec([]int64{2, 2}, []int64{1, 2}, 0, 1, 2, 3, 4), nil, 0},
		{"every other of padded rows", spec([]int64{2, 2}, []int64{5, 2}, 0, 1, 2, 3, 4, 5, 6, 7, 8), nil, 0},
		{"overlapping", spec([]int64{2, 2}, []int64{1, 1}, 0, 1, 2, 3), nil, 0},
		{"vector", spec([]int64{3}, []int64{1}, 0, 1, 2, 3), nil, 0},
	} {
		data, stride, err := maker.Rows[uint8](test.spec)
		if !slices.Equal(data, test.data) || stride != test.stride || (err == nil) != (test.data != nil) {
			t.Errorf("%s: rows %v, %d apart, %v", test.name, data, stride, err)
		}
	}
	if _, _, err := maker.Rows[int8](spec([]int64{1, 1}, []int64{1, 1}, 0, 1)); !errors.Is(err, maker.ErrUnsupported) {
		t.Errorf("rows of another dtype: %v", err)
	}
	for dims, ok := range map[int]bool{0: false, 1: true, 2: false} {
		if _, err := maker.Elements[uint8](spec([]int64{1}, []int64{1}, 0, 1), dims); errors.Is(err, maker.ErrUnsupported) == ok {
			t.Errorf("a vector where %d dimensions are wanted: %v", dims, err)
		}
	}
	if _, err := maker.Elements[int8](spec(nil, nil, 0, 1)); !errors.Is(err, maker.ErrUnsupported) {
		t.Errorf("a dtype that is another: %v", err)
	}
}
