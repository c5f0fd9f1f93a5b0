package sample

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/opassert/opassert/internal/tensor"
)

func TestDenseLayout(t *testing.T) {
	for _, tt := range []struct {
		text           string
		strides        []int64
		offset, length int64 // of the storage, in elements
	}{
		{"int8[2, 3]", []int64{3, 1}, 0, 6},
		{"int8[]", []int64{}, 0, 1},
		{"int8[2, 0]", []int64{1, 1}, 0, 0},
		{"int8[2, 3] sliced", []int64{6, 2}, 1, 13},
		{"int8[2, 0] sliced", []int64{2, 2}, 0, 0},
		{"int8[2, 3] offset", []int64{3, 1}, 1, 8},
		{"int8[2, 3] transposed", []int64{1, 2}, 0, 6},
		{"int8[3] transposed", []int64{1}, 0, 3},
		{"int8[2, 3, 4] transposed", []int64{12, 1, 3}, 0, 24},
		{"int8[2, 3] padded", []int64{5, 1}, 0, 10},
		{"int8[2, 3, 4] padded", []int64{18, 6, 1}, 0, 36},
		{"int8[2, 3] between", []int64{3, 1}, 16, 38},
		{"int8[2, 0] between", []int64{1, 1}, 0, 0},
		{"int8[2, 3] expanded", []int64{0, 1}, 0, 3},
		{"int8[] expanded", []int64{}, 0, 1},
		{"int8[2, 3, 4, 5]", []int64{60, 20, 5, 1}, 0, 120},
		{"int8[2, 3, 4, 5] channels-last", []int64{60, 1, 15, 3}, 0, 120},
		{"int8[2, 3, 1, 4, 5] channels-last", []int64{60, 1, 60, 15, 3}, 0, 120},
		{"int8[2, 3, 4] channels-last", []int64{12, 4, 1}, 0, 24},
	} {
		var room []byte
		d := value(t, tt.text).Tensor.Dense(&room, 0)
		if diff := cmp.Diff(tt.strides, d.Strides); diff != "" || d.Offset != tt.offset || int64(len(d.Data)) != tt.length {
			t.Errorf("%s: offset %d, %d bytes, strides (-want +got):\n%s", tt.text, d.Offset, len(d.Data), diff)
		}
	}
}

// The elements of a tensor, and the bytes between them.
func TestDenseData(t *testing.T) {
	for _, tt := range []struct {
		text string
		want []byte
	}{
		{"int8[2, 2]", []byte{0, 1, 0, 1}},
		{"int8[2, 3] transposed", []byte{0, 1, 0, 1, 0, 1}}, // in the order of memory
		{"int8[2, 2] count", []byte{1, 2, 3, 4}},
		{"int8[2, 2] transposed count", []byte{1, 3, 2, 4}},
		{"int8[2, 2] = [9, 8]", []byte{9, 8, 0, 1}},
		{"int8[3] sliced count", []byte{0, 1, 0, 2, 0, 3, 0}},
		{"int8[0] count", []byte{}},
		{"int16[2] const:7", []byte{7, 0, 7, 0}},
		{"uint8[] lower", []byte{1}},
	} {
		room := []byte{9, 9, 9, 9, 9, 9, 9, 9}
		if diff := cmp.Diff(tt.want, value(t, tt.text).Tensor.Dense(&room, 0).Data); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.text, diff)
		}
	}
}

// The elements of a tensor are the same among others.
func TestAmong(t *testing.T) {
	for _, tt := range []struct {
		text       string
		want       []byte // turn 0, with turn 1 beside it
		surrounded bool
	}{
		{"int8[2, 2]", []byte{0, 1, 0, 1}, false},
		{"int8[2, 2] transposed", []byte{0, 1, 0, 1}, false},
		{"int8[3] sliced", []byte{0, 1, 1, 1, 0, 1, 1}, true},
		{"int8[3] sliced count", []byte{0, 1, 1, 2, 0, 3, 1}, true},
		{"int8[2] offset = [5, 6]", []byte{0, 5, 6, 0}, true},
		{"int8[1, 2] padded", []byte{0, 1, 1, 0}, true},
		{"int8[0] padded", []byte{}, true},
	} {
		spec := value(t, tt.text).Tensor
		if diff := cmp.Diff(string(tt.want), string(spec.Among(new([]byte), 0, 1).Data)); diff != "" || spec.Surrounded() != tt.surrounded {
			t.Errorf("%s: surrounded %t (-want +got):\n%s", tt.text, spec.Surrounded(), diff)
		}
	}
	if !value(t, "int8[2] between").Tensor.Surrounded() {
		t.Error("nothing is beside a tensor between others")
	}
}

