package emit_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"golang.org/x/tools/go/packages"

	"github.com/opassert/opassert/allowlist"
	"github.com/opassert/opassert/gen/internal/bind"
	"github.com/opassert/opassert/gen/internal/emit"
	"github.com/opassert/opassert/gen/internal/typed"
	"github.com/opassert/opassert/gen/plan"
	"github.com/opassert/opassert/internal/dev/must"
	"github.com/opassert/opassert/schema"
)

// Schema files and allowlists may be foreign: whatever they contain, the Go file has only the
// intended declarations, and compiles.
func FuzzHostileSources(f *testing.F) {
	for _, signature := range hostileSchemas() {
		f.Add(signature, signature, signature)
	}
	f.Fuzz(func(t *testing.T, signature, reason, source string) { holdSources(t, signature, reason, source) })
}

// holdSources checks the typed functions and the wrappers of an op, and returns how many of these two there are.
func holdSources(t *testing.T, signature, reason, source string) (forms int) {
	t.Helper()
	quoted := must.Get(json.Marshal(signature))(t)
	file, err := schema.Parse("ops.yaml", []byte("- func: "+string(quoted)+"\n"), nil)
	if err != nil || len(file.Ops) > 1 {
		return 0
	}
	op := file.Ops[0]
	planner := planner(t, op, reason)
	head := emit.Header{Package: "ops", Sources: []string{"ops.yaml", source}}

	funcs, skipped, err := typed.Funcs(file.Ops, planner)
	if err != nil {
		t.Fatal(err)
	}
	if len(skipped) == 0 {
		text, err := emit.Typed(head, funcs)
		if err != nil {
			t.Fatalf("%q: %v", op, err)
		}
		hold(t, text, op)
		forms++
	}

	named := func(int) string { return plan.GoName(op.Func.Name) }
	pkg, err := typeCheck("example.com/fake/kernels", fakeKernels(file.Ops, named))
	if err != nil {
		return forms // a type that the fake library does not have
	}
	wrappers, _, err := bind.Bind(pkg, file.Ops, planner, "*example.com/fake/kernels.Tensor")
	if err != nil {
		return forms // no tensor in the signature
	}
	text, err := emit.Wrappers(head, wrappers)
	if err != nil {
		t.Fatalf("%q: %v", op, err)
	}
	hold(t, text, op, pkg.Types)
	return forms + 1
}

// hostileSchemas returns schemas with text of Go in a default, and with names that Go has or that generated files use.
func hostileSchemas() (signatures []string) {
	long := strings.Repeat("x", 1<<16)
	for _, text := range []string{
		"\n\nfunc init(){println(\"PWNED\")}\n\n//", "*/ func init() {} /*", "\r\nimport \"C\"\r\n//", "\u2028func init() {}\u2029", "\n//go:linkname a b\n",
		"\n//go:build ignore\n\npackage evil\n", "\n//go:generate rm -rf .\n", "\n//go:embed *\nvar files string\n", "\n//line a.go:1\n", "\n//export Out\n",
		"\n// +build ignore\n\n", "`+panic(0)+`", "\"+panic(0)+\"", "{{.}} %s%d%!", "\x00\x1b[31m\u202e\u200b", "日本語 é", "DO NOT EDIT.", long,
	} {
		signatures = append(signatures, "f.x(Tensor self, str s='"+strings.ReplaceAll(text, " ", "\t")+"') -> Tensor") // a schema has no spaces there
	}
	names := []string{"init", "main", "nil", "any", "error", "string", "append", "true", "asserts", "libtorch", "context", "enabled", "err", "kernels", long}
	for keyword := token.BREAK; keyword <= token.VAR; keyword++ {
		names = append(names, keyword.String())
	}
	for _, name := range names {
		signatures = append(signatures, name+"."+name+"(Tensor self, int? "+name+"=None) -> (Tensor "+name+"2, Tensor "+name+"_)",
			name+"_(Tensor(a!) self, Tensor[] "+name+", Tensor "+name+"2) -> Tensor(a!)")
	}
	return append(signatures, "g(Tensor(a!)[] self, Tensor?[] type, int? _2=None) -> ()",
		"t.out(Tensor self, Tensor asserts, *, Tensor(a!) len, Tensor(b!) libtorch) -> (Tensor(a!) enabled, Tensor(b!) err)", "f(Tensor _) -> Tensor")
}

// Each is written in both forms, and compiles: none is passed over.
func TestHostileSources(t *testing.T) {
	for _, signature := range hostileSchemas() {
		if forms := holdSources(t, signature, signature, signature); forms != 2 {
			t.Errorf("%.80q: %d of 2 forms are written", signature, forms)
		}
	}
}

// planner waives a check of the op for a reason.
func planner(t *testing.T, op *schema.Op, reason string) *plan.Planner {
	t.Helper()
	quoted := must.Get(json.Marshal(reason))(t)
	list, err := allowlist.Parse("allow.yaml", []byte("- op: "+op.Name()+"\n  checks: [OA001, OA003]\n  reason: "+string(quoted)+"\n"), nil)
	lists := []*allowlist.List{list}
	if err != nil { // such as for an empty reason
		lists = nil
	}
	return must.Get(plan.NewPlanner("full", lists, allowlist.Where{}))(t)
}

