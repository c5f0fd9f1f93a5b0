package libtorch

import (
	"math"
	"testing"
)

// What is stored as a dtype comes back as the nearest number that it has.
func TestDTypeElements(t *testing.T) {
	inf := math.Inf(1)
	for _, tt := range []struct {
		dtype    DType
		in, want float64
	}{
		{Uint8, 200, 200}, {Int8, -3, -3}, {Int16, -300, -300}, {Int32, 1 << 20, 1 << 20}, {Int64, -1 << 40, -1 << 40},
		{BoolType, 3, 1}, {BoolType, 0, 0}, {Float32, 0.1, float64(float32(0.1))}, {Float64, 0.1, 0.1},
		{Complex64, 0.5, 0.5}, {Complex128, -0.1, -0.1},
		{BFloat16, 1, 1}, {BFloat16, 1.00390625, 1}, {BFloat16, 1.01171875, 1.015625}, {BFloat16, -inf, -inf},
		{Float16, 1, 1}, {Float16, -2.5, -2.5}, {Float16, 65504, 65504}, {Float16, 65519, 65504}, {Float16, 65520, inf},
		{Float16, -1e9, -inf}, {Float16, 0x1p-24, 0x1p-24}, {Float16, 0x1p-25, 0}, {Float16, 0x1p-14, 0x1p-14},
		{Float16, 0.1, 0.0999755859375}, {Float16, 2047.5, 2048}, {Float16, 2048.9, 2048},
	} {
		b := tt.dtype.append(nil, tt.in)
		if len(b) != tt.dtype.Size() {
			t.Errorf("%v is %d bytes, want %d", tt.dtype, len(b), tt.dtype.Size())
		}
		if got := tt.dtype.element(b); got != tt.want {
			t.Errorf("%v as %v comes back as %v, want %v", tt.in, tt.dtype, got, tt.want)
		}
	}
	for _, d := range []DType{Float16, BFloat16, Float32, Float64} {
		if got := d.element(d.append(nil, math.NaN())); got == got {
			t.Errorf("NaN as %v comes back as %v", d, got)
		}
	}
}

// Every float16 but the NaNs is what float16 makes of its own value.
func TestFloat16(t *testing.T) {
	for h := range 1 << 16 {
		if v := fromFloat16(uint16(h)); v == v && float16(v) != uint16(h) {
			t.Fatalf("%#04x is %v, which is %#04x", h, v, float16(v))
		}
	}
}

func TestNames(t *testing.T) {
	for d := range DType(len(dtypes)) {
		if got, ok := ParseDType(d.String()); !ok || got != d {
			t.Errorf("%v is read back as %v, %v", d, got, ok)
		}
	}
	for f := range Form(len(formNames)) {
		if got, ok := ParseForm(f.String()); !ok || got != f {
			t.Errorf("%v is read back as %v, %v", f, got, ok)
		}
	}
	if _, ok := ParseDType("float31"); ok {
		t.Error("float31 is a dtype")
	}
	if _, ok := ParseForm("round"); ok {
		t.Error("round is a form")
	}
	for _, tt := range []struct {
		name       string
		typ, index int64
		ok         bool
	}{{"cpu", 0, -1, true}, {"meta", 14, -1, true}, {"cuda:1", 1, 1, true}, {"gpu", 0, 0, false}, {"cuda:x", 0, 0, false}} {
		typ, index, ok := parseDevice(tt.name)
		if ok != tt.ok || ok && (typ != tt.typ || index != tt.index || deviceName(typ, index) != tt.name) {
			t.Errorf("%s is the device %d, %d, %v", tt.name, typ, index, ok)
		}
	}
}

func TestValueString(t *testing.T) {
	for want, v := range map[string]Value{
		"None":                {},
		"default":             Default(),
		"undefined":           Tensor{}.Value(),
		"7":                   Int(7),
		"0.5":                 Float(0.5),
		"true":                Bool(true),
		"(1+2i)":              Complex(1 + 2i),
		`"x"`:                 String("x"),
		`"dimname::N"`:        Dimname("N"),
		"cuda:1":              Device("cuda:1"),
		"stream 3 of cpu":     Stream("cpu", 3),
		"[1, 2]":              Ints(1, 2),
		"[undefined]":         Tensors(Tensor{}),
		"[0.5, true, \"a\"]":  List(Float(0.5), Bool(true), String("a")),
		"[None]":              List(Maybe(nil, Int)),
		"[[1.5], [false]]":    List(Floats(1.5), Bools(false)),
		"[[\"a\"], None, []]": List(MaybeList([]string{"a"}, Strings), MaybeList(nil, Ints), MaybeList([]int64{}, Ints)),
	} {
		if got := v.String(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
