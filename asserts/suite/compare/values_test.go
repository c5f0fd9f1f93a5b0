package compare

import (
	"math"
	"slices"
	"testing"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/internal/tensor"
)

// elements returns a tensor of a dtype and sizes with these elements in the order of its strides,
// each part of a complex one by itself.
func elements(d tensor.DType, sizes, strides []int64, all ...float64) *asserts.Snapshot {
	s := &asserts.Snapshot{DType: d.String(), Sizes: sizes, Strides: strides}
	part := d.Size()
	if d.Class() == tensor.Complex {
		part /= 2
	}
	for _, v := range all {
		b := make([]byte, d.Size())
		d.Put(b, v, 0)
		s.Bytes = append(s.Bytes, b[:part]...)
	}
	s.Nbytes = int64(len(s.Bytes))
	return s
}

func TestBeyond(t *testing.T) {
	row, square := []int64{1}, []int64{2, 2}
	flat := func(d tensor.DType, all ...float64) *asserts.Snapshot {
		return elements(d, []int64{int64(len(all))}, row, all...)
	}
	cut := flat(tensor.Float32, 1, 2)
	cut.Bytes = cut.Bytes[:4]
	unstrided := elements(tensor.Float32, []int64{2}, nil)
	strange := flat(tensor.Uint8, 1)
	strange.DType = "float3"
	for _, tt := range []struct {
		name  string
		x, y  *asserts.Snapshot
		n     int
		which string
		not   bool // readable
	}{
		{"equal", flat(tensor.Float32, 1, 2), flat(tensor.Float32, 1, 2), 0, "", false},
		{"near", flat(tensor.Float32, 100), flat(tensor.Float32, 101), 0, "", false},
		{"far", flat(tensor.Float32, 1, 2, 3), flat(tensor.Float32, 1, 2.5, 4), 2, "number 1 is 2, on cpu 2.5", false},
		{"not a number", flat(tensor.Float64, math.NaN(), math.Inf(1)), flat(tensor.Float64, math.NaN(), math.Inf(1)), 0, "", false},
		{"one is not finite", flat(tensor.Float64, 1), flat(tensor.Float64, math.Inf(1)), 1, "number 0 is 1, on cpu +Inf", false},
		{"one is not a number", flat(tensor.Float64, math.NaN()), flat(tensor.Float64, 1), 1, "number 0 is NaN, on cpu 1", false},
		{"integers near", flat(tensor.Int64, 100), flat(tensor.Int64, 101), 1, "number 0 is 100, on cpu 101", false},
		{"bools", flat(tensor.Bool, 1), flat(tensor.Bool, 0), 1, "number 0 is 1, on cpu 0", false},
		{"imaginary parts", elements(tensor.Complex64, row, row, 1, 2), elements(tensor.Complex64, row, row, 1, 3), 1, "number 0 is 2, on cpu 3", false},
		{"other strides", elements(tensor.Float32, square, []int64{2, 1}, 1, 2, 3, 4), elements(tensor.Float32, square, []int64{1, 2}, 1, 3, 2, 4), 0, "", false},
		{"other strides, far", elements(tensor.Float32, square, []int64{2, 1}, 1, 2, 3, 4), elements(tensor.Float32, square, []int64{1, 2}, 1, 2, 3, 4), 2, "number 1 is 2, on cpu 3", false},
		{"no elements", flat(tensor.Float32), flat(tensor.Float32), 0, "", false},
		{"other sizes", flat(tensor.Float32, 1), flat(tensor.Float32, 2, 2), 0, "", true},
		{"other dtypes", flat(tensor.Float32, 1), flat(tensor.Float64, 2), 0, "", true},
		{"the other is not a number", flat(tensor.Float64, 1), flat(tensor.Float64, math.NaN()), 1, "number 0 is 1, on cpu NaN", false},
		{"bytes that are not known", cut, flat(tensor.Float32, 1, 3), 0, "", true},
		{"bytes of the other that are not known", flat(tensor.Float32, 1, 3), cut, 0, "", true},
		{"elements beyond the storage", elements(tensor.Float32, square, []int64{2, 1}, 1, 2), elements(tensor.Float32, square, []int64{2, 1}, 1, 2), 0, "", true},
		{"a sparse tensor, which has no strides", unstrided, flat(tensor.Float32, 1, 2), 0, "", true},
		{"a sparse tensor of the other", flat(tensor.Float32, 1, 2), unstrided, 0, "", true},
		{"a dtype that is not known", strange, strange, 0, "", true},
		{"a dtype without numbers", flat(tensor.Bits8, 1), &asserts.Snapshot{DType: "bits8", Sizes: row, Strides: row, Nbytes: 1, Bytes: []byte{1}}, 0, "", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if readable(tt.x, tt.y) == tt.not {
				t.Fatalf("readable is %v", !tt.not)
			}
			if tt.not {
				return
			}
			if n, _, which := beyond(tt.x, tt.y, 0.01, spreadOf(new(asserts.Op), new(asserts.Seen), new(asserts.Seen))); n != tt.n || which != tt.which {
				t.Errorf("%d elements, %q; want %d, %q", n, which, tt.n, tt.which)
			}
		})
	}
}

