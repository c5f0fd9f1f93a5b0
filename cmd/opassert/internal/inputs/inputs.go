// Package inputs finds the inputs that decide the results of the ops of a Go module:
// the declarations that calls of their kernels may reach, and the builds of the
// packages of other modules.
//
// Declarations are found by name: one that mentions Add reaches every Add of the
// module, a type its methods, and each call the code that runs when the program
// starts. These are all declarations that a call reaches, and more. A package with
// other files than Go source, as with cgo, counts as a whole for every op; an op that
// may read files or the network has no digest.
package inputs

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/opassert/opassert/gen"
)

// A KernelProgram runs the kernels of a generated package.
type KernelProgram struct {
	builds []string                  // builds of packages that are not read, and settings
	parts  []*declaration            // in the order of their files
	named  map[string][]*declaration // by the names that they declare
	roots  []string                  // names that every call reaches
	ops    map[string]*declaration   // the kernels of the generated package
}

// A declaration is a declaration.
type declaration struct {
	text   string   // with its position, and its file's imports
	names  []string // names that it mentions
	opaque bool     // it may use files or the network, which digests do not cover
}

// started names the code that runs when the program starts; it is not an identifier.
const started = ""

// Load reads the program that runs the kernels of a generated package in the folder
// root. Files written since it was built are an error.
func Load(root string, s gen.Suite, built time.Time) (*KernelProgram, error) {
	p := &KernelProgram{named: make(map[string][]*declaration), roots: []string{started}, ops: make(map[string]*declaration)}
	paths := []string{s.Path}
	for _, f := range []*types.Func{s.Maker, s.Observer, s.Options} {
		if f != nil {
			paths, p.roots = append(paths, f.Pkg().Path()), append(p.roots, f.Name())
		}
	}
	packages, err := list(root, paths)
	if err != nil {
		return nil, err
	}
	for _, pkg := range packages {
		if err := errors.Join(pkg.unchanged(built), p.add(pkg, s)); err != nil {
			return nil, err
		}
	}
	return p, p.settings(root, packages)
}

// add reads a package, or uses its build.
func (p *KernelProgram) add(pkg *listedPackage, s gen.Suite) error {
	if pkg.links() {
		p.named[started] = append(p.named[started], &declaration{opaque: true})
	}
	if !pkg.own() {
		p.builds = append(p.builds, pkg.ImportPath+" "+pkg.BuildID)
		return nil
	}
	for _, name := range pkg.GoFiles {
		f, err := read(pkg.Dir, name)
		if err != nil {
			return err
		}
		if pkg.ImportPath == s.Path && name == gen.FileName {
			maps.Copy(p.ops, f.kernels(s.Kernels))
			continue
		}
		for _, d := range f.syntax.Decls {
			p.declare(f, d)
		}
	}
	return nil
}

// declare adds the names of a declaration of a file.
func (p *KernelProgram) declare(f *file, d ast.Decl) {
	names := declared(d)
	if len(names) == 0 {
		return
	}
	one := f.part(d)
	p.parts = append(p.parts, one)
	for _, name := range names {
		p.named[name] = append(p.named[name], one)
	}
}

// declared are the names that reach a declaration: a method's type among them.
func declared(d ast.Decl) (names []string) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil && d.Name.Name == "init" {
			return []string{started}
		}
		names = append(names, d.Name.Name)
		if d.Recv != nil {
			names = append(names, mentioned(d.Recv.List[0].Type)...)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				names = append(names, spec.Name.Name)
			case *ast.ValueSpec:
				for _, name := range spec.Names {
					names = append(names, name.Name)
				}
				if d.Tok == token.VAR && len(spec.Values) > 0 {
					names = append(names, started)
				}
			}
		}
	}
	return names
}

// mentioned are the names in a piece of source.
func mentioned(n ast.Node) (names []string) {
	ast.Inspect(n, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			names = append(names, id.Name)
		}
		return true
	})
	slices.Sort(names)
	return slices.Compact(names)
}

// settings adds the other variables and flags with which the go command builds and starts the program.
func (p *KernelProgram) settings(root string, packages []*listedPackage) error {
	flags, err := goCommand(root, "env", "GOFLAGS", "GOWORK")
	if err != nil {
		return err
	}
	p.builds = append(p.builds, string(flags))
	files := strings.Split(strings.TrimSpace(string(flags)), "\n")[1:]
	for _, pkg := range packages {
		if pkg.own() && !slices.Contains(files, pkg.Module.GoMod) {
			files = append(files, pkg.Module.GoMod)
		}
	}
	for _, name := range files {
		text, _ := os.ReadFile(name) // absent if the workspace is off
		p.builds = append(p.builds, name, string(text))
	}
	p.builds = append(p.builds, environment()...)
	return nil
}

// environment is the process's, without variables that shells set.
func environment() []string {
	env := slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains([]string{"_", "SHLVL", "PWD", "OLDPWD"}, name)
	})
	slices.Sort(env)
	return env
}

// Digest returns a digest of everything that decides the results of calls of the ops,
// "" if it is not known. Ops have their names in the generated package.
func (p *KernelProgram) Digest(ops ...string) string {
	reached := make(map[*declaration]bool)
	next := p.reachable(p.roots)
	for _, op := range ops {
		if p.ops[op] == nil {
			return ""
		}
		next = append(next, p.ops[op])
	}
	for len(next) > 0 {
		one := next[0]
		if next = next[1:]; !reached[one] {
			reached[one] = true
			next = append(next, p.reachable(one.names)...)
		}
	}
	texts := slices.Clone(p.builds)
	for one := range reached {
		if one.opaque {
			return ""
		}
		texts = append(texts, one.text)
	}
	slices.Sort(texts)
	return fmt.Sprintf("%x", sha256.Sum256(fmt.Appendf(nil, "%q", texts)))
}

// reachable returns the parts that names reach.
func (p *KernelProgram) reachable(names []string) (parts []*declaration) {
	for _, name := range names {
		parts = append(parts, p.named[name]...)
	}
	return parts
}
