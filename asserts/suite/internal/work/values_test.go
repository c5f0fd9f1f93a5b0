package work

import (
	"math"
	"strings"
	"testing"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/internal/tensor"
)

// elements returns a tensor of a dtype and sizes that has these elements in the order of
// its strides, each part of a complex one by itself.
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
		{"one is not a number", flat(tensor.Float64, math.NaN()), flat(tensor.Float64, 1), 1, "number 0 is NaN, on cpu 1", false},
		{"integers near", flat(tensor.Int64, 100), flat(tensor.Int64, 101), 1, "number 0 is 100, on cpu 101", false},
		{"bools", flat(tensor.Bool, 1), flat(tensor.Bool, 0), 1, "number 0 is 1, on cpu 0", false},
		{"imaginary parts", elements(tensor.Complex64, row, row, 1, 2), elements(tensor.Complex64, row, row, 1, 3), 1, "number 0 is 2, on cpu 3", false},
		{"other strides", elements(tensor.Float32, square, []int64{2, 1}, 1, 2, 3, 4), elements(tensor.Float32, square, []int64{1, 2}, 1, 3, 2, 4), 0, "", false},
		{"other strides, far", elements(tensor.Float32, square, []int64{2, 1}, 1, 2, 3, 4), elements(tensor.Float32, square, []int64{1, 2}, 1, 2, 3, 4), 2, "number 1 is 2, on cpu 3", false},
		{"no elements", flat(tensor.Float32), flat(tensor.Float32), 0, "", false},
		{"other sizes", flat(tensor.Float32, 1), flat(tensor.Float32, 2, 2), 0, "", true},
		{"other dtypes", flat(tensor.Float32, 1), flat(tensor.Float64, 2), 0, "", true},
		{"bytes that are not known", cut, flat(tensor.Float32, 1, 3), 0, "", true},
		{"a dtype without numbers", flat(tensor.Bits8, 1), &asserts.Snapshot{DType: "bits8", Sizes: row, Strides: row, Nbytes: 1, Bytes: []byte{1}}, 0, "", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if readable(tt.x, tt.y) == tt.not {
				t.Fatalf("readable is %v", !tt.not)
			}
			if tt.not {
				return
			}
			if n, which := beyond(tt.x, tt.y, 0.01); n != tt.n || which != tt.which {
				t.Errorf("%d elements, %q; want %d, %q", n, which, tt.n, tt.which)
			}
		})
	}
}

// What a tolerance does not compare is a skip with its reason.
func TestValuesNotCompared(t *testing.T) {
	differs := func(e *fakeEngine, args []any) ([]any, error) {
		result := e.like(first(args))
		if result.device != engine.CPU {
			(*result.data)[0] ^= 1
		}
		return []any{result}, nil
	}
	for _, tt := range []struct{ name, schema, want, found string }{
		{"compared", "t::f(Tensor a) -> Tensor", "", "OA011 result on openreg, cpu"},
		{"random", "t::f(Tensor a, *, Generator? generator=None) -> Tensor", "values not compared: they are random, or what the memory held", ""},
		{"memory", "t::empty_like(Tensor a) -> Tensor", "values not compared: they are random, or what the memory held", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t, tt.schema, differs)
			b.e.devices, b.Tolerance = []engine.Device{"openreg", engine.CPU}, 1e-9
			found, c := b.judged(t, "int64[2]")
			if got := words(found); got != tt.found {
				t.Errorf("found %q, want %q", got, tt.found)
			}
			var got string
			for _, s := range c.Devices[engine.CPU].Skips {
				if strings.HasPrefix(s.Reason, "values") {
					got += s.Reason
				}
			}
			if got != tt.want {
				t.Errorf("skipped %q, want %q", got, tt.want)
			}
		})
	}
}