// No tolerance lets integers differ.
func TestBeyondOfWholeNumbers(t *testing.T) {
	for d, want := range map[tensor.DType]int{tensor.Bool: 1, tensor.Int8: 1, tensor.Float32: 0} {
		one := []int64{1}
		if n, _, _ := beyond(elements(d, one, one, 1), elements(d, one, one, 0), 9, spreadOf(new(asserts.Op), new(asserts.Seen), new(asserts.Seen))); n != want {
			t.Errorf("%v: %d elements differ, want %d", d, n, want)
		}
	}
}

// A return is a fault only if elements differ by more than the tolerance; what cannot be compared
// is counted.
func TestBeyondOfCalls(t *testing.T) {
	op := &asserts.Op{Name: "t::f", Schema: "f(Tensor x) -> Tensor", Args: []asserts.Subject{{Name: "x", Type: "Tensor"}}, Results: []asserts.Subject{{Name: "result", Type: "Tensor"}}}
	call := func(s *asserts.Snapshot) *asserts.Seen {
		return &asserts.Seen{Results: []asserts.Observation{{Impl: 1, Storage: 2, Content: s}}}
	}
	one := func(n float64) *asserts.Snapshot { return elements(tensor.Float32, []int64{1}, []int64{1}, n) }
	two := elements(tensor.Float32, []int64{2}, []int64{1}, 1, 2)
	for _, tt := range []struct {
		name               string
		x, y               *asserts.Snapshot
		faults, unreadable int
	}{
		{"equal", one(1), one(1), 0, 0}, {"near", one(100), one(101), 0, 0}, {"far", one(1), one(2), 1, 0}, {"other sizes", one(1), two, 0, 1},
	} {
		faults, _ := beyondOf(op, call(tt.x), call(tt.y), 0.01, spreadOf(new(asserts.Op), new(asserts.Seen), new(asserts.Seen)))
		verdict := Values(op, call(tt.x), call(tt.y), "cpu", 0.01, asserts.Aware())
		unreadable := 0
		for _, s := range verdict.Skips {
			if s.Code != asserts.MetaAlias || s.Reason != "values not compared: "+unreadableWhy || s.Count == 0 {
				t.Errorf("%s: skipped %+v", tt.name, s)
			}
			unreadable += s.Count
		}
		if len(faults) != tt.faults || len(verdict.Violations) != tt.faults || unreadable != tt.unreadable {
			t.Errorf("%s: %d faults, %d not compared; want %d, %d", tt.name, len(verdict.Violations), unreadable, tt.faults, tt.unreadable)
		}
		for _, v := range verdict.Violations {
			if v.Symptom != asserts.OtherContents || v.Tolerance != 0.01 || v.Fix != v.Symptom.In(v.Code).Fix {
				t.Errorf("%s: symptom %q, tolerance %v", tt.name, v.Symptom, v.Tolerance)
			}
		}
		for _, f := range faults {
			if f.Code != asserts.MetaAlias || f.Return != 1 || f.Saw != "1 elements differ by more than 0.01 of 1 + their size: number 0 is 1, on cpu 2" || f.Symptom != asserts.OtherContents {
				t.Errorf("%s: %+v", tt.name, f)
			}
		}
	}
}

