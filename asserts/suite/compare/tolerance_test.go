package compare

import (
	"math"
	"testing"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/internal/tensor"
)

// Values does not report differences that another order of the same computation explains: sums
// that cancel, numbers that are not finite, and steps that overflow. It reports all others.
func TestSpread(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	plain := []float64{1.5, -2, 0.25}
	for _, tt := range []struct {
		name  string
		given []float64
		dtype tensor.DType // of the arguments
		a, b  float64      // on the device, and on the CPU
		of    tensor.DType // of the results
		found bool
	}{
		{"sums that cancel", []float64{1e8, 1, -1e8, 3}, tensor.Float32, 0, 4, tensor.Float32, false},
		{"a wrong sum of smaller ones", []float64{100, 1, -100, 3}, tensor.Float32, 0, 4, tensor.Float32, true},
		{"in half precision", []float64{200, 0.3, -200}, tensor.Float16, 0.25, 0.5, tensor.Float16, false},
		{"plain numbers in half precision", plain, tensor.Float16, -0.25, 0.25, tensor.Float16, true},
		{"plain numbers", plain, tensor.Float32, -0.25, -0.2, tensor.Float32, true},
		{"an argument in half precision", []float64{200, 0.3, -200}, tensor.Float16, 0.25, 0.5, tensor.Float32, false},
		{"one is not finite", []float64{3e38, 3e38, -3e38}, tensor.Float32, inf, 3e38, tensor.Float32, false},
		{"the other is not finite", []float64{6e4, 6e4, -6e4}, tensor.Float16, 6e4, inf, tensor.Float16, false},
		{"an argument is not", []float64{-inf, -inf}, tensor.Float32, nan, 0, tensor.Float32, false},
		{"an argument is NaN, and the CPU left it out", []float64{nan, 1}, tensor.Float32, nan, 0, tensor.Float32, false},
		{"an argument is NaN, and the device lost it", []float64{nan, 1}, tensor.Float32, 0, nan, tensor.Float32, true},
		{"an argument is NaN, and the device has an infinity", []float64{nan, 1}, tensor.Float32, inf, 1, tensor.Float32, true},
		{"an argument is NaN, and another overflows", []float64{nan, 100}, tensor.Float32, 0, nan, tensor.Float32, false},
		{"whole numbers of infinities", []float64{inf, 1}, tensor.Float32, 0, 9, tensor.Int32, false},
		{"exp overflows", []float64{100, 1}, tensor.Float32, nan, 1, tensor.Float32, false},
		{"1/x overflows", []float64{1e-40, 1}, tensor.Float32, inf, 3, tensor.Float32, false},
		{"other infinities", []float64{3e38, -3e38}, tensor.Float32, inf, -inf, tensor.Float32, false},
		{"none of plain numbers and 0 is", []float64{1.5, 0}, tensor.Float32, nan, 1, tensor.Float32, true},
		{"none of plain numbers is", plain, tensor.Float32, nan, 1, tensor.Float32, true},
		{"none of plain numbers is, on the CPU", plain, tensor.Float32, 1, inf, tensor.Float32, true},
		{"of wider numbers", []float64{100, 1}, tensor.Float64, nan, 1, tensor.Float64, true},
		{"whole numbers of what is not finite", []float64{nan, 1}, tensor.Float32, 0, 9, tensor.Int32, false},
		{"bools of what is not finite", []float64{nan, 1}, tensor.Float32, 0, 1, tensor.Bool, false},
		{"whole numbers of larger ones", []float64{3e38, 1}, tensor.Float32, 0, 9, tensor.Int32, false},
		{"whole numbers of plain ones", plain, tensor.Float32, 0, 1, tensor.Int32, true},
		{"bools of plain ones", []float64{3e38, 1}, tensor.Float32, 0, 1, tensor.Bool, true},
		{"of whole numbers that are not exact", []float64{1e8, 1}, tensor.Int64, 0, 4, tensor.Float32, false},
		{"of whole numbers that are", []float64{1e6, 1}, tensor.Int64, 0, 4, tensor.Float32, true},
		{"of whole numbers that are in double precision", []float64{1e8, 1}, tensor.Int64, 0, 4, tensor.Float64, true},
		{"a number that is rounded to the next integer", plain, tensor.Float32, 4, 3, tensor.Int16, false},
		{"one that is not", plain, tensor.Float32, 5, 3, tensor.Int16, true},
		{"an integer of an integer", []float64{1, 2}, tensor.Int32, 4, 3, tensor.Int8, true},
		{"an unsigned integer of a negative number", plain, tensor.Float32, 0, 255, tensor.Uint8, false},
		{"an unsigned integer of none", []float64{0, 1.5}, tensor.Float32, 0, 255, tensor.Uint8, true},
		{"complex numbers", []float64{1e8, 1, -1e8, 3}, tensor.Complex64, 0, 4, tensor.Complex64, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			flat := func(d tensor.DType, all ...float64) *asserts.Snapshot {
				return elements(d, []int64{int64(len(all) / parts(d))}, []int64{1}, all...)
			}
			both := func(v float64) []float64 { return []float64{v, v}[:parts(tt.of)] }
			op := &asserts.Op{Name: "t::f", Args: []asserts.Subject{{Name: "x", Type: "Tensor"}}, Results: []asserts.Subject{{Name: "result", Type: "Tensor"}}}
			call := func(v float64) *asserts.Seen {
				given := []asserts.Observation{{Impl: 1, Storage: 1, Content: flat(tt.dtype, tt.given...)}}
				return &asserts.Seen{Before: given, After: given, Results: []asserts.Observation{{Impl: 2, Storage: 2, Content: flat(tt.of, both(v)...)}}}
			}
			verdict := Values(op, call(tt.a), call(tt.b), "cpu", 1e-3, asserts.Aware())
			if got := len(verdict.Violations) > 0; got != tt.found {
				t.Errorf("found is %v, want %v", got, tt.found)
			}
			if got := len(verdict.Skips) > 0; got == tt.found {
				t.Errorf("it is counted: %v", got)
			}
		})
	}
}

