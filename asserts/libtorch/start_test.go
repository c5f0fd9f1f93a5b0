package libtorch

import (
	"errors"
	"strings"
	"testing"
)

func TestBuiltForAnother(t *testing.T) {
	for _, tt := range []struct {
		symbol  string
		another bool
	}{
		{"_ZNK3c108SymFloat11guard_floatEPKcl", true},
		{"_ZN2at4_ops5empty4callEv", true},
		{"_ZTIN5torch8autograd4NodeE", true},
		{"_Z6squareN2at6TensorE", false}, // the library's own
		{"cblas_sgemm", false},
	} {
		given := errors.New("load library: a.so: undefined symbol: " + tt.symbol)
		if err := builtForAnother(given, "a.so", "2.6.0"); strings.Contains(err.Error(), "built for another PyTorch, not 2.6.0: choose") != tt.another || !errors.Is(err, given) {
			t.Errorf("%s: %v", tt.symbol, err)
		}
	}
}

// An operator looked up before the listing is read alone, and remains the same Op after it.
func TestLookupAlone(t *testing.T) {
	if err := start(); err != nil {
		t.Skip(err)
	}
	before := registry.listed.Swap(nil)
	t.Cleanup(func() { registry.listed.Store(before) })
	for _, name := range []string{"aten::add.Tensor", "aten::relu"} {
		registry.alone.Delete(name)
		op, err := Lookup(name)
		again, _ := Lookup(name)
		if err != nil || op.Name != name || again != op || registry.listed.Load() != nil {
			t.Fatalf("%s is %v, then %v, %v", name, op, again, err)
		}
	}
	for _, name := range []string{"aten::relu.", "aten::no_such", "none", ""} {
		if op, err := Lookup(name); err == nil || registry.listed.Load() != nil {
			t.Errorf("%q is %v", name, op)
		}
	}
	alone, _ := Lookup("aten::relu")
	if _, err := Ops(); err != nil {
		t.Fatal(err)
	}
	if listed, _ := Lookup("aten::relu"); listed != alone {
		t.Error("listed, it is another Op")
	}
}
