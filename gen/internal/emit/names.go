package emit

import (
	"go/types"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/opassert/opassert/gen/internal/bind"
)

const (
	assertsPath  = "github.com/opassert/opassert/asserts"
	libtorchPath = assertsPath + "/libtorch"
)

// names are the names of a file's imports, and those that no import may have.
type names struct {
	imports map[string]string // by path
	taken   map[string]bool
}

func newNames() names {
	n := names{map[string]string{}, map[string]bool{"init": true, "enabled": true, "observe": true, "observed": true,
		"observeList": true, "Kernels": true}}
	for _, name := range types.Universe.Names() {
		n.taken[name] = true
	}
	return n
}

// qual returns a qualified name, and imports its package; a name without a package is Go's own.
// jennifer would name the imports of each part again.
func (n names) qual(pkg *types.Package, name string) *jen.Statement {
	if pkg == nil {
		return jen.Id(name)
	}
	return n.imported(pkg.Path(), pkg.Name(), name)
}

func (n names) asserts(name string) *jen.Statement { return n.imported(assertsPath, "asserts", name) }

func (n names) libtorch(name string) *jen.Statement {
	return n.imported(libtorchPath, "libtorch", name)
}

func (n names) imported(importPath, pkg, name string) *jen.Statement {
	n.use(importPath, pkg, n.taken)
	return selector(jen.Id(n.imports[importPath]), name)
}

// reserve keeps the imports from having names of a file's wrappers, and the import of the kernels
// also from having local names of the wrappers' bodies.
func (n names) reserve(wrappers []bind.Wrapper) {
	for _, f := range wrappers {
		n.taken[f.Name], n.taken[f.OpVar] = true, true
	}
	locals := maps.Clone(n.taken)
	for _, f := range wrappers {
		for _, name := range f.Locals() {
			locals[name] = true
		}
	}
	for _, f := range wrappers {
		pkg := f.Kernel.Func.Pkg()
		n.use(pkg.Path(), pkg.Name(), locals)
	}
}

// use imports a package, under its own name if that is free.
func (n names) use(importPath, name string, taken map[string]bool) {
	if n.imports[importPath] != "" {
		return
	}
	alias := name
	for i := 2; taken[alias]; i++ {
		alias = name + strconv.Itoa(i)
	}
	n.imports[importPath], n.taken[alias] = alias, true
}

// importDeclaration has the imports in the groups that goimports makes: paths that begin with a domain come last.
func (n names) importDeclaration() *jen.Statement {
	var groups [2][]jen.Code
	for _, importPath := range slices.Sorted(maps.Keys(n.imports)) {
		spec := jen.Lit(importPath)
		if alias := n.imports[importPath]; alias != impliedName(importPath) {
			spec = jen.Id(alias).Add(spec)
		}
		first, _, _ := strings.Cut(importPath, "/")
		group := 0
		if strings.Contains(first, ".") {
			group = 1
		}
		groups[group] = append(groups[group], spec)
	}
	return jen.Id("import").Defs(slices.Concat(groups[0], []jen.Code{jen.Empty()}, groups[1])...)
}

var majorVersion = regexp.MustCompile(`^v[0-9]+$`)

// impliedName returns the package name that a reader expects for a path.
func impliedName(importPath string) string {
	if dir, last := path.Split(importPath); majorVersion.MatchString(last) {
		return path.Base(dir)
	}
	return path.Base(importPath)
}
