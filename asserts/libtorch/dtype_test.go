package libtorch

import (
	"slices"
	"testing"
)

func TestWireDeviceNames(t *testing.T) {
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
	if n := testing.AllocsPerRun(100, func() { deviceName(0, noIndex) }); n != 0 {
		t.Errorf("the name of the CPU, which each observation has, allocates %v times", n)
	}
}

// An operator for which a library brought a kernel is listed with it, and other Ops stay the same.
func TestWireListedAnew(t *testing.T) {
	list := func(kernels string) *listing {
		text := "op\x1f1\x1faten::f\x1f\x1fCPU\x1f\x1f\x1f\x1f\x1e" + "op\x1f2\x1faten::g\x1f\x1f" + kernels + "\x1f\x1f\x1f\x1f\x1e"
		return &listing{records: parseListing(text)}
	}
	old, now := list("CPU"), list("CPU PrivateUse1")
	old.records["aten::gone"] = &operatorRecord{}
	f, g := old.records["aten::f"].read(), old.records["aten::g"].read()
	now.keep(old.records)
	if now.records["aten::f"].read() != f || now.records["aten::gone"] == nil {
		t.Error("an operator is not what it was")
	}
	if got := now.records["aten::g"].read(); got == g || !slices.Contains(got.Kernels, "PrivateUse1") || slices.Contains(g.Kernels, "PrivateUse1") {
		t.Errorf("aten::g has kernels for %v", got.Kernels)
	}
}

func TestWireValueString(t *testing.T) {
	three, x := int64(3), Tensor{handle{slot: 5}}
	for want, v := range map[string]Value{
		"None":                    {},
		"default":                 Default(),
		"undefined":               Tensor{}.Value(),
		"7":                       Int(7),
		"0.5":                     Float(0.5),
		"true":                    Bool(true),
		"(1+2i)":                  Complex(1 + 2i),
		`"x"`:                     String("x"),
		`"dimname::N"`:            Dimname("N"),
		"cuda:1":                  Device("cuda:1"),
		"stream 3 of cpu":         Stream("cpu", 3),
		"[1, 2]":                  Ints(1, 2),
		"[tensor#5, [undefined]]": List(x.Value(), Tensors(Tensor{})),
		"[0.5, true, \"a\"]":      List(Float(0.5), Bool(true), String("a")),
		"[None, 3]":               List(Maybe(nil, Int), Maybe(&three, Int)),
		"[[1.5], [false]]":        List(Floats(1.5), Bools(false)),
		"[[\"a\"], None, []]":     List(MaybeList([]string{"a"}, Strings), MaybeList(nil, Ints), MaybeList([]int64{}, Ints)),
	} {
		if got := v.String(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// Gradients need a fraction.
func TestWireFractions(t *testing.T) {
	for d, want := range map[DType]bool{Float16: true, BFloat16: true, Complex64: true, Int64: false, BoolType: false, QInt8: false} {
		if d.fraction() != want {
			t.Errorf("elements of %v have a fraction: %v, want %v", d, !want, want)
		}
	}
}
