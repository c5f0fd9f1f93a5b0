package schema_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/opassert/opassert/schema"
)

// TestLintFinds has a fault for every rule.
func TestLintFinds(t *testing.T) {
	for _, tt := range []struct {
		text string
		tags []string
		want []string // position, message, fix
	}{
		{"a::add_(Tensor self, Tensor other) -> Tensor", nil, []string{
			"1:9: add_ is in-place by its name, but self is not written | Tensor self -> Tensor(a!) self"}},
		{"a::add_(int n, Tensor(a)[] x) -> Tensor(a)[]", nil, []string{
			"1:16: add_ is in-place by its name, but x is not written | Tensor(a)[] x -> Tensor(a!)[] x"}},
		{"a::add_(Tensor x, Tensor self) -> Tensor", nil, []string{
			"1:19: add_ is in-place by its name, but self is not written | Tensor self -> Tensor(a!) self"}},
		{"a::add_(int n) -> int", nil, []string{
			"1:1: add_ is in-place by its name, but has no tensor argument | "}},
		{"a::f_(Tensor x, Tensor(a1!) running) -> Tensor", nil, nil}, // torch.library.custom_op's
		{"a::f_(Tensor(a!)[] self) -> Tensor[](a!)", nil, []string{
			"1:29: f_ is in-place by its name, but returns something other than self | Tensor[](a!) -> Tensor(a!)[]"}},
		{"a::f_(Tensor(a! -> b) self) -> Tensor(a!)", nil, []string{
			"1:32: f_ is in-place by its name, but returns something other than self | Tensor(a!) -> Tensor(a! -> b)"}},
		{"a::f_(Tensor(a!)[](b!) self) -> Tensor(a!)[](c!)", nil, []string{
			"1:33: f_ is in-place by its name, but returns something other than self | Tensor(a!)[](c!) -> Tensor(a!)[](b!)"}},
		{"a::add_(Tensor(a!) self) -> Tensor", nil, []string{
			"1:29: add_ is in-place by its name, but returns something other than self | Tensor -> Tensor(a!)"}},
		{"a::f_(Tensor(a!) self, Tensor(b) x) -> Tensor(b)", nil, []string{
			"1:40: f_ is in-place by its name, but returns something other than self | Tensor(b) -> Tensor(a!)"}},
		{"a::f_copy_(Tensor(a!) self, Tensor(b) x) -> Tensor(b)", nil, []string{
			"1:45: f_copy_ is in-place by its name, but returns something other than self | Tensor(b) -> Tensor(a!)"}},
		{"a::set(Tensor(a!) self, Tensor x) -> ()", nil, []string{
			"1:8: set writes self, but is not in-place by its name, so it looks functional | set -> set_"}},
		{"a::add(Tensor self, *, Tensor out) -> Tensor", nil, []string{
			"1:24: the out argument is not written | Tensor out -> Tensor(a!) out"}},
		{"a::add.out(Tensor self, *, Tensor result) -> Tensor", nil, []string{
			"1:1: the overload out has an out argument by its name, but none is written | "}},
		{"a::add.x_out(Tensor self, *, Tensor result) -> Tensor", nil, []string{
			"1:1: the overload x_out has an out argument by its name, but none is written | "}},
		{"a::add.functional(Tensor self, Tensor(a!) x) -> Tensor", nil, []string{
			"1:32: add.functional is functional by its name, but writes x | Tensor(a!) x -> Tensor x"}},
		{"a::add_functional(Tensor(a!) x) -> Tensor", nil, []string{
			"1:19: add_functional is functional by its name, but writes x | Tensor(a!) x -> Tensor x"}},
		{"a::view_copy(Tensor(a) self) -> Tensor(a)", nil, []string{
			"1:33: view_copy returns a copy by its name, but its return is an alias | Tensor(a) -> Tensor"}},
		{"a::t_(Tensor self) -> Tensor", []string{"inplace_view"}, []string{
			"1:7: t_ is in-place by its name, but self is not written | Tensor self -> Tensor(a!) self",
			"1:1: t_ has the tag inplace_view, but writes nothing | "}},
		{"a::view(Tensor self) -> Tensor(a)", nil, []string{
			"1:25: no argument has the alias set of a return, (a) | "}},
		{"a::view(Tensor(a) self) -> Tensor(a!)", nil, []string{
			"1:28: a return is marked (a!), but self is not written | Tensor(a) self -> Tensor(a!) self"}},
		{"a::view(Tensor x, Tensor(a) self) -> Tensor(a!)", nil, []string{
			"1:38: a return is marked (a!), but self is not written | Tensor(a) self -> Tensor(a!) self"}},
		{"a::view(Tensor(a) self, Tensor(b!) x) -> Tensor(a!)", nil, []string{
			"1:42: a return is marked (a!), but self is not written | Tensor(a) self -> Tensor(a!) self"}},
		{"a::view(Tensor(a) self, Tensor(b) x) -> Tensor(b)", nil, []string{
			"1:9: no return shares the alias set of self, (a) | Tensor(a) self -> Tensor self, or mark the return that shares it"}},
		{"a::mul(Tensor(a!) y, Tensor(a) z) -> Tensor(a)", nil, []string{
			"1:22: y and z share the alias set a, and one of them is written | Tensor(a) z -> Tensor(b) z"}},
		{"a::mul(Tensor(a) y, Tensor(a!) z) -> Tensor(a)", nil, []string{
			"1:21: y and z share the alias set a, and one of them is written | Tensor(a!) z -> Tensor(b!) z"}},
		{"a::mul(Tensor x, Tensor(a!) y, Tensor(a!) z) -> Tensor", nil, []string{
			"1:32: y and z share the alias set a, and one of them is written | Tensor(a!) z -> Tensor(b!) z"}},
		{"prims::view_of(Tensor(a) a) -> Tensor", nil, []string{
			"1:16: no return shares the alias set of a, (a) | Tensor(a) a -> Tensor a, or mark the return that shares it"}},
	} {
		op, err := schema.ParseDispatcher(tt.text)
		if err != nil {
			t.Errorf("%s: %v", tt.text, err)
			continue
		}
		op.Tags = tt.tags
		var got []string
		for _, f := range schema.LintOp(op) {
			if f.Op != op.Name() {
				t.Errorf("%s: the finding is about %s", op.Name(), f.Op)
			}
			got = append(got, fmt.Sprintf("%s: %s | %s", f.Pos, f.Message, f.Fix))
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s, want - got +\n%s", tt.text, diff)
		}
	}
}

