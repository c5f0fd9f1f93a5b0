// Package start writes the module in which a library that others import is checked: in a folder of its own, with
// go.mod, so that the library's module and packages stay as they are.
package start

import (
	_ "embed"
	"fmt"
	"go/format"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"text/template"

	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/txtar"

	"github.com/opassert/opassert/schema"
)

// Options are the flags of `opassert init`.
type Options struct {
	Package string // the folder of a package of the library
	Func    string // the only function to begin with, "" for all that fit
	Schema  string // a schema file, "" to write one
	Version string // of opassert
	Clone   string // a folder that has opassert, "" for that version
}

// A File is a file to write.
type File struct {
	Path string
	Text []byte
}

// A module is what the template prints.
type module struct {
	Module, ModuleVersion, Version, Clone string
	Folder                                string // of the library in its repository, with a slash; "" for its root
	Path, Import                          string // of the package
	Schema                                string // the file
	Kernels                               []kernel
	kernel                                // the first
}

//go:embed module.txtar
var text string

var files = template.Must(template.New("module").Parse(text))

// Files returns the files to write, none of which exists, and the number of kernels.
func Files(o Options) ([]File, int, error) {
	const mode = packages.NeedName | packages.NeedTypes | packages.NeedSyntax | packages.NeedImports |
		packages.NeedModule | packages.NeedDeps
	loaded, err := packages.Load(&packages.Config{Dir: o.Package, Mode: mode}, ".")
	if err != nil {
		return nil, 0, err
	}
	p := loaded[0]
	switch {
	case len(p.Errors) > 0:
		return nil, 0, fmt.Errorf("package %s: %v: go build must succeed there", o.Package, p.Errors[0])
	case p.Module == nil || p.Module.Dir == "":
		return nil, 0, fmt.Errorf("%s is in no module: run go mod init at the library's root", o.Package)
	case p.Name == "main":
		return nil, 0, fmt.Errorf("%s is a command, which nothing can import: "+
			"want the folder of a library's package, -package", o.Package)
	}
	m := module{Module: p.Module.Path, ModuleVersion: firstVersion(p.Module.Path), Version: o.Version, Clone: o.Clone,
		Path: p.PkgPath, Import: fmt.Sprintf("%q", p.PkgPath), Schema: "ops.yaml"}
	if filepath.Base(p.PkgPath) != p.Name {
		m.Import = p.Name + " " + m.Import
	}
	if m.Kernels, err = kernels(p.Types, o.Func); err != nil {
		return nil, 0, fmt.Errorf("package %s: %w", p.PkgPath, err)
	}
	if o.Schema != "" {
		if m.Schema, m.Kernels, err = given(o.Schema, p.Module.Dir, m.Kernels); err != nil {
			return nil, 0, err
		}
	}
	m.kernel = m.Kernels[0]
	repository := repositoryOf(p.Module.Dir)
	if rel, err := filepath.Rel(repository, p.Module.Dir); err == nil && rel != "." {
		m.Folder = filepath.ToSlash(rel) + "/"
	}
	made, err := m.files(p.Module.Dir, repository)
	return made, len(m.Kernels), err
}

func (m module) files(root, repository string) ([]File, error) {
	var b strings.Builder
	if err := files.Execute(&b, m); err != nil {
		return nil, err
	}
	var made []File
	for _, f := range txtar.Parse([]byte(b.String())).Files {
		path, data := filepath.Join(root, f.Name), f.Data
		if strings.HasPrefix(f.Name, ".github/") {
			path = filepath.Join(repository, f.Name)
		}
		if strings.HasSuffix(f.Name, ".go") {
			var err error
			if data, err = format.Source(data); err != nil {
				return nil, fmt.Errorf("%s: %w", f.Name, err)
			}
		}
		if _, err := os.Lstat(path); err == nil {
			return nil, fmt.Errorf("%s exists, and init replaces no file: move it away, or go on from it by hand", path)
		}
		made = append(made, File{path, data})
	}
	return made, nil
}

// given returns a schema file as the new module names it, and the kernels of its ops.
func given(path, root string, fits []kernel) (name string, kernels []kernel, err error) {
	file, err := schema.Config{Kernels: true}.Load(path)
	if err != nil {
		return "", nil, err
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", nil, err
	}
	rel, err := filepath.Rel(filepath.Join(root, "opassert"), abs)
	if err != nil {
		return "", nil, err
	}
	for _, op := range file.Ops {
		i := slices.IndexFunc(fits, func(k kernel) bool { return k.Op == strings.TrimRight(op.Func.Name.Base, "_") })
		if i >= 0 {
			fits[i].Op = op.Name()
			kernels, fits = append(kernels, fits[i]), slices.Delete(fits, i, i+1)
		}
	}
	if len(kernels) == 0 {
		return "", nil, fmt.Errorf("no op of %s has the name of a function that fits, such as %s: "+
			"add one to the file, such as %s", path, fits[0].name, fits[0].Schema)
	}
	return filepath.ToSlash(rel), kernels, nil
}

var major = regexp.MustCompile(`[/.]v([0-9]+)$`)

// firstVersion returns a version that a module of the path may have.
func firstVersion(path string) string {
	if m := major.FindStringSubmatch(path); m != nil {
		return "v" + m[1] + ".0.0"
	}
	return "v0.0.0"
}

// repositoryOf returns the root of the repository that has a folder, or the folder.
func repositoryOf(dir string) string {
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, ".git")); err == nil {
			return at
		}
		if at == filepath.Dir(at) {
			return dir
		}
	}
}
