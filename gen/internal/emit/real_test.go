package emit_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/opassert/opassert/allowlist"
	"github.com/opassert/opassert/gen/internal/bind"
	"github.com/opassert/opassert/gen/internal/emit"
	"github.com/opassert/opassert/gen/internal/typed"
	"github.com/opassert/opassert/gen/plan"
	"github.com/opassert/opassert/internal/dev/must"
	"github.com/opassert/opassert/schema"
	"github.com/opassert/opassert/testdata/conformance"
)

// fakeTypes is a library with a Go type for every schema type and no functions.
const fakeTypes = `package kernels

import "github.com/opassert/opassert/asserts"

type Tensor struct{}

func (t *Tensor) Observe(*asserts.Observation, asserts.Level) {}

type (
	Scalar       interface{ IsScalar() }
	ScalarType   int8
	Device       struct{ Index int }
	Layout       int8
	MemoryFormat int8
	Generator    struct{}
	Storage      struct{}
	Stream       struct{}
	Dimname      string
	QScheme      int8
)
`

// goType returns the fake library's type for a schema type.
func goType(t schema.Type) string {
	switch t.Kind {
	case schema.Optional:
		if t.IsTensorLike() || t.Elem[0].Kind == schema.List || t.Elem[0].Name == "Scalar" {
			return goType(t.Elem[0])
		}
		return "*" + goType(t.Elem[0])
	case schema.List:
		return "[]" + goType(t.Elem[0])
	}
	switch t.Name {
	case "Tensor":
		return "*Tensor"
	case "int", "SymInt":
		return "int64"
	case "float":
		return "float64"
	case "str":
		return "string"
	case "bool":
		return "bool"
	case "Generator", "Storage":
		return "*" + t.Name
	}
	return t.Name
}

// fakeKernels writes a kernel with a name for every op. Parameter names are the schema's, including Go keywords
// and names that wrappers use.
func fakeKernels(ops []*schema.Op, name func(int) string) string {
	var b strings.Builder
	b.WriteString(fakeTypes)
	for i, op := range ops {
		fmt.Fprintf(&b, "\n//opassert:kernel %s\nfunc %s(", op.Name(), name(i))
		for _, a := range op.Func.Args {
			name := a.Name
			if token.IsKeyword(name) {
				name += "_"
			}
			fmt.Fprintf(&b, "%s %s, ", name, goType(a.Type))
		}
		b.WriteString(") (")
		for _, r := range op.Func.Returns {
			fmt.Fprintf(&b, "_ %s, ", goType(r.Type))
		}
		b.WriteString(") { panic(0) }\n")
	}
	return b.String()
}

// realOps returns every op of PyTorch 1.13.1.
func realOps(t testing.TB) []*schema.Op {
	table := must.Get(conformance.Load("1.13.1"))(t)
	file := must.Get(schema.Parse("native_functions.yaml", table.Source, nil))(t)
	return file.Ops
}

// fakeModule makes a module with kernels for the ops and loads it.
func fakeModule(t testing.TB, ops []*schema.Op) (string, *bind.Package) {
	root := must.Get(filepath.Abs("../../.."))(t)
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "go.mod"), "module example.com/fake\n\ngo 1.26.0\n\n"+
		"require github.com/opassert/opassert v0.0.0\nreplace github.com/opassert/opassert => "+root+"\n")
	numbered := func(i int) string { return "K" + strconv.Itoa(i) }
	writeFile(t, filepath.Join(dir, "kernels", "kernels.go"), fakeKernels(ops, numbered))
	pkg := must.Get(bind.Load(filepath.Join(dir, "kernels")))(t)
	return dir, pkg
}

func writeFile(t testing.TB, path, text string) {
	t.Helper()
	must.Do(t, os.MkdirAll(filepath.Dir(path), 0o777))
	must.Do(t, os.WriteFile(path, []byte(text), 0o666))
}

func bound(t testing.TB, pkg *bind.Package, ops []*schema.Op) []bind.Wrapper {
	planner := must.Get(plan.NewPlanner("full", nil, allowlist.Where{}))(t)
	wrappers, unbound, err := bind.Bind(pkg, ops, planner, "")
	if err != nil {
		t.Fatal(err)
	}
	if len(unbound.Ops)+len(unbound.Kernels) > 0 {
		t.Fatalf("%d ops and %d kernels found no partner", len(unbound.Ops), len(unbound.Kernels))
	}
	return wrappers
}

func generate(t testing.TB, pkg *bind.Package, ops []*schema.Op) []byte {
	return must.Get(emit.Wrappers(emit.Header{Package: "ops"}, bound(t, pkg, ops)))(t)
}

