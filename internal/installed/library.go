package installed

import (
	"cmp"
	"debug/elf"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// LibraryFile returns the file of a library of ops.
func LibraryFile(name string) (string, error) {
	info, err := os.Stat(name)
	switch {
	case err != nil && !strings.ContainsAny(name, "/."):
		return "", fmt.Errorf("no file %q: -module, without -lib, checks the ops of a Python package, "+
			"and of its libraries", name)
	case err != nil:
		return "", err
	case info.IsDir():
		return "", errors.New("it is a folder: want a shared library in it, or -module for a Python package")
	case strings.HasSuffix(name, ".py"):
		module := strings.TrimSuffix(filepath.Base(name), ".py")
		return "", fmt.Errorf("it is Python: -module %s, without -lib, checks the ops that it registers", module)
	}
	return filepath.Abs(name)
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
	isPython := func(name string) bool { return strings.HasPrefix(name, "libpython") }
	n.python = n.python || importsPython(path) && !slices.ContainsFunc(names, isPython)
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

func importsPython(path string) bool {
	f, err := elf.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	symbols, _ := f.ImportedSymbols()
	return slices.ContainsFunc(symbols, func(s elf.ImportedSymbol) bool {
		return strings.HasPrefix(s.Name, "Py") || strings.HasPrefix(s.Name, "_Py")
	})
}

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

// modules returns the folders of packages of this PyTorch, some of which may be missing.
func (t *Torch) modules() []string {
	var dirs []string
	if t.Package != "" {
		dirs = append(dirs, filepath.Dir(t.Package))
	}
	for _, python := range t.pythons() {
		dirs = append(dirs, answers(python, modules, "modules in ")...)
	}
	return dirs
}
