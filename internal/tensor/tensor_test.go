package tensor

import (
	"math"
	"slices"
	"testing"
)

// A number stored as a dtype is read as the nearest one.
func TestDTypeElements(t *testing.T) {
	inf := math.Inf(1)
	for _, tt := range []struct {
		dtype    DType
		in, want float64
	}{
		{Uint8, 200, 200}, {Int8, -3, -3}, {Int16, -300, -300}, {Int32, 1 << 20, 1 << 20}, {Int64, -1 << 40, -1 << 40},
		{Bool, 3, 1}, {Bool, 0, 0}, {Float32, 0.1, float64(float32(0.1))}, {Float64, 0.1, 0.1},
		{Complex64, 0.5, 0.5}, {Complex128, -0.1, -0.1},
		{BFloat16, 1, 1}, {BFloat16, 1.00390625, 1}, {BFloat16, 1.01171875, 1.015625}, {BFloat16, -inf, -inf},
		{Float16, 1, 1}, {Float16, -2.5, -2.5}, {Float16, 65504, 65504}, {Float16, 65519, 65504}, {Float16, 65520, inf},
		{Float8E4M3FN, 0.3, 0.3125}, {Float8E4M3FN, -448, -448}, {Float8E4M3FN, 0x1p-9, 0x1p-9}, {Float8E4M3FN, 463, 448}, {Complex32, 0.5, 0.5}, {QInt8, -3, -3}, {Uint64, 1 << 40, 1 << 40},
		{Float16, -1e9, -inf}, {Float16, 0x1p-24, 0x1p-24}, {Float16, 0x1p-25, 0}, {Float16, 0x1p-14, 0x1p-14},
		{Float16, 0.1, 0.0999755859375}, {Float16, 2047.5, 2048}, {Float16, 2048.9, 2048},
	} {
		b := make([]byte, tt.dtype.Size())
		tt.dtype.Put(b, tt.in, 0)
		if got := tt.dtype.Get(b); got != tt.want {
			t.Errorf("%v as %v is read as %v, want %v", tt.in, tt.dtype, got, tt.want)
		}
	}
	for _, d := range []DType{Float16, BFloat16, Float32, Float64, Float8E4M3FN} {
		b := make([]byte, d.Size())
		d.Put(b, math.NaN(), 0)
		if got := d.Get(b); got == got {
			t.Errorf("NaN as %v is read as %v", d, got)
		}
	}
}

// half.bits returns every float16, except NaNs, from its value.
func TestFloat16(t *testing.T) {
	for h := range 1 << 16 {
		if v := half.value(uint16(h)); v == v && half.bits(v) != uint16(h) {
			t.Fatalf("%#04x is %v, which is %#04x", h, v, half.bits(v))
		}
	}
}

// quarter.bits returns every float8, except NaNs, from its value.
func TestFloat8(t *testing.T) {
	for b := range 1 << 8 {
		if v := quarter.value(uint16(b)); v == v && quarter.bits(v) != uint16(b) {
			t.Fatalf("%#02x is %v, which is %#02x", b, v, quarter.bits(v))
		}
	}
}

// The imaginary half of an element follows the real one.
func TestComplexElements(t *testing.T) {
	for _, d := range []DType{Complex32, Complex64, Complex128} {
		b := make([]byte, d.Size())
		d.Put(b, 1, 2)
		if re, im := d.Get(b), d.Get(b[d.Size()/2:]); re != 1 || im != 2 {
			t.Errorf("1+2i as %v is %v+%vi", d, re, im)
		}
	}
}

func TestNamesAreReadBack(t *testing.T) {
	for _, d := range DTypes() {
		if got, ok := ParseDType(d.String()); !ok || got != d {
			t.Errorf("%v is read back as %v, %v", d, got, ok)
		}
		if got, ok := DTypeOfWord(d.String()); ok != d.Writable() || ok && got != d {
			t.Errorf("the word %v is %v, %v", d, got, ok)
		}
	}
	if d, ok := ParseDType("float31"); ok {
		t.Errorf("float31 is %v", d)
	}
	if d, ok := DTypeOfWord("Half"); !ok || d != Float16 {
		t.Errorf("Half is %v", d)
	}
}

// Devices are at the numbers of c10::DeviceType; pointers to Metal's memory are not
// addresses.
func TestDevices(t *testing.T) {
	for name, want := range map[string]int64{"cuda": 1, "hip": 6, "xpu": 12, "mps": 13, "mtia": 19, "privateuseone": 20} {
		if n, ok := Devices.Number(name); !ok || n != want {
			t.Errorf("%s is %d, want %d", name, n, want)
		}
	}
	for name, want := range map[string]bool{"cpu": true, "cuda": true, "hip": true, "xpu": true, "mps": false, "meta": false, "privateuseone": true} {
		if n, _ := Devices.Number(name); Addressed>>n&1 == 1 != want {
			t.Errorf("pointers to memory of %s are addresses: %v, want %v", name, !want, want)
		}
	}
	if !slices.Contains(DeviceKeys, "MAIA") || slices.Contains(DeviceKeys, "") || !slices.Contains(Libraries, "libc10_xpu.so") || slices.Contains(Libraries, "libtorch_mps.so") {
		t.Errorf("keys %v, libraries %v", DeviceKeys, Libraries)
	}
}

// The last dtypes have the numbers of c10::ScalarType.
func TestLastDTypes(t *testing.T) {
	for d, want := range map[DType]string{29: "uint64", 30: "uint1", 43: "int7", 44: "float8_e8m0fnu", 45: "float4_e2m1fn_x2"} {
		if got := d.String(); got != want {
			t.Errorf("DType(%d) is %s, want %s", int8(d), got, want)
		}
	}
}