// Numbers are compared with those of the CPU within the tolerance, except unknown ones.
func TestValuesThatAreNumbers(t *testing.T) {
	op := &asserts.Op{Name: "t::f", Args: []asserts.Subject{{Name: "x"}}}
	for _, tt := range []struct{ x, y, saw string }{
		{"6", "24", "number 6, on cpu 24"}, {"true", "false", "number true, on cpu false"}, {"1", "true", "number 1, on cpu true"},
		{"true", "0", "number true, on cpu 0"}, {"0", "false", "number 0, on cpu false"}, {"100", "101", ""}, // of floating point, too
		{"100.5", "100.25", ""}, {"NaN", "NaN", ""}, {"true", "true", ""}, {"6", "", ""}, {"", "6", ""},
	} {
		verdict := Values(op, &asserts.Seen{Numbers: []string{tt.x}}, &asserts.Seen{Numbers: []string{tt.y}}, "cpu", 0.01, asserts.Aware())
		var saw string
		for _, v := range verdict.Violations {
			saw += v.Saw
		}
		if saw != tt.saw {
			t.Errorf("%s and %s: %q, want %q", tt.x, tt.y, saw, tt.saw)
		}
	}
}

// The index of the call's device is that of no other, and -1 on the CPU.
func TestIndexesOfDevices(t *testing.T) {
	op := &asserts.Op{Name: "t::f", Args: []asserts.Subject{{Name: "x"}}}
	on := []asserts.Observation{{}, {Content: &asserts.Snapshot{Device: "openreg:2"}}}
	for _, tt := range []struct{ x, y, saw string }{
		{"2", "-1", ""}, {"2", "0", "number 2, on cpu 0"}, {"1", "-1", "number 1, on cpu -1"}, {"-1", "2", "number -1, on cpu 2"},
	} {
		verdict := Values(op, &asserts.Seen{Before: on, Numbers: []string{tt.x}}, &asserts.Seen{Numbers: []string{tt.y}}, "cpu", 0.01, asserts.Aware())
		var saw string
		for _, v := range verdict.Violations {
			saw += v.Saw
		}
		if left := len(verdict.Skips); saw != tt.saw || (left == 1) != (tt.saw == "") {
			t.Errorf("%s and %s: %q and %v, want %q", tt.x, tt.y, saw, verdict.Skips, tt.saw)
		}
	}
}

// Values does not report differences of numbers that another order of the same sums explains.
func TestNumbersOfSums(t *testing.T) {
	op := &asserts.Op{Name: "t::f", Args: []asserts.Subject{{Name: "x"}}}
	for _, tt := range []struct {
		given float64
		found int
	}{{1e8, 0}, {1, 1}} {
		x := []asserts.Observation{{Impl: 1, Storage: 1, Content: elements(tensor.Float32, []int64{2}, []int64{1}, tt.given, -tt.given)}}
		seen := func(n string) *asserts.Seen { return &asserts.Seen{Before: x, After: x, Numbers: []string{n}} }
		verdict := Values(op, seen("0"), seen("4"), "cpu", 1e-3, asserts.Aware())
		if got := len(verdict.Violations); got != tt.found {
			t.Errorf("of %v: %d findings, want %d", tt.given, got, tt.found)
		}
		left := asserts.Skip{Code: asserts.MetaAlias, Reason: "values not compared: " + inOrder, Count: 1}
		if counted := slices.Contains(verdict.Skips, left); counted == (tt.found > 0) {
			t.Errorf("of %v: it is counted: %v", tt.given, counted)
		}
	}
}

