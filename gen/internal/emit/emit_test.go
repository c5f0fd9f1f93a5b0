package emit_test

import (
	"bytes"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/opassert/opassert/allowlist"
	"github.com/opassert/opassert/gen/internal/bind"
	"github.com/opassert/opassert/gen/internal/emit"
	"github.com/opassert/opassert/gen/internal/typed"
	"github.com/opassert/opassert/gen/plan"
	"github.com/opassert/opassert/internal/dev/golden"
	"github.com/opassert/opassert/internal/dev/must"
	"github.com/opassert/opassert/schema"
)

// library has the packages that kernels import besides the real ones.
var library = map[string]string{
	"example.com/lib/other":   "package other; type Device struct{}; type Pair[A, B any] struct{}; type Name = Device",
	"example.com/odd-name.v2": "package odd; type Stream struct{}",
	"example.com/twin/other":  "package other; type Device struct{}",
}

// kernels reads a file of kernels.
func kernels(t *testing.T, path string) *bind.Package {
	t.Helper()
	source := must.Get(os.ReadFile(path))(t)
	var imported []*types.Package
	for path, source := range library {
		pkg := must.Get(typeCheck(path, source))(t)
		imported = append(imported, pkg.Types)
	}
	return must.Get(typeCheck("example.com/lib/kernels", string(source), imported...))(t)
}

// typeCheck makes a package of a source file, whose kernels each follow their mark.
func typeCheck(path, source string, imported ...*types.Package) (*bind.Package, error) {
	real, err := realPackages()
	if err != nil {
		return nil, err
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, path, source, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	info := &types.Info{Defs: map[*ast.Ident]types.Object{}}
	config := types.Config{Importer: slices.Concat(real, imported)}
	checked, err := config.Check(path, fset, []*ast.File{file}, info)
	if err != nil {
		return nil, err
	}
	pkg := &bind.Package{Path: checked.Path(), Name: checked.Name(), Types: checked}
	for _, decl := range file.Decls {
		fn, ok := decl.(*ast.FuncDecl)
		if !ok || fn.Doc == nil {
			continue
		}
		op := strings.TrimPrefix(fn.Doc.List[len(fn.Doc.List)-1].Text, "//opassert:kernel ")
		pkg.Kernels = append(pkg.Kernels, bind.Kernel{Op: op, Pos: fset.Position(fn.Pos()), Func: info.Defs[fn.Name].(*types.Func), Doc: fn.Doc.Text()})
	}
	return pkg, nil
}

func loadOps(t *testing.T, path string) []*schema.Op {
	t.Helper()
	file := must.Get(schema.Load(path, ""))(t)
	return file.Ops
}

func newPlanner(t *testing.T, ops []*schema.Op) *plan.Planner {
	t.Helper()
	waived := must.Get(allowlist.Load("testdata/allow.yaml", ops))(t)
	return must.Get(plan.NewPlanner("full", []*allowlist.List{waived}, allowlist.Where{}))(t)
}

// formattedGolden compares text with a golden file, and with gofmt's output.
func formattedGolden(t *testing.T, name string, text []byte) {
	t.Helper()
	formatted := must.Get(format.Source(text))(t)
	if !bytes.Equal(text, formatted) {
		t.Errorf("not as gofmt writes it: %s", firstDifference(text, formatted))
	}
	golden.Compare(t, name, string(text))
}

// Every form of kernel, as text.
func TestEmit(t *testing.T) {
	ops := loadOps(t, "testdata/ops.yaml")
	pkg := kernels(t, "testdata/kernels.go.txt")
	wrappers, unbound, err := bind.Bind(pkg, ops, newPlanner(t, ops), "")
	if err != nil {
		t.Fatal(err)
	}
	if len(unbound.Ops)+len(unbound.Kernels) > 0 {
		t.Fatalf("without a partner: %+v", unbound)
	}
	text := must.Get(emit.Wrappers(emit.Header{Package: "ops"}, wrappers))(t)
	formattedGolden(t, "wrappers.golden", text)
	formattedGolden(t, "release.golden", must.Get(emit.Release(emit.Header{Package: "ops"}, wrappers))(t))

	always := must.Get(emit.Wrappers(emit.Header{Package: "ops", Always: true}, wrappers[:1]))(t)
	formattedGolden(t, "always.golden", always)
}

// Every form of typed function.
func TestTyped(t *testing.T) {
	ops := loadOps(t, "testdata/typed.yaml")
	funcs, skipped, err := typed.Funcs(ops, newPlanner(t, ops))
	if err != nil || len(skipped) > 0 {
		t.Fatalf("skipped: %+v, %v", skipped, err)
	}
	text := must.Get(emit.Typed(emit.Header{Package: "ops"}, funcs))(t)
	formattedGolden(t, "typed.golden", text)
}

func TestBadPackageName(t *testing.T) {
	if _, err := emit.Wrappers(emit.Header{Package: "1"}, nil); err == nil || !strings.HasPrefix(err.Error(), "emit: ") {
		t.Errorf("error %v, want one of emit", err)
	}
}

// A type that bind should have refused is a mistake in this program.
func TestTypeLiteral(t *testing.T) {
	defer func() {
		if text, ok := recover().(string); !ok || !strings.HasPrefix(text, "emit: ") {
			t.Errorf("panic %v, want one of emit", text)
		}
	}()
	pkg := types.NewPackage("example.com/lib/kernels", "kernels")
	fn := types.NewFunc(token.NoPos, pkg, "F", types.NewSignatureType(nil, nil, nil, nil, nil, false))
	op := loadOps(t, filepath.Join("testdata", "typed.yaml"))[0]
	literal := bind.Param{Name: "x", Type: types.NewStruct(nil, nil)}
	emit.Wrappers(emit.Header{Package: "ops"}, []bind.Wrapper{{Name: "F", Kernel: bind.Kernel{Func: fn}, Plan: plan.Plan{Op: op}, Params: []bind.Param{literal}}})
}
