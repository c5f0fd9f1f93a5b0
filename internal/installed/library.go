package installed

import (
	"bytes"
	"cmp"
	"debug/elf"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// LibraryFile returns the file of a library of ops, or "" if the name is a Python
// package's. A name with a slash, or of a shared library, is always a file.
func LibraryFile(name string) (string, error) {
	info, err := os.Stat(name)
	switch {
	case name == "":
		return "", errors.New("want a shared library, or the name of a Python package")
	case err == nil && strings.HasSuffix(name, ".py"):
		return "", fmt.Errorf("%s is Python: -module %s, without -lib, checks the ops that it registers", name, strings.TrimSuffix(filepath.Base(name), ".py"))
	case err == nil && !info.IsDir():
		return filepath.Abs(name)
	case strings.ContainsRune(name, filepath.Separator) || strings.Contains(filepath.Base(name)+".", ".so."):
		if err == nil {
			err = fmt.Errorf("%s is a folder; want a shared library, or the name of a Python package", name)
		}
		return "", err
	}
	return "", nil
}

// Libraries returns the shared libraries of an installed Python package that register ops, sorted. The package is
// searched beside this PyTorch, and in the folders of its Python and of the active one; it is not imported. Its name is
// that of its module or its distribution.
func (t *Torch) Libraries(name string) ([]string, error) {
	folders := t.modules()
	var looked []string
	for _, dir := range folders {
		roots := modulesOf(dir, name)
		var found []string
		inPython := false
		for _, root := range roots {
			filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
				switch {
				case err != nil || d.IsDir():
				case strings.HasSuffix(path, ".so") && registers(path):
					found = append(found, path)
				case strings.HasSuffix(path, ".py") && !inPython:
					text, _ := os.ReadFile(path)
					inPython = definesOps.Match(text)
				}
				return nil
			})
		}
		slices.Sort(found)
		switch {
		case len(found) > 0:
			return found, nil
		case inPython:
			return nil, fmt.Errorf("%s in %s registers its ops in Python: -module %s, without -lib, checks them", name, dir, filepath.Base(roots[0]))
		case len(roots) > 0:
			return nil, fmt.Errorf("%s in %s has no shared library that registers ops", name, dir)
		}
		looked = append(looked, dir)
	}
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		return nil, fmt.Errorf("%s is a folder, and not a Python package: want a shared library in it", name)
	}
	return nil, fmt.Errorf("no file or Python package %s: looked in %s", name, strings.Join(looked, ", "))
}

// definesOps matches Python code that defines ops.
var definesOps = regexp.MustCompile(`\b(?:torch[.](?:library)[.](?:custom_op|triton_op|define|Library)|(?:custom_op|triton_op)\(|(?:^|[^.\w])Library\(\s*["'])`)

// modulesOf returns the files of a name in a folder of packages: the folder or file
// of the module, or the files of the distribution.
func modulesOf(dir, name string) []string {
	plain := normalized(name)
	var found []string
	patterns := []string{escape.Replace(plain), escape.Replace(plain) + ".so", escape.Replace(plain) + ".*.so"}
	if strings.Contains(name, ".") && !strings.Contains("."+name+".", "..") { // inside another package
		patterns = append(patterns, escape.Replace(strings.ReplaceAll(name, ".", "/")))
	}
	for _, pattern := range patterns {
		all, _ := filepath.Glob(filepath.Join(escape.Replace(dir), pattern))
		found = append(found, all...)
	}
	if len(found) > 0 {
		return found
	}
	records, _ := filepath.Glob(filepath.Join(escape.Replace(dir), "*.dist-info", "RECORD"))
	for _, record := range records {
		distribution, _, _ := strings.Cut(filepath.Base(filepath.Dir(record)), "-")
		if normalized(distribution) != plain {
			continue
		}
		text, _ := os.ReadFile(record)
		for line := range bytes.Lines(text) {
			top, _, _ := strings.Cut(string(line), "/")
			if top = filepath.Join(dir, top); !strings.Contains(top, ".dist-info") && exists(top) && !slices.Contains(found, top) {
				found = append(found, top)
			}
		}
	}
	return found
}

func normalized(name string) string {
	return strings.ToLower(strings.NewReplacer("-", "_", ".", "_").Replace(name))
}

// registrations are parts of the symbols that libraries import to register ops: of
// torch::Library, of the older torch::RegisterOperators, and of the stable ABI.
var registrations = []string{"torch7LibraryC", "RegisterOperators", "registerOperator", "aoti_torch_library_init", "torch_library_init"}

