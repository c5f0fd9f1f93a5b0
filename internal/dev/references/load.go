package main

import (
	"cmp"
	"fmt"
	"go/token"
	"go/types"
	"maps"
	"path/filepath"
	"slices"

	"golang.org/x/tools/go/packages"
)

// A file is a file of a package.
type file struct{ pkg, name string }

func (f file) compare(other file) int {
	return cmp.Or(cmp.Compare(f.pkg, other.pkg), cmp.Compare(f.name, other.name))
}

// A reference is a name that one file uses and another declares.
type reference struct {
	from, to file
	object   string // with the receiver's type, for a method
}

// load returns the references between the files of the packages that match patterns, sorted, each once.
func load(dir string, patterns []string) ([]reference, error) {
	const mode = packages.NeedName | packages.NeedFiles | packages.NeedImports | packages.NeedSyntax |
		packages.NeedTypes | packages.NeedTypesInfo
	loaded, err := packages.Load(&packages.Config{Mode: mode, Dir: dir}, patterns...)
	if err != nil {
		return nil, err
	}
	ours := make(map[string]bool)
	for _, p := range loaded {
		if len(p.Errors) > 0 {
			return nil, fmt.Errorf("%s: %v", p.PkgPath, p.Errors[0])
		}
		ours[p.PkgPath] = true
	}
	seen := make(map[reference]bool)
	for _, p := range loaded {
		at := func(pkg *types.Package, pos token.Pos) file {
			return file{pkg.Path(), filepath.Base(p.Fset.Position(pos).Filename)}
		}
		for id, object := range p.TypesInfo.Uses {
			name := nameOf(object)
			if name == "" || !ours[object.Pkg().Path()] {
				continue
			}
			if r := (reference{at(p.Types, id.Pos()), at(object.Pkg(), object.Pos()), name}); r.from != r.to {
				seen[r] = true
			}
		}
	}
	return slices.SortedFunc(maps.Keys(seen), func(a, b reference) int {
		return cmp.Or(a.from.compare(b.from), a.to.compare(b.to), cmp.Compare(a.object, b.object))
	}), nil
}

// nameOf returns the name of a package-level object or a method, "" for others.
func nameOf(object types.Object) string {
	if object.Pkg() == nil {
		return ""
	}
	if object.Parent() == object.Pkg().Scope() {
		return object.Name()
	}
	f, ok := object.(*types.Func)
	if !ok || f.Signature().Recv() == nil {
		return ""
	}
	receiver := types.Unalias(f.Signature().Recv().Type())
	if p, ok := receiver.(*types.Pointer); ok {
		receiver = p.Elem()
	}
	if named, ok := receiver.(*types.Named); ok {
		return named.Obj().Name() + "." + f.Name()
	}
	return f.Name() // a method of an unnamed interface
}