// Results on a device, and the contents of out= before, excuse nothing, nor do unknown numbers.
func TestSpreadOfOthers(t *testing.T) {
	one := func(v float64) []asserts.Observation {
		return []asserts.Observation{{Impl: 1, Storage: 1, Content: elements(tensor.Float32, []int64{1}, []int64{1}, v)}}
	}
	cut := one(1e30)
	cut[0].Content.Bytes = nil
	unread := []asserts.Observation{{Impl: 1, Storage: 1, Content: &asserts.Snapshot{DType: "float8_e5m2", Sizes: []int64{1}, Strides: []int64{1}, Nbytes: 1, Bytes: []byte{9}}}}
	out := &asserts.Op{Args: []asserts.Subject{{Name: "out", Write: true}}}
	in := &asserts.Op{Args: []asserts.Subject{{Name: "x"}}}
	for _, tt := range []struct {
		name       string
		op         *asserts.Op
		real, twin *asserts.Seen
		most       float64
	}{
		{"what a device returns", in, &asserts.Seen{Before: one(1), Results: one(1e30)}, &asserts.Seen{}, 1},
		{"what a device writes", in, &asserts.Seen{Before: one(1), After: one(1e30)}, &asserts.Seen{}, 1},
		{"what out= held", out, &asserts.Seen{Before: one(1e30)}, &asserts.Seen{}, 0},
		{"what is not known", in, &asserts.Seen{Before: cut}, &asserts.Seen{}, 0},
		{"of a dtype that is not read", in, &asserts.Seen{Before: unread}, &asserts.Seen{}, 0},
		{"what the CPU returns", in, &asserts.Seen{Before: one(1)}, &asserts.Seen{Results: one(8)}, 8},
		{"what the CPU writes", in, &asserts.Seen{Before: one(1)}, &asserts.Seen{After: one(8)}, 8},
		{"nothing", in, &asserts.Seen{Before: []asserts.Observation{{}}}, &asserts.Seen{}, 0},
		{"what the CPU returns is not finite", in, &asserts.Seen{Before: one(1)}, &asserts.Seen{Results: one(math.Inf(1))}, 1},
		{"what the CPU returns is NaN", in, &asserts.Seen{Before: one(1)}, &asserts.Seen{Results: one(math.NaN())}, 1},
	} {
		if s := spreadOf(tt.op, tt.real, tt.twin); s.most != tt.most || s.infinite || s.unordered {
			t.Errorf("%s: at most %v, want %v; %+v", tt.name, s.most, tt.most, s)
		}
	}
}

// Unknown numbers matter only in arguments, and bools are not summed.
func TestSpreadOfArguments(t *testing.T) {
	cut := []asserts.Observation{{Impl: 1, Storage: 1, Content: elements(tensor.Float32, []int64{1}, []int64{1}, 1)}}
	cut[0].Content.Bytes = nil
	flags := []asserts.Observation{{Impl: 1, Storage: 1, Content: elements(tensor.Bool, []int64{1}, []int64{1}, 1)}}
	in := &asserts.Op{Args: []asserts.Subject{{Name: "x"}}}
	for _, tt := range []struct {
		name       string
		real, twin *asserts.Seen
		partial    bool
	}{
		{"an argument", &asserts.Seen{Before: cut}, &asserts.Seen{}, true},
		{"a result on the CPU", &asserts.Seen{}, &asserts.Seen{Results: cut}, false},
		{"truth values", &asserts.Seen{Before: flags}, &asserts.Seen{}, false},
	} {
		if s := spreadOf(in, tt.real, tt.twin); s.partial != tt.partial || s.count != 0 {
			t.Errorf("%s: partial is %v, %v terms", tt.name, s.partial, s.count)
		}
	}
}

