package gen

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/scanner"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// checkNeighbours reports generated files, the first of which declares all names, that would not compile with the other
// Go files of their folder: they are of another package, or declare the same name.
func checkNeighbours(files []File) error {
	f := files[0]
	fset := token.NewFileSet()
	var errs scanner.ErrorList
	var generated *types.Scope
	var pkg string
	for _, path := range neighbours(files) {
		other, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
		if err != nil {
			continue // the Go compiler reports it
		}
		if generated == nil { //mutate:equivalent true: it is read again
			file, err := parser.ParseFile(fset, f.Path, f.Text, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			generated, pkg = declared(fset, file), file.Name.Name
		}
		name := other.Name.Name
		if strings.HasSuffix(path, "_test.go") {
			name = strings.TrimSuffix(name, "_test")
		}
		switch {
		case name != pkg:
			errs.Add(fset.Position(other.Name.Pos()), fmt.Sprintf("this is package %s, but %s would be package %s: "+
				"choose -package %[1]s, or another folder with -out", name, f.Path, pkg))
		case name == other.Name.Name: // an external test is another package
			theirs := declared(fset, other)
			for _, name := range theirs.Names() {
				if own := generated.Lookup(name); own != nil {
					errs.Add(fset.Position(theirs.Lookup(name).Pos()), fmt.Sprintf("%s is declared here, but %v would declare "+
						"it, too: rename this one, or choose another folder with -out", name, fset.Position(own.Pos())))
				}
			}
		}
	}
	errs.Sort()
	return errs.Err()
}

// neighbours returns the other Go files in the folder of files that the debug build, or one without
// its tag, compiles on this system.
func neighbours(files []File) []string {
	dir := filepath.Dir(files[0].Path)
	entries, _ := os.ReadDir(dir) // a missing folder has none
	debug := build.Default
	debug.BuildTags = append(slices.Clip(debug.BuildTags), "opassert")
	var paths []string
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		compiled, _ := build.Default.MatchFile(dir, e.Name()) // false with an error
		tagged, _ := debug.MatchFile(dir, e.Name())
		own := slices.ContainsFunc(files, func(f File) bool { return f.Path == path })
		if (compiled || tagged) && strings.HasSuffix(path, ".go") && !own {
			paths = append(paths, path)
		}
	}
	return paths
}

// declared returns the names that a file declares in its package.
func declared(fset *token.FileSet, file *ast.File) *types.Scope {
	check := types.Config{IgnoreFuncBodies: true, Error: func(error) {}} // imports are not found
	pkg, _ := check.Check(file.Name.Name, fset, []*ast.File{file}, nil)
	return pkg.Scope()
}
