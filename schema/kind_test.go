package schema_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/opassert/opassert/internal/dev/must"
	"github.com/opassert/opassert/schema"
)

func TestKindViewClass(t *testing.T) {
	for _, tt := range []struct {
		text  string
		tags  []string
		kind  schema.Kind
		view  schema.ViewReason
		class schema.Class
	}{
		{"add(Tensor self) -> Tensor", nil, schema.Functional, schema.NotView, schema.ClassOutOfPlace},
		{"add_(Tensor(a!) self) -> Tensor(a!)", nil, schema.Inplace, schema.NotView, schema.ClassInplace},
		{"add_(Tensor(a!) self, Tensor(b!) x) -> Tensor(a!)", nil, schema.Inplace, schema.NotView, schema.ClassInplace},
		{"__iand__(Tensor(a!) self) -> Tensor(a!)", nil, schema.Inplace, schema.NotView, schema.ClassInplace},
		{"add.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)", nil, schema.Out, schema.NotView, schema.ClassInplace},
		{"add.out(Tensor(b!) x, *, Tensor(a!) out) -> Tensor(a!)", nil, schema.Out, schema.NotView, schema.ClassInplace},
		{"add.out(Tensor x, *, Tensor(a!) out, Tensor(b!) _scratch_y) -> Tensor(a!)", nil, schema.Scratch, schema.NotView, schema.ClassInplace},
		{"f(Tensor self, Tensor(a!) x) -> Tensor", nil, schema.Mutable, schema.NotView, schema.ClassInplace},
		{"f(Tensor(a!) x) -> Tensor", nil, schema.Mutable, schema.NotView, schema.ClassInplace},
		{"f(Tensor _scratch_x) -> Tensor", nil, schema.Functional, schema.NotView, schema.ClassOutOfPlace},
		{"a::f(Tensor(a!) x, Tensor(b!) y, Tensor self) -> Tensor", nil, schema.Functional, schema.NotView, schema.ClassInplace},
		{"f(Tensor(a!) x, *, Tensor self) -> Tensor", nil, schema.Mutable, schema.NotView, schema.ClassInplace},
		{"a::f(Tensor(a)[](b!) x) -> ()", nil, schema.Mutable, schema.NotView, schema.ClassInplace},
		{"a::f(Tensor(a)[](b) x) -> ()", nil, schema.Functional, schema.NotView, schema.ClassOutOfPlace},
		{"set_data(Tensor(a!) self, Tensor x) -> ()", nil, schema.Functional, schema.NotView, schema.ClassInplace},
		{"view(Tensor(a) self) -> Tensor(a)", nil, schema.Functional, schema.ViewReturn, schema.ClassView},
		{"split(Tensor(a -> *) self) -> Tensor(a)[]", nil, schema.Functional, schema.ViewReturn, schema.ClassView},
		{"f(Tensor(a -> b) self) -> Tensor(b)", nil, schema.Functional, schema.ViewReturn, schema.ClassView},
		{"f(Tensor(a -> b) self) -> ()", nil, schema.Functional, schema.NotView, schema.ClassOutOfPlace},
		{"f(Tensor(a -> *) self) -> ()", nil, schema.Functional, schema.ViewWildcard, schema.ClassView},
		{"t_(Tensor(a!) self) -> Tensor(a!)", []string{"inplace_view"}, schema.Inplace, schema.ViewInplace, schema.ClassInplace},
		{"resize_(Tensor(a!) self) -> Tensor(a!)", []string{"inplace_view"}, schema.Inplace, schema.NotView, schema.ClassInplace},
		{"resize(Tensor(a!) self) -> ()", []string{"inplace_view"}, schema.Functional, schema.ViewInplace, schema.ClassInplace},
		{"resize_as_(Tensor(a!) self) -> Tensor(a!)", []string{"inplace_view"}, schema.Inplace, schema.NotView, schema.ClassInplace},
		{"resize_.x(Tensor(a!) self) -> Tensor(a!)", []string{"inplace_view"}, schema.Inplace, schema.ViewInplace, schema.ClassInplace},
	} {
		parse := schema.ParseOp
		if strings.HasPrefix(tt.text, "a::") {
			parse = schema.ParseDispatcher
		}
		op, err := parse(tt.text)
		if err != nil {
			t.Errorf("%s: %v", tt.text, err)
			continue
		}
		op.Tags = tt.tags
		if op.Kind() != tt.kind || op.View() != tt.view || op.Class() != tt.class {
			t.Errorf("%s is %s, %q, %s; want %s, %q, %s", tt.text, op.Kind(), op.View(), op.Class(), tt.kind, tt.view, tt.class)
		}
	}
}

func TestTypeQuestions(t *testing.T) {
	for _, tt := range []struct {
		typ, list  string
		tensorLike bool
	}{
		{"Tensor", "none", true},
		{"Tensor?", "opttensor", true},
		{"Tensor[]", "tensorlist", true},
		{"Tensor[]?", "tensorlist", true},
		{"Tensor[2]", "tensorlist", true},
		{"Tensor?[]", "opttensorlist", true},
		{"Tensor?[]?", "opttensorlist", true},
		{"int", "", false},
		{"int[]?", "", false},
		{"Dict(str, Tensor)", "tensorlist", false},
		{"Dict(Tensor, int)", "", false},
		{"(int, Tensor)[]", "tensorlist", false},
		{"(int, int)", "", false},
	} {
		op, err := schema.ParseDispatcher("a::f(" + tt.typ + " x) -> ()")
		if err != nil {
			t.Errorf("%s: %v", tt.typ, err)
			continue
		}
		typ := op.Func.Args[0].Type
		if typ.String() != tt.typ || typ.ListKind() != tt.list || typ.IsTensorLike() != tt.tensorLike {
			t.Errorf("%s is %s, %q, %v; want %q, %v", tt.typ, typ, typ.ListKind(), typ.IsTensorLike(), tt.list, tt.tensorLike)
		}
	}
}

func TestWords(t *testing.T) {
	var got []string
	for k := schema.Functional; k <= schema.Scratch; k++ {
		got = append(got, k.String())
	}
	for c := schema.ClassOutOfPlace; c <= schema.ClassView; c++ {
		got = append(got, c.String())
	}
	for v := schema.NotView; v <= schema.ViewWildcard; v++ {
		got = append(got, v.String())
	}
	want := []string{
		"functional", "inplace", "out", "mutable", "scratch",
		"out-of-place", "in-place", "view",
		"not a view", "a return has an alias set that is not written", "the inplace_view tag", "an argument escapes into the wildcard set",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("want - got +\n%s", diff)
	}
}

func TestIsMethod(t *testing.T) {
	const self = "__torch__.torch.classes.ns.Queue"
	for text, want := range map[string]bool{
		"ns::Queue.push(" + self + " self, Tensor x) -> ()":    true,
		"ns::Queue.push(Tensor x, " + self + " self) -> ()":    false,
		"ns::Queue.push() -> ()":                               false,
		"ns::Queue(" + self + " self) -> ()":                   false,
		"ns::push.Queue(" + self + " self) -> ()":              false,
		"other::Queue.push(" + self + " self, Tensor x) -> ()": false,
	} {
		if op := must.Get(schema.ParseDispatcher(text))(t); op.IsMethod() != want {
			t.Errorf("%s: %v, want %v", text, !want, want)
		}
	}
}