func TestUsual(t *testing.T) {
	for text, want := range map[string]bool{
		"float32[2]": true, "complex64[2]": true, "int64[2]": false, "bool[2]": false, "float32[2] wide": false, "float32[2] = [1, 2]": false,
	} {
		if got := value(t, text).Tensor.Usual(); got != want {
			t.Errorf("%s: usual %t", text, got)
		}
	}
}

// The usual values repeat, however large the tensor is.
func TestUsualValuesRepeat(t *testing.T) {
	for _, dtype := range []string{"int8", "bool", "float32", "complex64"} {
		var room []byte
		d := Tensor(dtype, 5*usualPeriod+7).Tensor.Dense(&room, 0)
		size := Element(dtype).Size()
		for i := 0; i < len(d.Data); i += size {
			if got, want := Element(dtype).Get(d.Data[i:]), usual(i/size, 0, Element(dtype).Class()); math.Abs(got-want) > 1e-6 {
				t.Errorf("%s: element %d is %g, want %g", dtype, i/size, got, want)
			}
		}
	}
}

// Tensors of one call have different values, whatever their dtype, except those that must be equal.
func TestTurnsDiffer(t *testing.T) {
	for _, dtype := range []string{"int8", "bool", "float32", "bfloat16", "complex64"} {
		for _, fill := range []string{"", "equal"} {
			had := make(map[string]int)
			for turn := range 4 {
				spec := Tensor(dtype, 2, 3).Tensor
				spec.Fill.Name = fill
				had[string(spec.Dense(new([]byte), turn).Data)]++
			}
			if want := map[string]int{"": 4, "equal": 1}[fill]; len(had) != want {
				t.Errorf("%s %s: four tensors hold %d sorts of values, want %d", dtype, fill, len(had), want)
			}
		}
	}
	for turn := range 8 {
		if v := usual(0, turn, tensor.Integral); v != 0 {
			t.Errorf("turn %d: whole numbers begin with %g, not with a 0 as offsets do", turn, v)
		}
	}
}

func TestFills(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, tt := range []struct {
		text string
		want []float64 // the first elements
	}{
		{"float32[2] = [5]", []float64{5, usual(1, 0, tensor.Floating)}},
		{"int8[4] below:3", []float64{0, 1, 2, 0}},
		{"int8[2] below:1", []float64{0, 0}},
		{"float32[2] const:0.5", []float64{0.5, 0.5}},
		{"float32[6] in:1..3", []float64{1, 3, 2, 1.5, 2.5, 1}},
		{"int8[4] in:1..3", []float64{1, 2, 3, 1}},
		{"bool[3] in:0..1", []float64{0, 1, 0}},
		{"int8[4] ascending:9", []float64{0, 3, 6, 9}},
		{"int8[4] sum:9", []float64{2, 2, 2, 3}},
		{"int8[2, 2] range", []float64{0, 1, 0, 1}},
		{"int8[] range", []float64{0}},
		{"int8[3] offsets", []float64{0, 2, 4}},
		{"int8[3] count", []float64{1, 2, 3}},
		{"int8[4] negative", []float64{-1, -2, -3, -1}},
		{"float32[2] negative", []float64{-1.0 / 17, -8.0 / 17}},
		{"complex64[2] negative", []float64{-1.0 / 17, -8.0 / 17}},
		{"float32[2] equal", []float64{1.0 / 17, 8.0 / 17}},
		{"int8[4] wide", []float64{-7, -2, 3, 8}},
		{"float32[3] wide", []float64{-7, -1.5, 3}},
		{"complex64[3] wide", []float64{-7, -1.5, 3}},
		{"float16[10] special", []float64{nan, 0, inf, 1, 0, -inf, 0x1p-24, 65504, -65504, -1}},
		{"int8[6] special", []float64{0, 127, 1, -128, 2, 0}},
		{"bool[2] max", []float64{1, 1}},
		{"int8[1] lowest", []float64{-128}},
		{"float16[1] subnormal", []float64{0x1p-24}},
		{"float32[2, 2] spd", []float64{4, 0.25, 0.25, 5}},
		{"float32[2, 2] lower", []float64{4, 0, 0.25, 5}},
		{"float32[2, 2] upper", []float64{4, 0.25, 0, 5}},
		{"float32[2, 1, 2] upper", []float64{4, 0.25, 4, 0.25}},
		{"float32[2] spd", []float64{1, 1}},
	} {
		spec := value(t, tt.text).Tensor
		index := make([]int64, len(spec.Sizes))
		var got []float64
		for n := range tt.want {
			got = append(got, spec.Value(n, 0, index))
			next(index, spec.Sizes)
		}
		if diff := cmp.Diff(tt.want, got, cmpopts.EquateNaNs(), cmpopts.EquateApprox(0, 1e-9)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.text, diff)
		}
	}
}
