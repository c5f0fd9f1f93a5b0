package bind

import (
	"fmt"
	"go/scanner"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/packages"
)

// A Package is a loaded Go package with the kernels that it marks.
type Package struct {
	Path     string // import path
	Name     string
	Types    *types.Package
	Kernels  []Kernel
	Observer *Observer         // nil if the tensor type has a method Observe
	Unread   scanner.ErrorList // comments that look like marks but are not read, with the reasons

	fset *token.FileSet
}

// A Kernel is a marked function or method.
type Kernel struct {
	Op    string         // as in the mark
	Names []Name         // in the mark
	As    string         // as in the mark
	Mark  token.Position // of the mark
	Pos   token.Position // of the function's name
	Func  *types.Func
	Doc   string // of the function, without marks
	Allow []Allow
}

// loadMode is what reading marks and signatures needs.
const loadMode = packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports |
	packages.NeedTypes | packages.NeedSyntax | packages.NeedTypesInfo

// Load reads and type-checks the package in dir, in the debug build. Errors of the Go source come with their positions.
func Load(dir string) (*Package, error) {
	pkgs, err := packages.Load(&packages.Config{Mode: loadMode, Dir: dir, BuildFlags: []string{DebugBuild()}}, ".")
	if err != nil {
		return nil, fmt.Errorf("load kernels from %s: %w", dir, err)
	}
	if err := loadErrors(pkgs); err != nil {
		return nil, err
	}
	if len(pkgs) == 0 {
		return nil, fmt.Errorf("load kernels from %s: the go command finds no package there; "+
			"go build in that folder tells why", dir)
	}
	p := pkgs[0]
	if p.Name == "main" {
		return nil, fmt.Errorf("load kernels from %s: it is package main, which the wrappers can't import; "+
			"move the kernels to a package of their own", dir)
	}
	pkg := &Package{Path: p.PkgPath, Name: p.Name, Types: p.Types}
	if err := pkg.findKernels(p); err != nil {
		return nil, err
	}
	if err := pkg.findObserver(p); err != nil {
		return nil, err
	}
	return pkg, pkg.findUnread(p)
}

// loadErrors returns the first error of each line. The go command's errors about a whole package
// repeat these, and count only if there are no others.
func loadErrors(pkgs []*packages.Package) error {
	var errs, whole, unloaded scanner.ErrorList
	packages.Visit(pkgs, nil, func(p *packages.Package) {
		for _, e := range p.Errors {
			switch {
			case strings.HasPrefix(e.Msg, "# "):
				whole.Add(parsePosition(e.Pos), e.Msg)
			case e.Kind == packages.ListError:
				unloaded.Add(parsePosition(e.Pos), e.Msg)
			default:
				errs.Add(parsePosition(e.Pos), e.Msg)
			}
		}
	})
	if len(unloaded) > 0 {
		errs = unloaded
	}
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
	m := place.FindStringSubmatch(text)
	line, _ := strconv.Atoi(m[2]) // 0 without one
	col, _ := strconv.Atoi(m[3])
	return token.Position{Filename: relative(m[1]), Line: line, Column: col}
}

var place = regexp.MustCompile(`^(.*?)(?::(\d*):(\d+))?$`)

// findKernels reads the marks of the package's own files.
func (pkg *Package) findKernels(p *packages.Package) error {
	pkg.fset = p.Fset
	var errs scanner.ErrorList
	for _, file := range p.Syntax {
		marks, unread := Marks(file)
		for _, m := range marks {
			fn := p.TypesInfo.Defs[m.Func.Name].(*types.Func)
			k := Kernel{Op: m.Op, Names: m.Names, As: m.As, Allow: m.Allows, Mark: position(p.Fset, m.Pos),
				Pos: position(p.Fset, m.Func.Name.Pos()), Func: fn, Doc: m.Func.Doc.Text()}
			if m.Wrong != nil {
				errs.Add(position(p.Fset, m.Wrong.Pos), m.Wrong.Why)
			} else if why := Uncallable(fn); why != "" {
				errs.Add(k.Pos, fmt.Sprintf("kernel %s for %s %s", fn.Name(), m.Op, why))
			} else {
				pkg.Kernels = append(pkg.Kernels, k)
			}
		}
		for _, u := range unread {
			errs.Add(position(p.Fset, u.Pos), misread+u.Why)
		}
	}
	errs.Sort()
	return errs.Err()
}

// wantMark describes the form of a mark.
const wantMark = "want one op after the mark: " + mark + " add.Tensor; " +
	"parameters in another order follow by name: dst=out, and the wrapper's name after as"

const misread = "this looks like a kernel's mark but is not read: "

// findUnread reports marks in the folder's other files.
func (pkg *Package) findUnread(p *packages.Package) error {
	entries, err := os.ReadDir(p.Dir)
	if err != nil { //mutate:equivalent false: the go command has just read the folder
		return fmt.Errorf("load kernels: %w", err)
	}
	for _, e := range entries {
		path, why := filepath.Join(p.Dir, e.Name()), ""
		switch {
		case strings.HasSuffix(path, "_test.go"):
			why = "a kernel can't be in a test file, which the wrappers' package can't import"
		case slices.Contains(p.IgnoredFiles, path):
			why = "this build leaves the file out"
		default:
			continue
		}
		for _, u := range unreadIn(p.Fset, path, why) {
			pkg.Unread.Add(position(p.Fset, u.Pos), misread+u.Why)
		}
	}
	pkg.Unread.Sort()
	return nil
}

// Uncallable returns the reason why generated code in another package can't call fn, or "".
func Uncallable(fn *types.Func) string {
	sig := fn.Signature()
	switch recv := sig.Recv(); {
	case !fn.Exported():
		return "is not exported; it is called from another package, so export it with a capital letter"
	case sig.TypeParams().Len() > 0 || sig.RecvTypeParams().Len() > 0:
		return "has type parameters; write one kernel for each type"
	case recv != nil && !pointee(recv.Type()).(*types.Named).Obj().Exported():
		return "is a method of a type that is not exported; which no other package can name"
	}
	return ""
}

// pointee returns the type that a type points to, or the type itself.
func pointee(t types.Type) types.Type {
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	return types.Unalias(t)
}

func position(fset *token.FileSet, pos token.Pos) token.Position {
	p := fset.Position(pos)
	p.Filename = relative(p.Filename)
	return p
}

// relative returns a path relative to the working folder, if possible.
func relative(path string) string {
	wd, _ := os.Getwd() // without one the path is returned
	rel, err := filepath.Rel(wd, path)
	if err != nil || strings.HasPrefix(rel, ".."+string(filepath.Separator)+"..") {
		return path
	}
	return rel
}