// Wrappers for all of PyTorch are formatted, pass go vet in both builds, and there is one for each
// op.
func TestWholeOfPyTorch(t *testing.T) {
	ops := realOps(t)
	dir, pkg := fakeModule(t, ops)
	text := generate(t, pkg, ops)

	formatted := must.Get(format.Source(text))(t)
	if !bytes.Equal(text, formatted) {
		t.Errorf("not as gofmt writes it: %s", firstDifference(text, formatted))
	}
	file := must.Get(parser.ParseFile(token.NewFileSet(), "", text, parser.ParseComments))(t)
	if !ast.IsGenerated(file) {
		t.Error("Go's tools don't take the header for a generated file's")
	}
	wrappers := 0
	for _, decl := range file.Decls {
		if fn, ok := decl.(*ast.FuncDecl); ok && fn.Name.IsExported() {
			wrappers++
		}
	}
	if wrappers != 2952 {
		t.Errorf("%d wrappers for 2952 ops", wrappers)
	}
	if again := generate(t, pkg, ops); !bytes.Equal(text, again) {
		t.Error("a second run makes other text")
	}

	if os.Getenv("OPASSERT_LONG") == "" {
		return // go vet takes most of the time; .ci/run runs it
	}
	writeFile(t, filepath.Join(dir, "ops", "ops.go"), string(text))
	bare := must.Get(emit.Release(emit.Header{Package: "ops"}, bound(t, pkg, ops)))(t)
	writeFile(t, filepath.Join(dir, "ops", "release.go"), string(bare))
	for _, tags := range []string{"", "opassert"} {
		cmd := exec.Command("go", "vet", "-mod=mod", "-tags="+tags, "./ops")
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("go vet -tags=%s: %v\n%.2000s", tags, err, out)
		}
	}
}

// Typed functions for all of PyTorch are formatted, also with the plan of a preset.
func TestWholeOfPyTorchTyped(t *testing.T) {
	ops := realOps(t)
	for _, preset := range []string{"full", "pytorch-2.6"} {
		planner := must.Get(plan.NewPlanner(preset, nil, allowlist.Where{}))(t)
		funcs, skipped, err := typed.Funcs(ops, planner)
		if err != nil || len(skipped) > 0 {
			t.Fatalf("skipped %v, %v", skipped, err)
		}
		text := must.Get(emit.Typed(emit.Header{Package: "ops"}, funcs))(t)
		formatted := must.Get(format.Source(text))(t)
		if !bytes.Equal(text, formatted) {
			t.Errorf("%s: not as gofmt writes it: %s", preset, firstDifference(text, formatted))
		}
		if lines := bytes.Count(text, []byte("\n")); preset == "full" && lines >= 60_000 {
			t.Errorf("%d lines", lines)
		}
	}
}

func firstDifference(got, want []byte) string {
	g, w := strings.Split(string(got), "\n"), strings.Split(string(want), "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			return fmt.Sprintf("line %d is %q, gofmt has %q", i+1, g[i], w[i])
		}
	}
	return "one is longer"
}

// BenchmarkTyped goes from parsing to formatted text of the typed functions.
func BenchmarkTyped(b *testing.B) {
	table := must.Get(conformance.Load("1.13.1"))(b)
	planner := must.Get(plan.NewPlanner("full", nil, allowlist.Where{}))(b)
	b.ReportAllocs()
	for b.Loop() {
		file := must.Get(schema.Parse("native_functions.yaml", table.Source, nil))(b)
		funcs, _, err := typed.Funcs(file.Ops, planner)
		if err != nil {
			b.Fatal(err)
		}
		text := must.Get(emit.Typed(emit.Header{Package: "ops"}, funcs))(b)
		b.SetBytes(int64(len(text)))
	}
}

// BenchmarkGenerate goes from parsing to formatted text, with the kernels' package loaded.
func BenchmarkGenerate(b *testing.B) {
	table := must.Get(conformance.Load("1.13.1"))(b)
	_, pkg := fakeModule(b, realOps(b))
	b.ReportAllocs()
	for b.Loop() {
		file := must.Get(schema.Parse("native_functions.yaml", table.Source, nil))(b)
		b.SetBytes(int64(len(generate(b, pkg, file.Ops))))
	}
}

// BenchmarkLoad loads the kernels' package.
func BenchmarkLoad(b *testing.B) {
	dir, _ := fakeModule(b, realOps(b))
	b.ReportAllocs()
	for b.Loop() {
		must.Get(bind.Load(filepath.Join(dir, "kernels")))(b)
	}
}
