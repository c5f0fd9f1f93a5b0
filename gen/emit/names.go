package emit

import (
	"go/types"
	"maps"
	"path"
	"regexp"
	"strconv"

	"github.com/opassert/opassert/gen/bind"
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
	n := names{map[string]string{}, map[string]bool{"init": true, "enabled": true, "Kernels": true}}
	for _, name := range types.Universe.Names() {
		n.taken[name] = true
	}
	return n
}

// reserve keeps the imports from the names of a file's wrappers, and that of
// the kernels, which the wrappers' bodies refer to, from their local names.
func (w *writer) reserve(wrappers []bind.Wrapper) {
	for _, f := range wrappers {
		w.taken[f.Name], w.taken[f.OpVar] = true, true
	}
	locals := maps.Clone(w.taken)
	for _, f := range wrappers {
		for _, name := range f.Locals() {
			locals[name] = true
		}
	}
	for _, f := range wrappers {
		pkg := f.Kernel.Func.Pkg()
		w.useAs(pkg.Path(), pkg.Name(), locals)
	}
}

// use imports a package, under its own name if that is free.
func (w *writer) use(importPath, name string) { w.useAs(importPath, name, w.taken) }

func (w *writer) useAs(importPath, name string, taken map[string]bool) {
	if w.imports[importPath] != "" {
		return
	}
	alias := name
	for i := 2; taken[alias]; i++ {
		alias = name + strconv.Itoa(i)
	}
	w.imports[importPath], w.taken[alias] = alias, true
	if alias == impliedName(importPath) {
		w.file.ImportName(importPath, alias)
	} else {
		w.file.ImportAlias(importPath, alias)
	}
}

var majorVersion = regexp.MustCompile(`^v[0-9]+$`)

// impliedName is the package name that a reader expects behind a path.
func impliedName(importPath string) string {
	if dir, last := path.Split(importPath); dir != "" && majorVersion.MatchString(last) {
		return path.Base(dir)
	}
	return path.Base(importPath)
}
