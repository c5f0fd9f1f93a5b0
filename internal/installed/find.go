package installed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/opassert/opassert/internal/slicesx"
	"github.com/opassert/opassert/internal/subprocess"
)

// Find returns the selected libtorch, and the others that are installed. dir is the folder that the user named, or "",
// and libs are the libraries of ops that will be loaded, which only work with the libtorch that they are linked to. The
// order is: dir, $LIBTORCH, the libtorch of libs, that of the virtual environment that the command is installed in, of
// the active one, of the active conda environment, of the Python on the path, of the system. One that the user named is
// used or is an error; others are skipped if nothing can be compiled against them.
func Find(dir string, libs ...string) (*Torch, []*Torch, error) {
	all, err := search(dir, libs)
	if err != nil {
		return nil, nil, err
	}
	for i, t := range all {
		if t.Usable() == nil {
			return t, append(append([]*Torch(nil), all[:i]...), all[i+1:]...), nil
		}
		if t.Found == "-libtorch" || t.Found == "$LIBTORCH" {
			return nil, nil, fmt.Errorf("%s: %v: %w", t.Found, t, t.Usable())
		}
	}
	if len(all) == 0 {
		return nil, nil, ErrNotFound
	}
	errs := slicesx.Map(all, func(t *Torch) error { return fmt.Errorf("%v: %w", t, t.Usable()) })
	return nil, nil, errors.Join(errs...)
}

// FindSchemas returns the native_functions.yaml of the first PyTorch that has one, in the order of [Find].
func FindSchemas(dir string) (string, *Torch, error) {
	all, err := search(dir, nil)
	if err != nil {
		return "", nil, err
	}
	var first error
	for _, t := range all {
		file, err := t.Schemas()
		if err == nil {
			return file, t, nil
		}
		if t.Found == "-libtorch" || t.Found == "$LIBTORCH" {
			return "", nil, err
		}
		first = cmp.Or(first, err)
	}
	return "", nil, cmp.Or(first, ErrNotFound)
}

// System lists the prefixes of the system's PyTorch.
var System = []string{"/usr/local", "/usr", "/opt/libtorch", "/opt/homebrew/opt/pytorch", "/opt/homebrew"}

// search returns every PyTorch once, in the order of [Find].
func search(dir string, libs []string) ([]*Torch, error) {
	if dir != "" {
		t, err := Inspect(dir)
		if err != nil {
			return nil, fmt.Errorf("-libtorch: %w", err)
		}
		t.Found = "-libtorch"
		return []*Torch{t}, nil
	}
	s := searcher{seen: make(map[string]bool)}
	if dir := os.Getenv("LIBTORCH"); dir != "" {
		t, err := Inspect(dir)
		if err != nil {
			return nil, fmt.Errorf("$LIBTORCH: %w", err)
		}
		s.add(t, "$LIBTORCH")
	}
	for _, lib := range libs {
		if dir := LinkedTo(lib); dir != "" {
			s.addFolder(dir, filepath.Base(lib)+" is linked to it")
		}
	}
	active := make(map[string]bool) // the Pythons that were asked, by folder
	for _, e := range []struct{ prefix, how string }{
		{home(), "opassert is installed beside it"}, {os.Getenv("VIRTUAL_ENV"), "$VIRTUAL_ENV"},
		{os.Getenv("CONDA_PREFIX"), "$CONDA_PREFIX"},
	} {
		if e.prefix != "" && s.addPrefix(e.prefix, e.how) {
			active[filepath.Join(e.prefix, "bin")] = true
		}
	}
	if python := onPath(); python != "" && !active[filepath.Dir(python)] {
		if pkg := ImportedBy(python); pkg != "" {
			s.addFolder(pkg, filepath.Base(python))
		}
	}
	for _, prefix := range System {
		s.addPrefix(prefix, "the system")
	}
	return s.found, nil
}

type searcher struct {
	found []*Torch
	seen  map[string]bool // the resolved files of those found
}

