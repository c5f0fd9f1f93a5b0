package bind

import (
	"go/types"
	"strings"
	"testing"

	"github.com/opassert/opassert/internal/dev/must"
)

// Which Go types can represent which schema types.
func TestFitType(t *testing.T) {
	const named = tensorType + "type Device struct{}\ntype DType int8\ntype Name string\ntype Flag bool\ntype Half float32\ntype Any = any\ntype Layout interface{ M() }\n"
	tests := []struct{ schema, fits, misfits string }{
		{"int", "int, int64, uint8, DType", "float64, string, bool, Device, any, *int, []int"},
		{"SymInt", "int, int64, DType, Device, *Device, any", "float64, bool, string, []int"},
		{"float", "float64, float32, Half, Device, any", "int, bool, string, func()"},
		{"bool", "bool, Flag", "int, Device, any, string"},
		{"str", "string, Name, Device", "int, []byte, bool"},
		{"Scalar", "float64, int, complex128, DType, Device, any, Layout", "bool, string, Name, func()"},
		{"ScalarType", "DType, int, Name, string, Device, *Device, Layout, any, Any", "float64, bool, Flag, interface{ M() }, func(), []Device, **Device"},
		{"int?", "int, *int, *DType", "float64, *float64, **int"},
		{"Device?", "Device, *Device, **Device, DType", "float64, []Device"},
		{"int[]", "[]int, [2]int64, []DType", "int, []float64, []*int, *[]int"},
		{"int[2]", "[2]int, []int", "int"},
		{"int[]?", "[]int, *[]int", "[]bool, *int"},
		{"Scalar?[]", "[]float64, []*float64, []any", "[]bool"},
		{"Tensor", "*Tensor", "Tensor, **Tensor, Device, any, []*Tensor"},
		{"Tensor?", "*Tensor, **Tensor", "Tensor, Device, ***Tensor"},
		{"Tensor[]", "[]*Tensor, [3]*Tensor", "*Tensor, []Tensor, []**Tensor"},
		{"Tensor?[]", "[]*Tensor, []**Tensor, [1]**Tensor", "*Tensor, []Tensor, **Tensor, []***Tensor"},
	}
	for _, tt := range tests {
		op := ops(t, "f(Tensor self, "+tt.schema+" x) -> ()")[0]
		for _, list := range []struct {
			types string
			fit   bool
		}{{tt.fits, true}, {tt.misfits, false}} {
			for typ := range strings.SplitSeq(list.types, ", ") {
				pkg, err := find(t, named+"//opassert:kernel f\nfunc F(self *Tensor, x "+typ+") {}")
				if err != nil {
					t.Fatal(err)
				}
				params := kernelParams(pkg.Kernels[0])
				b := &binder{pkg: pkg, tensor: params[0].Type()}
				if _, fit := b.fitType(op.Func.Args[1].Type, params[1].Type()); fit != list.fit {
					t.Errorf("%s as %s: fits is %t", tt.schema, typ, fit)
				}
			}
		}
	}
}

func TestWanted(t *testing.T) {
	tests := []struct{ schema, want string }{
		{"Tensor", "*Tensor"},
		{"Tensor?", "*Tensor"},
		{"Tensor?[]", "[]*Tensor"},
		{"int?", "*int64 (nil for none)"},
		{"SymInt[]", "[]int64"},
		{"float", "float64"},
		{"bool", "bool"},
		{"str", "string"},
		{"Device", "a named type for Device"},
	}
	pkg := must.Get(find(t, tensorType))(t)
	b := &binder{pkg: pkg, tensor: types.NewPointer(pkg.Types.Scope().Lookup("Tensor").Type())}
	for _, tt := range tests {
		if got := b.wanted(ops(t, "f("+tt.schema+" x) -> ()")[0].Func.Args[0].Type); got != tt.want {
			t.Errorf("%s is wanted as %s, want %s", tt.schema, got, tt.want)
		}
	}
}
