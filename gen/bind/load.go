package bind

import (
	"fmt"
	"go/ast"
	"go/scanner"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/packages"
)

// A Package is a loaded Go package with the kernels that it marks.
type Package struct {
	Path    string // import path
	Name    string
	Types   *types.Package
	Kernels []Kernel
}

// A Kernel is a marked function or method.
type Kernel struct {
	Op   string // as the mark names it
	Pos  token.Position
	Func *types.Func
}

// mark is the directive that makes a function a kernel.
const mark = "//opassert:kernel"

// Load reads and type-checks the package in dir. Errors of the Go source come
// with their positions.
func Load(dir string) (*Package, error) {
	cfg := &packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports |
			packages.NeedTypes | packages.NeedSyntax | packages.NeedTypesInfo,
		Dir: dir,
	}
	pkgs, err := packages.Load(cfg, ".")
	if err != nil {
		return nil, fmt.Errorf("load kernels from %s: %w", dir, err)
	}
	if err := loadErrors(pkgs); err != nil {
		return nil, err
	}
	if len(pkgs) == 0 {
		return nil, fmt.Errorf("load kernels from %s: the go command finds no package there; go build in that folder says why", dir)
	}
	p := pkgs[0]
	pkg := &Package{Path: p.PkgPath, Name: p.Name, Types: p.Types}
	pkg.Kernels, err = findKernels(p)
	return pkg, err
}

// loadErrors gives the first error of each line. What the go command says of a
// whole package tells the same again, unless nothing else does.
func loadErrors(pkgs []*packages.Package) error {
	var errs, whole scanner.ErrorList
	packages.Visit(pkgs, nil, func(p *packages.Package) {
		for _, e := range p.Errors {
			if strings.HasPrefix(e.Msg, "# ") {
				whole.Add(parsePosition(e.Pos), e.Msg)
			} else {
				errs.Add(parsePosition(e.Pos), e.Msg)
			}
		}
	})
	if len(errs) == 0 {
		return whole.Err()
	}
	errs.Sort()
	return slices.CompactFunc(errs, func(a, b *scanner.Error) bool {
		return a.Pos.Filename == b.Pos.Filename && a.Pos.Line == b.Pos.Line
	})
}

// parsePosition reads the "file:line:col" of a packages.Error.
func parsePosition(text string) token.Position {
	var pos token.Position
	parts := strings.Split(text, ":")
	n := len(parts)
	if n >= 3 {
		if col, err := strconv.Atoi(parts[n-1]); err == nil {
			pos.Column = col
			pos.Line, _ = strconv.Atoi(parts[n-2])
			parts = parts[:n-2]
		}
	}
	pos.Filename = relative(strings.Join(parts, ":"))
	return pos
}

func findKernels(p *packages.Package) ([]Kernel, error) {
	var kernels []Kernel
	var errs scanner.ErrorList
	for _, file := range p.Syntax {
		for _, decl := range file.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok || fn.Doc == nil {
				continue
			}
			for _, c := range fn.Doc.List {
				rest, marked := strings.CutPrefix(c.Text, mark)
				if !marked {
					continue
				}
				pos := position(p.Fset, c.Pos())
				op := strings.TrimSpace(rest)
				if op == "" || strings.ContainsAny(op, " \t") || rest == op {
					errs.Add(pos, "want one op behind the mark: "+mark+" add.Tensor")
					continue
				}
				obj := p.TypesInfo.Defs[fn.Name].(*types.Func)
				if why := uncallable(obj); why != "" {
					errs.Add(position(p.Fset, fn.Name.Pos()), fmt.Sprintf("kernel %s for %s %s", fn.Name.Name, op, why))
					continue
				}
				kernels = append(kernels, Kernel{Op: op, Pos: position(p.Fset, fn.Name.Pos()), Func: obj})
			}
		}
	}
	if len(errs) > 0 {
		errs.Sort()
		return nil, errs
	}
	return kernels, nil
}

// uncallable says why generated code in another package can't call fn.
func uncallable(fn *types.Func) string {
	sig := fn.Signature()
	switch recv := sig.Recv(); {
	case !fn.Exported():
		return "is not exported; the wrappers live in another package, so give it a capital letter"
	case sig.TypeParams().Len() > 0 || sig.RecvTypeParams().Len() > 0:
		return "has type parameters; write one kernel for each type"
	case recv != nil && !exportedType(recv.Type()):
		return "is a method of a type that is not exported; the wrappers take the receiver as a parameter"
	}
	return ""
}

// exportedType is for the type of a receiver.
func exportedType(t types.Type) bool {
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	return types.Unalias(t).(*types.Named).Obj().Exported()
}

func position(fset *token.FileSet, pos token.Pos) token.Position {
	p := fset.Position(pos)
	p.Filename = relative(p.Filename)
	return p
}

// relative shortens a path to what the user would type from here.
func relative(path string) string {
	wd, _ := os.Getwd() // nothing is relative to no folder
	rel, err := filepath.Rel(wd, path)
	if err != nil || strings.HasPrefix(rel, ".."+string(filepath.Separator)+"..") {
		return path
	}
	return rel
}
