package compare

import (
	"testing"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/internal/tensor"
)

// Indices of equal elements are alike, in all of an argument or along a dimension, and no others.
func TestTied(t *testing.T) {
	matrix := elements(tensor.Float32, []int64{2, 3}, []int64{3, 1}, 7, 1, 7, 2, 5, 5)
	columns := elements(tensor.Float32, []int64{2, 3}, []int64{1, 2}, 7, 2, 1, 5, 7, 5) // the same numbers
	column := elements(tensor.Float32, []int64{3, 1}, []int64{1, 1}, 4, 4, 6)
	for _, tt := range []struct {
		name  string
		given *asserts.Snapshot
		dtype tensor.DType
		a, b  []float64
		tied  bool
	}{
		{"of all", matrix, tensor.Int64, []float64{0}, []float64{2}, true},
		{"of all, behind the first row", matrix, tensor.Int64, []float64{4}, []float64{5}, true},
		{"of a larger one", matrix, tensor.Int64, []float64{1}, []float64{2}, false},
		{"along the last dimension", matrix, tensor.Int64, []float64{0, 1}, []float64{2, 2}, true},
		{"of several each", matrix, tensor.Int64, []float64{0, 2, 1, 2}, []float64{2, 0, 2, 1}, true},
		{"transposed", columns, tensor.Int64, []float64{0, 1}, []float64{2, 2}, true},
		{"one row of two", matrix, tensor.Int64, []float64{0, 1}, []float64{2, 0}, false},
		{"along the first dimension", column, tensor.Int64, []float64{0}, []float64{1}, true},
		{"along the first dimension, of a larger one", column, tensor.Int64, []float64{0}, []float64{2}, false},
		{"beyond the last", matrix, tensor.Int64, []float64{6}, []float64{0}, false},
		{"beyond the last, on the CPU", matrix, tensor.Int64, []float64{0}, []float64{6}, false},
		{"before the first", matrix, tensor.Int64, []float64{-1}, []float64{0}, false},
		{"floating point", matrix, tensor.Float32, []float64{0}, []float64{2}, false},
		{"of complex numbers", elements(tensor.Complex64, []int64{2}, []int64{1}, 1, 1, 1, 1), tensor.Int64, []float64{0}, []float64{1}, false},
		{"of a dtype that is not read", &asserts.Snapshot{DType: "float8_e5m2", Sizes: []int64{2}, Strides: []int64{1}, Nbytes: 2, Bytes: []byte{9, 9}}, tensor.Int64, []float64{0}, []float64{1}, false},
		{"of a tensor that is not within its storage", &asserts.Snapshot{DType: "float32", Sizes: []int64{4}, Strides: []int64{1}, Nbytes: 8, Bytes: make([]byte, 8)}, tensor.Int64, []float64{0}, []float64{1}, false},
		{"of 0, and beyond the last", elements(tensor.Float32, []int64{2}, []int64{1}, 0, 1), tensor.Int64, []float64{5}, []float64{0}, false},
		{"of 0, and beyond the last on the CPU", elements(tensor.Float32, []int64{2}, []int64{1}, 0, 1), tensor.Int64, []float64{0}, []float64{5}, false},
		{"of none", elements(tensor.Float32, []int64{0, 2}, []int64{2, 1}), tensor.Int64, []float64{0}, []float64{1}, false},
		{"of nothing known", nil, tensor.Int64, []float64{0}, []float64{1}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			op := &asserts.Op{Name: "t::f", Args: []asserts.Subject{{Name: "x", Type: "Tensor"}}, Results: []asserts.Subject{{Name: "result", Type: "Tensor"}}}
			call := func(of ...float64) *asserts.Seen {
				given := []asserts.Observation{{Impl: 1, Storage: 1, Content: tt.given}}
				return &asserts.Seen{Before: given, After: given, Results: []asserts.Observation{{Impl: 2, Storage: 2, Content: elements(tt.dtype, []int64{int64(len(of))}, []int64{1}, of...)}}}
			}
			verdict := Values(op, call(tt.a...), call(tt.b...), "cpu", 1e-3, asserts.Aware())
			if tied := len(verdict.Violations) == 0; tied != tt.tied {
				t.Errorf("tied is %v, want %v", tied, tt.tied)
			}
			if tt.tied && (len(verdict.Skips) != 1 || verdict.Skips[0].Reason != "values not compared: "+equalOnes) {
				t.Errorf("counted are %v", verdict.Skips)
			}
		})
	}
}