// Results that depend on bytes not copied may be the same in another order: they are counted, and
// compared where bytes are copied.
func TestValuesOfUnkeptArguments(t *testing.T) {
	for _, d := range []tensor.DType{tensor.Float32, tensor.Int64} {
		for _, cut := range []int{0, 1} {
			op := &asserts.Op{Name: "t::f", Args: []asserts.Subject{{Name: "x", Type: "Tensor"}}, Results: []asserts.Subject{{Name: "result", Type: "Tensor"}}}
			call := func(v float64, n string) *asserts.Seen {
				x := elements(tensor.Float32, []int64{2}, []int64{1}, 1, 2)
				x.Bytes = x.Bytes[:len(x.Bytes)-cut]
				given := []asserts.Observation{{Impl: 1, Storage: 1, Content: x}}
				return &asserts.Seen{Before: given, After: given, Results: []asserts.Observation{{Impl: 2, Storage: 2, Content: elements(d, []int64{1}, []int64{1}, v)}}, Numbers: []string{n}}
			}
			verdict := Values(op, call(1, "1"), call(7, "7"), "cpu", 1e-3, asserts.Aware())
			if len(verdict.Violations) != 2-2*cut || len(verdict.Skips) != cut || cut == 1 && verdict.Skips[0] != (asserts.Skip{Code: asserts.MetaAlias, Reason: "values not compared: " + unreadableWhy, Count: 2}) {
				t.Errorf("%v, %d bytes missing: %v, %v", d, cut, verdict.Violations, verdict.Skips)
			}
		}
	}
}

// A written tensor has the same contents if its numbers are equal: zeros of either sign, and NaNs
// of any bits. If it has no numbers each bit counts.
func TestOtherNumbers(t *testing.T) {
	nan := elements(tensor.Float32, []int64{2}, []int64{1}, math.NaN(), math.Copysign(0, -1))
	for name, tt := range map[string]struct {
		change func(*asserts.Snapshot)
		other  bool
	}{
		"the same":             {func(s *asserts.Snapshot) { s.Digest = 1 }, false},
		"another sign of 0":    {func(s *asserts.Snapshot) { s.Bytes[7] = 0 }, false},
		"another NaN":          {func(s *asserts.Snapshot) { s.Bytes[0]++ }, false},
		"another number":       {func(s *asserts.Snapshot) { s.Bytes[4]++ }, true},
		"bytes not kept":       {func(s *asserts.Snapshot) { s.Bytes = s.Bytes[:4] }, true},
		"another size":         {func(s *asserts.Snapshot) { s.Sizes = []int64{1} }, true},
		"no number is a dtype": {func(s *asserts.Snapshot) { s.DType = "bits8" }, true},
	} {
		was, is := *nan, *nan
		was.Digest, is.Digest, is.Bytes = 1, 2, append([]byte{}, nan.Bytes...)
		if tt.change(&is); otherNumbers(&was, &is) != tt.other {
			t.Errorf("%s: %v, want %v", name, !tt.other, tt.other)
		}
	}
}