func (s *searcher) add(t *Torch, how string) {
	key := t.Root
	if len(t.link) > 0 {
		key = t.link[0]
	}
	if real, err := filepath.EvalSymlinks(key); err == nil {
		key = real
	}
	if !s.seen[key] {
		s.seen[key] = true
		t.Found = how
		s.found = append(s.found, t)
	}
}

func (s *searcher) addFolder(dir, how string) {
	if t, err := Inspect(dir); err == nil {
		s.add(t, how)
	}
}

// addPrefix adds the Python packages under a prefix, and the prefix's own libtorch.
// It reports whether it found a Python package.
func (s *searcher) addPrefix(prefix, how string) bool {
	all := packages(prefix)
	for _, root := range append(all, prefix) {
		if t := read(root); t != nil {
			s.add(t, how)
		}
	}
	return len(all) > 0
}

// home returns the environment that the command is installed in, or "": a user who
// names the command by its path selects it, active or not.
var home = func() string {
	command, err := os.Executable()
	if err != nil {
		return ""
	}
	return environmentOf(command)
}

// environmentOf returns the virtual environment, or that of conda, that a command is installed in, or "".
func environmentOf(command string) string {
	file, err := filepath.EvalSymlinks(command)
	prefix := filepath.Dir(filepath.Dir(file))
	if err != nil || !exists(filepath.Join(prefix, "pyvenv.cfg")) && !exists(filepath.Join(prefix, "conda-meta")) {
		return ""
	}
	return prefix
}

func onPath() string {
	names := []string{"python3", "python"}
	if prefix := home(); prefix != "" {
		names = append([]string{filepath.Join(prefix, "bin", "python3")}, names...)
	}
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// locate prints the folder that torch would be imported from, and modules those of
// all packages, without the working folder.
const (
	modules = `
import sys
sys.path[:] = [p for p in sys.path if p]
for p in sys.path: print("modules in", p)
`
	locate = modules + `
from importlib.util import find_spec
spec = find_spec("torch")
if spec and spec.origin: print("torch in", spec.submodule_search_locations[0])
`
)

var asked sync.Map // outputs, by Python and program

// ImportedBy returns the folder of the torch that a Python imports, or "".
func ImportedBy(python string) string { return append(answers(python, locate, "torch in "), "")[0] }

// answers runs a Python program, once, and returns the lines that start with a prefix.
func answers(python, program, prefix string) []string {
	key := [2]string{python, program}
	out, ok := asked.Load(key)
	if !ok {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		cmd := exec.CommandContext(ctx, python, "-c", program)
		cmd.WaitDelay = time.Second
		defer subprocess.Command(cmd)()
		text, _ := cmd.Output()
		out, _ = asked.LoadOrStore(key, string(text))
	}
	var all []string
	for line := range strings.Lines(out.(string)) {
		if answer, ok := strings.CutPrefix(strings.TrimSpace(line), prefix); ok {
			all = append(all, answer)
		}
	}
	return all
}

// Preload returns the shared libraries to load before libtorch_cpu: those that it needs and that the loader would not
// find, such as libcudart.so.12 of the package nvidia-cuda-runtime. A wheel finds them if they are installed beside it,
// which not every installer does.
func (t *Torch) Preload() []string {
	if t.Package == "" || len(t.link) == 0 {
		return nil
	}
	names, dirs, _ := needs(t.link[0], nil)
	var files []string
	for _, name := range names {
		if firstWith(dirs, name) != "" {
			continue
		}
		if file := t.companion(name); file != "" {
			files = append(files, file)
		}
	}
	return files
}

// companion returns the file of a library in another Python package, or "".
func (t *Torch) companion(name string) string {
	for _, dir := range t.modules() {
		for _, pattern := range []string{"nvidia/*/lib", "nvidia/*/*/lib", "*.libs"} {
			found, _ := filepath.Glob(filepath.Join(escape.Replace(dir), pattern, escape.Replace(name)))
			if len(found) > 0 {
				return found[0]
			}
		}
	}
	return ""
}
