package bind

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"go/types"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opassert/opassert/allowlist"
	"github.com/opassert/opassert/gen/plan"
	"github.com/opassert/opassert/schema"
)

// library has the packages that kernels import, as far as they look at them.
var library = importer{
	assertsPath: "package asserts; type Observation struct{}; type Level int; type Kernel struct{}",
	optestPath:  "package optest; type Spec struct{}; type Option int",
	"context":   "package context; type Context interface{ Done() <-chan struct{} }",
	"example.com/other": "package other; type Device struct{}; type Set[T any] struct{}; type hidden int; " +
		"type Hidden = hidden",
}

// An importer type-checks packages from their source.
type importer map[string]string

func (im importer) Import(path string) (*types.Package, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, path, im[path], 0)
	if err != nil {
		return nil, err
	}
	return new(types.Config).Check(path, fset, []*ast.File{file}, nil)
}

// tensorType is a tensor that can be observed.
const tensorType = "type Tensor struct{}\nfunc (*Tensor) Observe(*asserts.Observation, asserts.Level) {}\n"

// source makes a file of the package that the tests bind.
func source(decls string) string {
	text := "package kernels\n"
	for path := range library {
		if name := path[strings.LastIndex(path, "/")+1:]; strings.Contains(decls, name+".") {
			text += "import " + `"` + path + `"` + "\n"
		}
	}
	return text + decls
}

// find finds the kernels of a source file.
func find(t *testing.T, decls string) (*Package, error) {
	t.Helper()
	p := checked(t, "example.com/kernels", decls)
	pkg := &Package{Path: "example.com/kernels", Name: "kernels", Types: p.Types}
	return pkg, pkg.findKernels(p)
}

func ops(t *testing.T, schemas ...string) []*schema.Op {
	t.Helper()
	var ops []*schema.Op
	for _, text := range schemas {
		op, err := schema.ParseOp(text)
		if err != nil {
			t.Fatal(err)
		}
		ops = append(ops, op)
	}
	return ops
}

// bound binds the kernels of a source file and says in lines what came of it:
// the wrappers, what found no partner, and the errors.
func bound(t *testing.T, decls, tensor string, schemas ...string) []string {
	t.Helper()
	pkg, err := find(t, decls)
	if err != nil {
		t.Fatal(err)
	}
	wrappers, unbound, err := Bind(pkg, ops(t, schemas...), allChecks(t), tensor)
	var lines []string
	for _, w := range wrappers {
		lines = append(lines, describe(w, pkg.Types))
	}
	for _, op := range unbound.Ops {
		lines = append(lines, "no kernel: "+op.Name())
	}
	for _, k := range unbound.Kernels {
		lines = append(lines, "no op: "+k.Msg)
	}
	return append(lines, complaints(err)...)
}

func allChecks(t *testing.T) *plan.Planner {
	t.Helper()
	planner, err := plan.NewPlanner("full", nil, allowlist.Where{})
	if err != nil {
		t.Fatal(err)
	}
	return planner
}

// complaints returns an error's lines.
func complaints(err error) []string {
	if err == nil {
		return nil
	}
	var list scanner.ErrorList
	if !errors.As(err, &list) {
		return []string{err.Error()}
	}
	var lines []string
	for _, e := range list {
		lines = append(lines, e.Error())
	}
	return lines
}

func describe(w Wrapper, from *types.Package) string {
	name := func(t types.Type) string { return types.TypeString(t, types.RelativeTo(from)) }
	var params, results []string
	for _, p := range w.Params {
		text := fmt.Sprintf("%s %s %s", p.Name, name(p.Type), roles[p.Role])
		if p.Variadic {
			text += " variadic"
		}
		params = append(params, strings.TrimSpace(text))
	}
	for _, r := range w.Results {
		results = append(results, strings.TrimSpace(fmt.Sprintf("%s %s %s", r.Name, name(r.Type), roles[r.Role])))
	}
	text := fmt.Sprintf("%s(%s) (%s)", w.Name, strings.Join(params, ", "), strings.Join(results, ", "))
	for _, local := range []string{w.Context, w.Err, w.Call, w.Buf, w.Elem} {
		text += " " + fmt.Sprintf("%q", local)
	}
	return strings.ReplaceAll(text, `"`, "'")
}