// If a tensor cannot be read as numbers, other bytes are other numbers.
func TestUnreadNumbers(t *testing.T) {
	one := func(d string, digest uint64, all ...float64) *asserts.Snapshot {
		s := elements(tensor.Float32, []int64{1}, []int64{1}, all...)
		s.DType, s.Digest = d, digest
		return s
	}
	for _, tt := range []struct {
		was, is *asserts.Snapshot
		want    bool
	}{
		{one("float32", 1, 2), one("float32", 2, 3), true},
		{one("float32", 1, 0), one("float32", 2, math.Copysign(0, -1)), false},
		{one("float8_e5m2", 1, 2), one("float8_e5m2", 1, 2), false},
		{one("float8_e5m2", 1, 2), one("float8_e5m2", 2, 2), true},
	} {
		if got := otherNumbers(tt.was, tt.is); got != tt.want {
			t.Errorf("%s %v, then %v: %v", tt.was.DType, tt.was.Bytes, tt.is.Bytes, got)
		}
	}
}

// Two arguments that may be factors of a matrix product may be rounded before they are multiplied.
func TestSpreadOfFactors(t *testing.T) {
	row, matrix := []int64{2}, []int64{1, 2}
	of := func(d tensor.DType, sizes []int64) asserts.Observation {
		n := 2 * parts(d)
		return asserts.Observation{Impl: 1, Storage: 1, Content: elements(d, sizes, []int64{2, 1}[2-len(sizes):], make([]float64, n)...)}
	}
	op := &asserts.Op{Args: []asserts.Subject{{Name: "x"}, {Name: "y"}}}
	for _, tt := range []struct {
		name    string
		x, y    asserts.Observation
		rounded bool
	}{
		{"matrices", of(tensor.Float32, matrix), of(tensor.Float32, matrix), true},
		{"complex ones", of(tensor.Complex64, matrix), of(tensor.Complex64, matrix), true},
		{"a matrix and a row", of(tensor.Float32, matrix), of(tensor.Float32, row), false},
		{"in double precision", of(tensor.Float64, matrix), of(tensor.Float64, matrix), false},
	} {
		seen := &asserts.Seen{Before: []asserts.Observation{tt.x, tt.y}, After: []asserts.Observation{tt.x, tt.y}}
		if s := spreadOf(op, seen, seen); (s.step == multiplied) != tt.rounded {
			t.Errorf("%s: the step is %v", tt.name, s.step)
		}
	}
	x := of(tensor.Float32, matrix)
	if s := spreadOf(op, &asserts.Seen{Before: []asserts.Observation{x, x}}, &asserts.Seen{}); s.step != multiplied {
		t.Errorf("arguments that are not written: the step is %v", s.step)
	}
	written := &asserts.Seen{Before: []asserts.Observation{x}, After: []asserts.Observation{x}}
	if s := spreadOf(&asserts.Op{Args: []asserts.Subject{{Name: "x"}}}, written, written); s.step == multiplied {
		t.Error("what the CPU writes is a factor")
	}
}

// What is rounded to an integer is an argument, and so is what has no unsigned one.
func TestSpreadOfRounding(t *testing.T) {
	one := func(d tensor.DType, v float64) []asserts.Observation {
		return []asserts.Observation{{Impl: 1, Storage: 1, Content: elements(d, []int64{1}, []int64{1}, v)}}
	}
	in := &asserts.Op{Args: []asserts.Subject{{Name: "x"}}}
	for _, tt := range []struct {
		given, result  []asserts.Observation
		real, negative bool
	}{
		{one(tensor.Float32, -1), nil, true, true},
		{one(tensor.Float32, 0), one(tensor.Float32, -1), true, false},
		{one(tensor.Int32, -1), one(tensor.Float32, -1), false, false},
	} {
		if s := spreadOf(in, &asserts.Seen{Before: tt.given}, &asserts.Seen{Results: tt.result}); s.real != tt.real || s.negative != tt.negative {
			t.Errorf("%+v, want %v, %v", s, tt.real, tt.negative)
		}
	}
}
