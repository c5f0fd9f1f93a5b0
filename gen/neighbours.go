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
	"strings"
)

// checkNeighbours reports a generated file that would not compile with the other Go files of its
// folder: they are of another package, or declare the same name.
func checkNeighbours(f File) error {
	fset := token.NewFileSet()
	var errs scanner.ErrorList
	var generated *types.Scope
	var pkg string
	for _, path := range neighbours(f.Path) {
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
		if name != pkg {
			errs.Add(fset.Position(other.Name.Pos()), fmt.Sprintf("this is package %s, but %s would be package %s: choose -package %s, or another folder with -out",
				name, f.Path, pkg, name))
			continue
		}
		if name != other.Name.Name {
			continue // an external test is another package
		}
		theirs := declared(fset, other)
		for _, name := range theirs.Names() {
			if own := generated.Lookup(name); own != nil {
				errs.Add(fset.Position(theirs.Lookup(name).Pos()), fmt.Sprintf("%s is declared here, but %v would declare it, too: rename this one, or choose another folder with -out",
					name, fset.Position(own.Pos())))
			}
		}
	}
	errs.Sort()
	return errs.Err()
}

// neighbours returns the other Go files in a file's folder that some build on this system compiles.
func neighbours(path string) []string {
	dir := filepath.Dir(path)
	entries, _ := os.ReadDir(dir) // a missing folder has none
	var paths []string
	for _, e := range entries {
		match, _ := build.Default.MatchFile(dir, e.Name()) // false with an error
		if match && strings.HasSuffix(e.Name(), ".go") && e.Name() != filepath.Base(path) {
			paths = append(paths, filepath.Join(dir, e.Name()))
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