var roles = map[Role]string{One: "one", List: "list", Pointer: "pointer", PointerList: "pointers"}

func TestBind(t *testing.T) {
	tests := []struct {
		name, decls string
		schemas     []string
		want        []string
	}{
		{
			"a function", "//opassert:kernel add.Tensor\nfunc Add(self, other *Tensor, alpha float64) *Tensor { return nil }",
			[]string{"add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"},
			[]string{"AddTensor(self *Tensor one, other *Tensor one, alpha float64) (result *Tensor one) '' '' 'call' 'obs' 't'"},
		},
		{
			"by its whole name", "//opassert:kernel aten::relu\nfunc Relu(self *Tensor) *Tensor { return nil }",
			[]string{"relu(Tensor self) -> Tensor"},
			[]string{"Relu(self *Tensor one) (result *Tensor one) '' '' 'call' 'obs' 't'"},
		},
		{
			"context and error", "//opassert:kernel relu\nfunc Relu(c context.Context, self *Tensor) (*Tensor, error) { return nil, nil }",
			[]string{"relu(Tensor self) -> Tensor"},
			[]string{"Relu(c context.Context, self *Tensor one) (result *Tensor one) 'c' 'err' 'call' 'obs' 't'"},
		},
		{
			"a context later on is an argument", "//opassert:kernel f\nfunc F(self *Tensor, s context.Context) {}",
			[]string{"f(Tensor self, Stream s) -> ()"},
			[]string{"F(self *Tensor one, s context.Context) () '' '' 'call' 'obs' 't'"},
		},
		{
			"nothing in, nothing out", "//opassert:kernel f\nfunc F(*Tensor) {}\n//opassert:kernel g\nfunc G() {}",
			[]string{"f(Tensor self) -> ()", "g() -> ()"},
			[]string{
				"F(self *Tensor one) () '' '' 'call' 'obs' 't'",
				"G() () '' '' 'call' 'obs' 't'",
			},
		},
		{
			"a method", "type Device struct{}\n//opassert:kernel relu\nfunc (*Device) Relu(_ *Tensor) *Tensor { return nil }",
			[]string{"relu(Tensor self) -> Tensor"},
			[]string{"Relu(kernels_ *Device, self *Tensor one) (result *Tensor one) '' '' 'call' 'obs' 't'"},
		},
		{
			"a method of a value, by another name of its type",
			"type device struct{}\ntype Device = Cpu\ntype Cpu struct{}\n//opassert:kernel relu\nfunc (d Device) Relu(self *Tensor) *Tensor { return nil }",
			[]string{"relu(Tensor self) -> Tensor"},
			[]string{"Relu(d Device, self *Tensor one) (result *Tensor one) '' '' 'call' 'obs' 't'"},
		},
		{
			"lists and optionals", "//opassert:kernel f\nfunc F(self *Tensor, ts []*Tensor, os []*Tensor, o *Tensor, ps []**Tensor, p **Tensor) []*Tensor { return nil }",
			[]string{"f(Tensor self, Tensor[] ts, Tensor?[] os, Tensor? o, Tensor?[] ps, Tensor? p) -> Tensor[]"},
			[]string{"F(self *Tensor one, ts []*Tensor list, os []*Tensor list, o *Tensor one, ps []**Tensor pointers, p **Tensor pointer) (result []*Tensor list) '' '' 'call' 'obs' 't'"},
		},
		{
			"variadic", "//opassert:kernel cat\nfunc Cat(dim int, ts ...*Tensor) *Tensor { return ts[0] }\n//opassert:kernel f\nfunc F(*Tensor) {}",
			[]string{"cat(int dim, Tensor[] ts) -> Tensor", "f(Tensor self) -> ()"},
			[]string{
				"Cat(dim int, ts []*Tensor list variadic) (result *Tensor one) '' '' 'call' 'obs' 't'",
				"F(self *Tensor one) () '' '' 'call' 'obs' 't'",
			},
		},
		{
			"names that the body uses", "//opassert:kernel f\nfunc F(asserts, kernels, call, enabled *Tensor, opF int) (obs, t *Tensor, err error) { return }",
			[]string{"f(Tensor a, Tensor b, Tensor c, Tensor d, int e) -> (Tensor, Tensor)"},
			[]string{"F(asserts_ *Tensor one, kernels_ *Tensor one, call *Tensor one, enabled_ *Tensor one, opF_ int) " +
				"(obs *Tensor one, t *Tensor one) '' 'err' 'call_' 'obs_' 't_'"},
		},
		{
			"no partner", "//opassert:kernel f\nfunc F(*Tensor) {}\n//opassert:kernel h\nfunc H() {}",
			[]string{"g(Tensor self) -> ()", "f(Tensor self) -> ()"},
			[]string{"F(self *Tensor one) () '' '' 'call' 'obs' 't'", "no kernel: g", `no op: kernel H is for "h", which the schema does not have; did you mean g?`},
		},
		{"no pair at all", "//opassert:kernel h\nfunc H() {}", []string{"g() -> ()"}, []string{"no kernel: g", `no op: kernel H is for "h", which the schema does not have; did you mean g?`}},
		{
			"two for one op", "//opassert:kernel f\nfunc F(*Tensor) {}\n//opassert:kernel f\nfunc G(*Tensor) {}",
			[]string{"f(Tensor self) -> ()"},
			[]string{"k.go:8:6: G is a second kernel for f; the first is F at k.go:6:6"},
		},
		{
			"one Go name for two ops", "//opassert:kernel f.a\nfunc F(*Tensor) {}\n//opassert:kernel f_a\nfunc G(*Tensor) {}\n//opassert:kernel g\nfunc H(*Tensor) {}",
			[]string{"f.a(Tensor self) -> ()", "f_a(Tensor self) -> ()", "g(Tensor self) -> ()"},
			[]string{"k.go:8:6: f_a and f.a (k.go:6:6) would both be FA in Go; rename the overload of one of them"},
		},
		{
			"too few parameters", "//opassert:kernel f\nfunc F(*Tensor) {}",
			[]string{"f(Tensor self, int dim) -> ()"},
			[]string{"k.go:6:6: kernel F takes 1 parameter; the schema has 2 arguments: f(Tensor self, int dim) -> ()"},
		},
		{
			"too many parameters", "//opassert:kernel f\nfunc F(*Tensor, int) {}",
			[]string{"f(Tensor self) -> ()"},
			[]string{"k.go:6:6: kernel F takes 2 parameters; the schema has 1 argument: f(Tensor self) -> ()"},
		},
		{
			"results", "//opassert:kernel f\nfunc F(*Tensor) int { return 0 }\n//opassert:kernel g\nfunc G(*Tensor) int { return 0 }",
			[]string{"f(Tensor self) -> ()", "g(Tensor self) -> Tensor"},
			[]string{
				"k.go:6:6: kernel F returns 1 result; the schema has 0 returns: f(Tensor self) -> ()",
				"k.go:8:6: kernel G for g: result 1 is int; the schema says Tensor, which wants *Tensor",
			},
		},
		{
			"a parameter", "//opassert:kernel f\nfunc F(self *Tensor, dim *Tensor) {}",
			[]string{"f(Tensor self, int? dim) -> ()"},
			[]string{"k.go:6:6: kernel F for f: parameter 2 (dim) is *Tensor; the schema says int? dim, which wants *int64 (nil for none)"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, bound(t, tensorType+tt.decls, "", tt.schemas...)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTensorType(t *testing.T) {
	const f = "//opassert:kernel f\nfunc F(a, b *Tensor, c *Blind) {}\n//opassert:kernel g\nfunc G(*Tensor) {}\n"
	const blind = "type Blind struct{}\n"
	schemas := []string{"f(Tensor a, Tensor b, Tensor? c) -> ()", "g(Tensor a) -> ()"}
	wrongC := "kernel F for f: parameter 3 (c) is *Blind; the schema says Tensor? c, which wants *Tensor"
	no := func(typ string) string {
		return "tensor type " + typ + " has no method Observe(*asserts.Observation, asserts.Level), which the checks look through; " +
			"implement it, or name another type with -tensor"
	}
	tests := []struct {
		name, decls, tensor string
		schemas             []string
		want                string
	}{
		{"the most frequent", tensorType + blind + f, "", schemas, wrongC},
		{"named", tensorType + blind + f, "*example.com/kernels.Tensor", schemas, wrongC},
		{
			"named, the rare one", tensorType + blind + f, "*example.com/kernels.Blind",
			[]string{"f(Tensor a, Tensor b, Tensor c) -> ()", "g(Tensor a) -> ()"}, no("*example.com/kernels.Blind"),
		},
		{
			"named, not there", tensorType + blind + f, "x.Y",
			[]string{"f(Tensor a, Tensor b, Tensor c) -> ()", "g(Tensor a) -> ()"},
			"no kernel takes a Tensor as x.Y; the signatures have *example.com/kernels.Blind, *example.com/kernels.Tensor",
		},
		{
			"optional ones alone", tensorType + "//opassert:kernel f\nfunc F(*Tensor) {}", "", []string{"f(Tensor? a) -> ()"},
			"no kernel takes or returns a plain Tensor or a list of them, so the Go type of tensors is unknown: use one of them in a kernel",
		},
		{
			"a list that is none", tensorType + "//opassert:kernel f\nfunc F(*Tensor) {}", "", []string{"f(Tensor[] a) -> ()"},
			"no kernel takes or returns a plain Tensor or a list of them, so the Go type of tensors is unknown: use one of them in a kernel",
		},
		{"lists alone", blind + "//opassert:kernel f\nfunc F([]Blind) {}", "", []string{"f(Tensor[] a) -> ()"}, no("example.com/kernels.Blind")},
		{"returns alone", blind + "//opassert:kernel f\nfunc F() *Blind { return nil }", "", []string{"f() -> Tensor"}, no("*example.com/kernels.Blind")},
		{"returned lists", blind + "//opassert:kernel f\nfunc F() []*Blind { return nil }", "", []string{"f() -> Tensor[]"}, no("*example.com/kernels.Blind")},
		{
			"lists of something else", tensorType + "//opassert:kernel f\nfunc F([]int64, Tensor) {}", "", []string{"f(int[] a, Tensor b) -> ()"},
			no("example.com/kernels.Tensor"),
		},
		{"blind", blind + "//opassert:kernel f\nfunc F(Blind) {}", "", []string{"f(Tensor a) -> ()"}, no("example.com/kernels.Blind")},
		{
			"a field", "type T struct { Observe func(*asserts.Observation, asserts.Level) }\n//opassert:kernel f\nfunc F(T) {}", "",
			[]string{"f(Tensor a) -> ()"}, no("example.com/kernels.T"),
		},
	}
	for _, signature := range []string{
		"(*asserts.Observation)", "(*asserts.Observation, asserts.Level, int)", "(*asserts.Observation, asserts.Level) int",
		"(asserts.Observation, asserts.Level)", "(*asserts.Observation, int)", "(int, asserts.Level)",
	} {
		tests = append(tests, struct {
			name, decls, tensor string
			schemas             []string
			want                string
		}{
			"Observe" + signature,
			"type T struct{}\nfunc (T) Observe" + signature + " { panic(0) }\nvar _ asserts.Level\n//opassert:kernel f\nfunc F(T) {}", "",
			[]string{"f(Tensor a) -> ()"}, no("example.com/kernels.T"),
		})
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := bound(t, tt.decls, tt.tensor, tt.schemas...)
			if len(got) != 1 || !strings.HasSuffix(got[0], ": "+tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestMarks(t *testing.T) {
	one := "want one op behind the mark: //opassert:kernel add.Tensor"
	tests := []struct{ name, decls, want string }{
		{"no mark", "// F is //opassert:kernel nothing.\nfunc F() {}\nfunc G() {}\nvar x int", ""},
		{"among others", "// F is a kernel.\n//\n//opassert:kernel f\n//go:noinline\nfunc F() {}", "f"},
		{"one kernel for two ops", "//opassert:kernel f\n//opassert:kernel g\nfunc F() {}", "f g"},
		{"no op", "//opassert:kernel\nfunc F() {}", "k.go:2:1: " + one},
		{"a blank op", "//opassert:kernel \t\nfunc F() {}", "k.go:2:1: " + one},
		{"two ops in a mark", "//opassert:kernel f g\nfunc F() {}", "k.go:2:1: " + one},
		{"two ops with a tab", "//opassert:kernel f\tg\nfunc F() {}", "k.go:2:1: " + one},
		{"no space", "//opassert:kernelf\nfunc F() {}", "k.go:2:1: " + one},
		{"not exported", "//opassert:kernel f\nfunc f() {}", "k.go:3:6: kernel f for f is not exported; it is called from another package, so export it with a capital letter"},
		{"generic", "//opassert:kernel f\nfunc F[T any]() {}", "k.go:3:6: kernel F for f has type parameters; write one kernel for each type"},
		{"generic receiver", "type D[T any] struct{}\n//opassert:kernel f\nfunc (D[T]) F() {}", "k.go:4:13: kernel F for f has type parameters; write one kernel for each type"},
		{"hidden receiver", "type d struct{}\n//opassert:kernel f\nfunc (d) F() {}", "k.go:4:10: kernel F for f is a method of a type that is not exported; which no other package can name"},
		{"pointer to a hidden one", "type d struct{}\n//opassert:kernel f\nfunc (*d) F() {}", "k.go:4:11: kernel F for f is a method of a type that is not exported; which no other package can name"},
		{"receiver", "type D struct{}\n//opassert:kernel f\nfunc (*D) F() {}", "f"},
		{"receiver by another name", "type D = E\ntype E struct{}\n//opassert:kernel f\nfunc (*D) F() {}", "f"},
		{"receiver by another name of a pointer", "type D = *E\ntype E struct{}\n//opassert:kernel f\nfunc (D) F() {}", "f"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			pkg, err := find(t, tt.decls)
			got := complaints(err)
			for _, k := range pkg.Kernels {
				got = append(got, k.Op)
			}
			if diff := cmp.Diff(tt.want, strings.Join(got, " ")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestUnexported(t *testing.T) {
	const decls = tensorType + "type hidden struct{}\ntype Open = hidden\ntype alias = Tensor\ntype Box[T any] struct{}\ntype Pair[A, B any] = Box[A]\n//opassert:kernel f\n"
	tests := []struct{ typ, bad string }{
		{"*Tensor", ""},
		{"hidden", "hidden"},
		{"*hidden", "hidden"},
		{"[]hidden", "hidden"},
		{"[2]hidden", "hidden"},
		{"chan hidden", "hidden"},
		{"map[hidden]int", "hidden"},
		{"map[int]hidden", "hidden"},
		{"map[int]Tensor", ""},
		{"func(hidden)", "hidden"},
		{"func() hidden", "hidden"},
		{"func(int) *Tensor", ""},
		{"Box[hidden]", "hidden"},
		{"Box[int]", ""},
		{"Open", ""},
		{"alias", "alias"},
		{"Pair[int, hidden]", "hidden"},
		{"struct{}", "struct{}"},
		{"interface{ M() }", "interface{M()}"},
		{"error", ""},
		{"any", ""},
		{"other.Device", ""},
		{"other.Set[hidden]", "hidden"},
	}
	for _, tt := range tests {
		for _, signature := range []string{"(self *Tensor, x %s) int { panic(0) }", "(self *Tensor, x int) (_ %s) { panic(0) }"} {
			got := strings.Join(bound(t, decls+"func F"+fmt.Sprintf(signature, tt.typ), "", "f(Tensor self, Device x) -> Device"), "\n")
			const uses = "kernel F for f uses "
			if tt.bad == "" && strings.Contains(got, uses) {
				t.Errorf("%s: %s", tt.typ, got)
			}
			want := uses + tt.bad + ", which the wrappers' package can't name; declare an exported type for it"
			if tt.bad != "" && !strings.Contains(got, want) {
				t.Errorf("%s: got %q, want %q in it", tt.typ, got, want)
			}
		}
	}
}
