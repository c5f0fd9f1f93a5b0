package typed

import (
	"fmt"
	"go/types"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opassert/opassert/allowlist"
	"github.com/opassert/opassert/gen/plan"
	"github.com/opassert/opassert/internal/dev/must"
	"github.com/opassert/opassert/schema"
)

// funcs returns descriptions of the functions for some schemas.
func funcs(t *testing.T, schemas ...string) []string {
	t.Helper()
	planner := must.Get(plan.NewPlanner("full", nil, allowlist.Where{}))(t)
	var ops []*schema.Op
	for _, text := range schemas {
		op := must.Get(schema.ParseOp(text))(t)
		ops = append(ops, op)
	}
	funcs, skipped, err := Funcs(ops, planner)
	var lines []string
	for _, f := range funcs {
		line := fmt.Sprintf("%s %s:", f.Name, f.OpVar)
		for _, p := range f.Params {
			line += fmt.Sprintf(" %s %s = %s;", p.Name, goType(p.GoForm), fmt.Sprintf(p.Make, p.Name))
		}
		line += " returns"
		for _, r := range f.Results {
			line += fmt.Sprintf(" %s %s = %s;", r.Name, goType(r.GoForm), r.Take)
		}
		lines = append(lines, line+" "+f.Out+" "+f.Err)
	}
	for _, s := range skipped {
		lines = append(lines, s.Op.Name()+" skipped: "+s.Reason)
	}
	if err != nil {
		lines = append(lines, err.Error())
	}
	return lines
}

func goType(f GoForm) string {
	return types.TypeString(f.Type, func(p *types.Package) string { return p.Name() })
}

func TestFuncs(t *testing.T) {
	tests := []struct {
		name    string
		schemas []string
		want    []string
	}{
		{"in the order of names", []string{"b() -> ()", "a() -> ()"}, []string{"A opA: returns out err", "B opB: returns out err"}},
		{
			"names", []string{"f.x(Tensor grad_output, int out, int nil, int type, int asserts) -> (Tensor err, Tensor)"},
			[]string{"FX opFX: gradOutput libtorch.Tensor = gradOutput.Value(); out int64 = libtorch.Int(out); nil_ int64 = libtorch.Int(nil_); " +
				"type_ int64 = libtorch.Int(type_); asserts_ int64 = libtorch.Int(asserts_); " +
				"returns err libtorch.Tensor = %s.Tensor; result1 libtorch.Tensor = %s.Tensor; out_ err_"},
		},
		{
			"one Go name for two ops", []string{"f.a() -> ()", "f_a() -> ()", "g() -> ()"},
			[]string{"FA opFA: returns out err", "G opG: returns out err", "1:1: f_a and f.a (1:1) would both be FA in Go; rename the overload of one of them"},
		},
		{
			"no form and no name left", []string{"f.a() -> ()", "f_a(ConstQuantizerPtr x) -> ()"},
			[]string{"FA opFA: returns out err", "f_a skipped: argument x has type ConstQuantizerPtr, which has no Go form"},
		},
		{
			"a skipped op leaves its name", []string{"f.a(ConstQuantizerPtr x) -> ()", "f_a() -> ()"},
			[]string{"FA opFA: returns out err", "f.a skipped: argument x has type ConstQuantizerPtr, which has no Go form"},
		},
		{"return", []string{"f() -> (int, Dimname)"}, []string{"f skipped: return 1 has type Dimname, which has no Go form"}},
		{"return without any form", []string{"f() -> ConstQuantizerPtr"}, []string{"f skipped: return 0 has type ConstQuantizerPtr, which has no Go form"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, funcs(t, tt.schemas...)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestForms(t *testing.T) {
	tests := []struct{ typ, value, take string }{
		{"Tensor", "libtorch.Tensor = %s.Value()", "%s.Tensor"},
		{"Tensor?", "libtorch.Tensor = %s.Value()", "%s.Tensor"},
		{"Tensor[]", "[]libtorch.Tensor = libtorch.Tensors(%s...)", "%s.Tensors"},
		{"Tensor?[]", "[]libtorch.Tensor = libtorch.Tensors(%s...)", "%s.Tensors"},
		{"Scalar", "libtorch.Value = %s", "%s"},
		{"Scalar?", "libtorch.Value = %s", "%s"},
		{"Scalar[]", "[]libtorch.Value = libtorch.List(%s...)", ""},
		{"int", "int64 = libtorch.Int(%s)", "%s.Int"},
		{"int?", "*int64 = libtorch.Maybe(%s, libtorch.Int)", ""},
		{"int[2]", "[]int64 = libtorch.Ints(%s...)", "%s.Ints"},
		{"SymInt[]?", "[]int64 = libtorch.MaybeList(%s, libtorch.Ints)", ""},
		{"bool", "bool = libtorch.Bool(%s)", "%s.Int != 0"},
		{"ScalarType?", "*libtorch.DType = libtorch.Maybe(%s, libtorch.DType.Value)", ""},
		{"Dimname[]", "[]string = libtorch.Dimnames(%s...)", ""},
		{"Layout[]", "", ""},
		{"Layout[]?", "", ""},
		{"int?[]", "", ""},
		{"int[][]", "", ""},
		{"int??", "", ""},
		{"ConstQuantizerPtr", "", ""},
		{"ConstQuantizerPtr[]", "", ""},
		{"ConstQuantizerPtr?", "", ""},
	}
	for _, tt := range tests {
		op, err := schema.ParseOp("f(" + tt.typ + " x) -> ()")
		if err != nil {
			t.Errorf("%s: %v", tt.typ, err)
			continue
		}
		f, ok := formOf(op.Func.Args[0].Type)
		got := ""
		if ok {
			got = goType(f) + " = " + f.Make
		}
		if got != tt.value || f.Take != tt.take {
			t.Errorf("%s is %q and taken by %q, want %q and %q", tt.typ, got, f.Take, tt.value, tt.take)
		}
	}
}