// A fault of a derived op is reported only for the op that it derives from.
func TestLintOfFile(t *testing.T) {
	const src = "- func: a(Tensor self, Tensor(a!) x, Tensor(a!) y) -> Tensor\n  autogen: a.out\n  dispatch:\n    CPU: f\n"
	file, err := schema.Parse("f", []byte(src), nil)
	if err != nil {
		t.Fatal(allErrors(err))
	}
	if len(file.Ops) < 2 || len(schema.LintOp(file.Ops[1])) == 0 {
		t.Fatalf("%v: want a derived op with a finding", file.Ops)
	}
	if got := schema.Lint(file); len(got) != 1 || got[0].Op != "a" {
		t.Errorf("findings %v, want one, of a", got)
	}
}

// Schemas without disagreement, and annotations of the dispatcher that are not about tensors.
func TestLintIsQuiet(t *testing.T) {
	for _, text := range []string{
		"aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
		"aten::add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)",
		"aten::add.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)",
		"aten::_foreach_add_(Tensor(a!)[] self) -> ()",
		"aten::max.dim_max(Tensor self, *, Tensor(a!) max, Tensor(b!) max_values) -> (Tensor(a!) values, Tensor(b!) indices)",
		"aten::view(Tensor(a) self, SymInt[] size) -> Tensor(a)",
		"aten::view_copy(Tensor self, SymInt[] size) -> Tensor",
		"aten::copy_(Tensor(a!) self, Tensor src) -> Tensor(a!)",
		"aten::split(Tensor(a -> *) self) -> Tensor(a)[]",
		"aten::cpu(Tensor(a) self) -> Tensor(b|a)",
		"aten::_unpack_dual(Tensor(a) dual, int level) -> (Tensor(a) primal, Tensor tangent)",
		"aten::native_batch_norm.x(Tensor self, Tensor(a!) mean, Tensor(b!) var) -> Tensor",
		"aten::append.t(t[](a!) self, t(c -> *) el) -> t[](a!)",
		"aten::sorted.Tensor(Tensor[](a) input) -> Tensor[]",
		"aten::sort.Tensor(Tensor[](a!) self, bool reverse=False) -> ()",
		"aten::keys.Tensor(Dict(Tensor, t) self) -> Tensor[](*)",
		"aten::update.str(Dict(str, t)(a!) self, Dict(str, t)(a!) to_add) -> ()",
		"prim::BailOut(...) -> Tensor(a)",
		"prim::BailOut(...) -> Tensor(a!)",
		"aten::f_(Tensor(a!) self) -> (Tensor(a!), int)",
		"aten::f(Tensor out) -> Tensor",
		"aten::f(Tensor self, *, int out) -> Tensor",
		"aten::f(Tensor(a) x, Tensor(a) y) -> Tensor(a)",
		"aten::f(Tensor(*!) x, Tensor(*!) y) -> ()",
		"aten::f(Tensor(a -> *) self) -> ()",
		"aten::f(Tensor(*) self) -> ()",
	} {
		op, err := schema.ParseDispatcher(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		for _, f := range schema.LintOp(op) {
			t.Errorf("%s: %s", text, f.Message)
		}
	}
}