// Differences of ops with several right results are counted, and those of others are found.
func TestSeveralRightResults(t *testing.T) {
	for name, found := range map[string]int{"aten::linalg_eigh": 0, "aten::svd": 0, "mylib::LU_2.out": 0, "aten::weight_norm": 2, "aten::glu": 2, "mylib::sum": 2} {
		op := &asserts.Op{Name: name, Schema: "f(Tensor x) -> (Tensor, float)", Args: []asserts.Subject{{Name: "x", Type: "Tensor"}}, Results: []asserts.Subject{{Name: "result", Type: "Tensor"}}}
		call := func(v float64, number string) *asserts.Seen {
			given := []asserts.Observation{{Impl: 1, Storage: 1, Content: elements(tensor.Float32, []int64{1}, []int64{1}, 2)}}
			return &asserts.Seen{Before: given, After: given, Results: []asserts.Observation{{Impl: 2, Storage: 2, Content: elements(tensor.Float32, []int64{1}, []int64{1}, v)}}, Numbers: []string{number}}
		}
		verdict := Values(op, call(1, "1"), call(-1, "-1"), "cpu", Tolerance, asserts.Aware())
		left := 0
		for _, s := range verdict.Skips {
			left += s.Count
		}
		if len(verdict.Violations) != found || left != 2-found {
			t.Errorf("%s: %d findings, %d left; want %d", name, len(verdict.Violations), left, found)
		}
		if same := Values(op, call(1, "1"), call(1, "1"), "cpu", Tolerance, asserts.Aware()); len(same.Violations)+len(same.Skips) > 0 {
			t.Errorf("%s: equal results are %+v", name, same)
		}
	}
}

// What is written to an argument that lies in another one depends on the order of reads and writes.
func TestValuesOfOverwrittenArguments(t *testing.T) {
	at := func(impl, storage asserts.ID, offset int64) asserts.Observation {
		s := elements(tensor.Float32, []int64{2}, []int64{1}, 1, 2)
		s.Offset, s.Nbytes, s.Bytes = offset, 16, append(s.Bytes, s.Bytes...)
		return asserts.Observation{Impl: impl, Storage: storage, Content: s}
	}
	strange := at(2, 1, 2)
	strange.Content = &asserts.Snapshot{DType: "strange"}
	for _, tt := range []struct {
		name  string
		write bool
		x, y  asserts.Observation
		left  int
	}{
		{"the same tensor", true, at(1, 1, 0), at(1, 1, 0), 1}, {"only read", false, at(1, 1, 0), at(1, 1, 0), 0},
		{"one element in common", true, at(1, 1, 0), at(2, 1, 1), 1}, {"the other begins first", true, at(1, 1, 1), at(2, 1, 0), 1},
		{"side by side", true, at(1, 1, 0), at(2, 1, 2), 0}, {"the other is first", true, at(1, 1, 2), at(2, 1, 0), 0},
		{"two storages", true, at(1, 1, 0), at(2, 2, 0), 0}, {"no storage", true, at(1, 0, 0), at(2, 0, 0), 0},
		{"extent not known", true, at(1, 1, 0), strange, 1}, {"its own extent not known", true, strange, at(1, 1, 0), 1},
		{"contents not observed", true, at(1, 1, 0), asserts.Observation{Impl: 2, Storage: 1}, 0}, {"its own neither", true, asserts.Observation{Impl: 2, Storage: 1}, at(1, 1, 0), 0},
	} {
		op := &asserts.Op{
			Name: "t::f", Schema: "f(Tensor(a!) x, Tensor y) -> float",
			Args:    []asserts.Subject{{Name: "x", Type: "Tensor", Write: tt.write}, {Name: "y", Type: "Tensor"}},
			Results: []asserts.Subject{{Name: "result", Type: "float"}},
		}
		given := []asserts.Observation{tt.x, tt.y}
		verdict := Values(op, &asserts.Seen{Before: given, After: given, Numbers: []string{"1"}}, &asserts.Seen{Before: given, After: given, Numbers: []string{"-1"}}, "cpu", Tolerance, asserts.Aware())
		left := 0
		for _, s := range verdict.Skips {
			left += s.Count
		}
		if left != tt.left || len(verdict.Violations) != 1-tt.left {
			t.Errorf("%s: %d findings and %+v, want %d skips", tt.name, len(verdict.Violations), verdict.Skips, tt.left)
		}
	}
}