// realPackages are the packages that every generated file may import.
var realPackages = sync.OnceValues(func() (importer, error) {
	config := &packages.Config{Mode: packages.NeedName | packages.NeedTypes | packages.NeedImports}
	loaded, err := packages.Load(config, "context", "github.com/opassert/opassert/asserts", "github.com/opassert/opassert/asserts/libtorch")
	var known importer
	for _, p := range loaded {
		known = append(known, p.Types)
	}
	return known, err
})

// An importer has packages that are already type-checked.
type importer []*types.Package

func (im importer) Import(path string) (*types.Package, error) {
	i := slices.IndexFunc(im, func(p *types.Package) bool { return p.Path() == path })
	if i < 0 {
		return nil, fmt.Errorf("no package %s", path)
	}
	return im[i], nil
}

func hold(t *testing.T, text []byte, op *schema.Op, imported ...*types.Package) {
	t.Helper()
	for _, problem := range problems(text, op, imported...) {
		t.Errorf("%s\n%s", problem, text)
	}
}

// problems returns what a generated file has besides a function and a table for the op, and why it
// doesn't compile with the packages that it may import.
func problems(text []byte, op *schema.Op, imported ...*types.Package) []string {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "opassert_gen.go", text, parser.ParseComments)
	if err != nil {
		return []string{err.Error()}
	}
	var found []string
	report := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }
	if formatted, err := format.Source(text); err != nil || !bytes.Equal(text, formatted) {
		report("not as gofmt writes it: %s", firstDifference(text, formatted))
	}
	if !ast.IsGenerated(file) {
		report("Go's tools don't take the header for a generated file's")
	}
	name := plan.GoName(op.Func.Name)
	want := []string{"_", "enabled", name, "op" + name}
	if len(imported) > 0 {
		want = append([]string{"_"}, name, "op"+name, plan.NewNameSet(name).Pick("Kernels", "")) // the list of a package with kernels
		if strings.Contains(op.Func.String(), "Tensor[]") || strings.Contains(op.Func.String(), "Tensor(a!)[]") {
			want = slices.Insert(want, 1, "observeList")
		}
	}
	if got := declared(file); !slices.Equal(got, want) {
		report("declares %q, want %q", got, want)
	}
	for _, group := range file.Comments {
		for _, c := range group.List {
			constraint := len(imported) > 0 && c.Text == "//go:build opassert" && fset.Position(c.Pos()).Line == 3
			if !harmless(c.Text) && !constraint {
				report("%v: comment %q", fset.Position(c.Pos()), c.Text)
			}
		}
	}
	if !hasString(file, op.Func.String()) {
		report("no string is the schema %q", op.Func)
	}
	known, err := realPackages()
	if err != nil {
		return []string{err.Error()}
	}
	config := types.Config{Importer: slices.Concat(known, imported)}
	if _, err := config.Check("example.com/fake/ops", fset, []*ast.File{file}, nil); err != nil {
		report("%v", err)
	}
	return found
}

// declared lists what a file declares.
func declared(file *ast.File) []string {
	var names []string
	for _, decl := range file.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			names = append(names, decl.Name.Name)
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				if value, ok := spec.(*ast.ValueSpec); ok {
					names = append(names, value.Names[0].Name)
				}
			}
		}
	}
	return names
}

// harmless reports whether a comment is one printable line and not a directive.
func harmless(comment string) bool {
	text, isLine := strings.CutPrefix(comment, "//")
	if !isLine || text != "" && text[0] != ' ' && text[0] != '\t' || strings.HasPrefix(text, " +build") {
		return false
	}
	return !strings.ContainsFunc(strings.TrimPrefix(text, "\t"), func(r rune) bool { return !strconv.IsPrint(r) })
}

// hasString reports whether a string of the file has the value.
func hasString(file *ast.File, value string) bool {
	found := false
	ast.Inspect(file, func(n ast.Node) bool {
		e, ok := n.(ast.Expr)
		found = found || ok && literal(e) == value
		return true
	})
	return found
}

// literal returns the value of a string literal, or of a sum of them.
func literal(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, _ := strconv.Unquote(e.Value) // "" if not a string
		return text
	case *ast.BinaryExpr:
		return literal(e.X) + literal(e.Y)
	}
	return ""
}

// The check of generated files can fail.
func TestProblems(t *testing.T) {
	op := loadOps(t, filepath.Join("testdata", "typed.yaml"))[0]
	funcs, _, _ := typed.Funcs([]*schema.Op{op}, newPlanner(t, nil))
	text := must.Get(emit.Typed(emit.Header{Package: "ops"}, funcs))(t)
	if found := problems(text, op); len(found) > 0 {
		t.Fatal(found)
	}
	for _, tt := range []struct{ name, old, new string }{
		{"an init", "func ", "func init() {}\n\nfunc "},
		{"a directive", "func ", "//go:noinline\nfunc "},
		{"a block comment", "func ", "/* x */\nfunc "},
		{"an import", "import (", "import (\n\t_ \"os/exec\""},
		{"another schema", "\"add.Tensor(", "\"sub.Tensor("},
		{"an unseen letter", "// AddTensor", "// \u202eAddTensor"},
		{"a wrong type", "asserts.Op{", "asserts.Check{"},
		{"no header", "DO NOT EDIT.", "DO EDIT."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bad := strings.Replace(string(text), tt.old, tt.new, 1)
			if bad == string(text) || len(problems([]byte(bad), op)) == 0 {
				t.Errorf("passes:\n%s", bad)
			}
		})
	}
}