// registers reports whether a shared library registers ops when it is loaded.
func registers(path string) bool {
	return imports(path, func(symbol string) bool {
		return slices.ContainsFunc(registrations, func(part string) bool { return strings.Contains(symbol, part) })
	})
}

// imports reports whether a shared library imports a symbol that a function selects.
func imports(path string, wanted func(symbol string) bool) bool {
	f, err := elf.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	symbols, _ := f.ImportedSymbols()
	return slices.ContainsFunc(symbols, func(s elf.ImportedSymbol) bool { return wanted(s.Name) })
}

// Needs returns the shared libraries to load before libraries of ops: those of this PyTorch that they need, which the
// loader may not find; and that of Python, whose functions an extension expects to be loaded. A library that is not
// found is left out: loading is then an error that names it.
func (t *Torch) Needs(libraries ...string) []string {
	n := needed{torch: t, seen: make(map[string]bool)}
	for _, path := range libraries {
		before, seen := len(n.files), maps.Clone(n.seen)
		n.beside, n.missing = filepath.Dir(path), false
		if n.into(path, nil); n.missing {
			n.files, n.seen = n.files[:before], seen
		}
	}
	if !n.python {
		return n.files
	}
	if file := t.libpython(); file != "" {
		return slices.Insert(n.files, 0, file)
	}
	return n.files
}

type needed struct {
	torch   *Torch
	beside  string // the folder of the library of ops
	seen    map[string]bool
	files   []string
	python  bool // functions of Python are needed
	missing bool
}

// into adds the libraries that a library needs. The library was reached through
// others, whose DT_RPATHs apply to it too.
func (n *needed) into(path string, above []string) {
	names, dirs, above := needs(path, above)
	ofPython := func(symbol string) bool { return strings.HasPrefix(symbol, "Py") || strings.HasPrefix(symbol, "_Py") }
	n.python = n.python || imports(path, ofPython) && !slices.ContainsFunc(names, func(s string) bool { return strings.HasPrefix(s, "libpython") })
	for _, name := range names {
		if n.seen[name] {
			continue
		}
		n.seen[name] = true
		// libtorch's own libraries are taken from its folder, even if the loader would find others. A package may load
		// the libraries beside a library itself.
		loaded, own := firstWith(dirs, name), firstWith([]string{n.torch.Lib}, name)
		switch file := cmp.Or(own, loaded, firstWith([]string{n.beside}, name), n.torch.companion(name)); {
		case file == "":
			n.missing = true
		case file == loaded:
			n.into(file, above)
		default:
			n.into(file, nil)
			n.files = append(n.files, file)
		}
	}
}

// libpython returns the shared library of a Python, or "".
func (t *Torch) libpython() string {
	const program = `
import os, sysconfig
print("python in", os.path.join(sysconfig.get_config_var("LIBDIR") or "", sysconfig.get_config_var("INSTSONAME") or ""))
`
	for _, python := range t.pythons() {
		for _, file := range answers(python, program, "python in ") {
			if strings.Contains(file, ".so") && exists(file) {
				return file
			}
		}
	}
	for _, dir := range systemFolders() {
		if found, _ := filepath.Glob(filepath.Join(dir, "libpython3.*.so*")); len(found) > 0 {
			return found[0]
		}
	}
	return ""
}

// pythons returns the Pythons that may import this PyTorch: its environment's, and the active one.
func (t *Torch) pythons() []string {
	all := []string{t.python}
	if t.Package != "" {
		all = append(all, filepath.Join(prefixOf(t.Package), "bin/python3"))
	}
	if active := os.Getenv("VIRTUAL_ENV"); active != "" {
		all = append(all, filepath.Join(active, "bin/python3"))
	}
	all = append(all, onPath())
	return slices.DeleteFunc(all, func(python string) bool { return python == "" || !exists(python) })
}

// modules returns the folders of packages of this PyTorch.
func (t *Torch) modules() []string {
	var dirs []string
	if t.Package != "" {
		dirs = append(dirs, filepath.Dir(t.Package))
	}
	for _, python := range t.pythons() {
		dirs = append(dirs, answers(python, modules, "modules in ")...)
	}
	var all []string
	for _, dir := range dirs {
		if !slices.Contains(all, dir) && exists(dir) {
			all = append(all, dir)
		}
	}
	return all
}
