package emit

import (
	"go/types"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/opassert/opassert/gen/internal/bind"
)

const assertsPath = "github.com/opassert/opassert/asserts"

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
func (n names) qual(pkg *types.Package, name string) string {
	if pkg == nil {
		return name
	}
	return n.imported(pkg.Path(), pkg.Name(), name)
}

func (n names) asserts(name string) string { return n.imported(assertsPath, "asserts", name) }

func (n names) imported(importPath, pkg, name string) string {
	n.use(importPath, pkg, n.taken)
	return n.imports[importPath] + "." + name
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
func (n names) importDeclaration() string {
	var groups [2]string
	for _, importPath := range slices.Sorted(maps.Keys(n.imports)) {
		spec := strconv.Quote(importPath)
		if alias := n.imports[importPath]; alias != impliedName(importPath) {
			spec = alias + " " + spec
		}
		first, _, _ := strings.Cut(importPath, "/")
		group := 0
		if strings.Contains(first, ".") {
			group = 1
		}
		groups[group] += spec + "\n"
	}
	return "import (\n" + groups[0] + "\n" + groups[1] + ")\n"
}

var majorVersion = regexp.MustCompile(`^v[0-9]+$`)

// impliedName returns the package name that a reader expects for a path.
func impliedName(importPath string) string {
	if dir, last := path.Split(importPath); majorVersion.MatchString(last) {
		return path.Base(dir)
	}
	return path.Base(importPath)
}
