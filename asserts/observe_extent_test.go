package asserts

import (
	"math"
	"testing"
)

func TestExtent(t *testing.T) {
	for _, tt := range []struct {
		name           string
		dtype, layout  string
		sizes, strides []int64
		offset         int64
		first, end     int64
		known          bool
	}{
		{"a number", "float32", "", nil, nil, 2, 8, 12, true},
		{"a vector", "float32", "", []int64{3}, []int64{2}, 1, 4, 24, true},
		{"strided", "float32", "strided", []int64{3}, []int64{2}, 1, 4, 24, true},
		{"a strided number", "float32", "Strided number", nil, nil, 0, 0, 4, true},
		{"backwards", "int16", "", []int64{3}, []int64{-2}, 4, 0, 10, true},
		{"one dimension backwards", "int16", "", []int64{2, 3}, []int64{4, -1}, 2, 0, 14, true},
		{"expanded", "int16", "", []int64{9}, []int64{0}, 0, 0, 2, true},
		{"no elements", "int16", "", []int64{4, 0}, []int64{1, 1}, 7, 0, 0, true},
		{"dtype of no size", "qint", "", []int64{3}, []int64{1}, 0, 0, 0, false},
		{"sparse", "float32", "sparse_coo coalesced", []int64{3}, []int64{1}, 0, 0, 0, false},
		{"no strides", "float32", "", []int64{3}, nil, 0, 0, 0, false},
		{"too many strides", "float32", "", []int64{3}, []int64{1, 1}, 0, 0, 0, false},
	} {
		c := &Snapshot{DType: tt.dtype, Layout: tt.layout, Sizes: tt.sizes, Strides: tt.strides, Offset: tt.offset}
		if first, end, known := c.Extent(); first != tt.first || end != tt.end || known != tt.known {
			t.Errorf("%s: extent %d, %d, %v, want %d, %d, %v", tt.name, first, end, known, tt.first, tt.end, tt.known)
		}
	}
}

// Whatever the order of the strides, the runs are the bytes of each element.
func TestRuns(t *testing.T) {
	for _, tt := range []struct {
		name           string
		sizes, strides []int64
		offset         int64
		want           string // of 12 bytes, the covered ones
	}{
		{"a matrix", []int64{2, 3}, []int64{3, 1}, 0, "xxxxxxxxxxxx"},
		{"every second row", []int64{2, 1}, []int64{4, 1}, 1, "..xx......xx"},
		{"backwards", []int64{2}, []int64{-2}, 3, "..xx..xx...."},
		{"a dimension backwards", []int64{2, 2}, []int64{-3, 1}, 3, "xxxx..xxxx.."},
		{"a dimension of one", []int64{1, 2}, []int64{9, 2}, 0, "xx..xx......"},
	} {
		c := &Snapshot{DType: "int16", Sizes: tt.sizes, Strides: tt.strides, Offset: tt.offset}
		got := []byte("............")
		known := c.Runs(func(from, to int64) {
			for i := from; i < to; i++ {
				got[i] = 'x'
			}
		})
		if !known || string(got) != tt.want {
			t.Errorf("%s: %s, known: %v, want %s", tt.name, got, known, tt.want)
		}
	}
}

// No shape that a library reports makes the judge slice out of bounds.
func TestRunsOfNonsense(t *testing.T) {
	for _, tt := range []struct {
		name  string
		c     Snapshot
		known bool
	}{
		{"a negative size", Snapshot{Sizes: []int64{-1}, Strides: []int64{2}}, false},
		{"two negative sizes", Snapshot{Sizes: []int64{-1, -2}, Strides: []int64{2, 1}}, false},
		{"an offset out of range", Snapshot{Offset: math.MaxInt64}, true},
	} {
		tt.c.DType = "uint8"
		known := tt.c.Runs(func(from, to int64) {
			if from > to {
				t.Errorf("%s: a run from %d to %d", tt.name, from, to)
			}
		})
		if known != tt.known {
			t.Errorf("%s: known: %v, want %v", tt.name, known, tt.known)
		}
	}
}

// Within does not know whether elements that share bytes lie within a storage.
func TestWithin(t *testing.T) {
	for _, tt := range []struct {
		snapshot Snapshot
		want     bool
	}{
		{Snapshot{DType: "int16", Sizes: []int64{2}, Strides: []int64{1}, Nbytes: 4}, true},
		{Snapshot{DType: "int16", Sizes: []int64{2}, Strides: []int64{1}, Nbytes: 3}, false},
		{Snapshot{DType: "int16", Sizes: []int64{2}, Strides: []int64{1}, Nbytes: 9, Offset: -1}, false},
		{Snapshot{DType: "bool", Sizes: []int64{20}, Strides: []int64{1}, Nbytes: 8, Offset: -1, ItemSize: Packed}, true},
	} {
		if got := tt.snapshot.Within(); got != tt.want {
			t.Errorf("%+v: %v", tt.snapshot, got)
		}
	}
}
