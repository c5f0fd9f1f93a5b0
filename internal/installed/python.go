package installed

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// A Python is an interpreter and the PyTorch that it imports.
type Python struct {
	Path  string
	Torch *Torch
}

// FindPython returns the Python of a name or a path, with PyTorch 2.4 or later; "" is
// that of the active virtual environment, or else on the path.
func FindPython(name string) (*Python, error) {
	path := cmp.Or(name, onPath())
	if path == "" {
		return nil, errors.New("no python3 on the path: name one with -python")
	}
	path, err := exec.LookPath(path)
	if err != nil {
		return nil, fmt.Errorf("-python: %w", err)
	}
	if path, err = filepath.Abs(path); err != nil {
		return nil, err
	}
	folder := ImportedBy(path)
	if folder == "" {
		return nil, fmt.Errorf("%s can't import torch: install PyTorch there, or name another Python with -python", path)
	}
	torch, err := Inspect(folder)
	if err != nil {
		return nil, err
	}
	torch.Found, torch.python = path, path
	if torch.before(2, 4) {
		return nil, fmt.Errorf("%s has PyTorch %s: ops of modules need 2.4 or later, "+
			"whose torch.library lists registrations", path, torch.Version)
	}
	return &Python{path, torch}, torch.Usable()
}

// Python returns the interpreter that imports the PyTorch, or "".
func (t *Torch) Python() string {
	if t.python != "" || t.Package == "" {
		return t.python
	}
	for _, python := range []string{filepath.Join(prefixOf(t.Package), "bin", "python3"), onPath()} {
		if python != "" && exists(python) && sameFile(ImportedBy(python), t.Package) {
			return python
		}
	}
	return ""
}

func sameFile(a, b string) bool {
	first, err := os.Stat(a)
	second, failed := os.Stat(b)
	return err == nil && failed == nil && os.SameFile(first, second)
}

// Source returns the file of a module that the Python would import, also from the
// working folder, or "". It imports only the parent packages.
func (p *Python) Source(module string) string {
	const program = "import importlib.util as u\ns = u.find_spec(%q)\nif s and s.origin: print('source', s.origin)"
	return strings.Join(answers(p.Path, fmt.Sprintf(program, module), "source "), "\n")
}
