// Package installed finds the user's PyTorch, with the files and flags for compiling against its libtorch. It reads
// files, and may ask a Python for the folder of its torch; it loads and imports nothing.
package installed

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
)

var (
	// ErrNotFound is the error of a search without a libtorch.
	ErrNotFound = errors.New("no libtorch found: pip install torch, apt-get install libtorch-dev, " +
		"or unpack one and name its folder with -libtorch or $LIBTORCH")

	// ErrNoHeaders is the error of a libtorch that nothing can be compiled against.
	ErrNoHeaders = errors.New("its C++ headers are missing")
)

// A Torch is one PyTorch or libtorch on disk.
type Torch struct {
	Root     string   // an unpacked libtorch, the folder of a Python package, or a prefix such as /usr
	Found    string   // how it was found: "-libtorch", "$LIBTORCH", "$VIRTUAL_ENV", "python3", "the system"
	Version  string   // of its package: "2.6.0+cu124", "1.13.1+dfsg-4"
	Package  string   // the folder of the Python package torch, "" without one
	Lib      string   // the folder of libtorch_cpu and libc10
	Include  []string // the folders of headers
	Standard string   // of C++ that the headers require: "c++17"
	CXX11    bool     // whether std::string is that of libstdc++ since GCC 5

	link   []string // libtorch_cpu and libc10
	python string   // the environment that the user named, which may see packages of others
	broken error    // why nothing can be compiled against it
}

var number = regexp.MustCompile(`\d+\.\d+(\.\d+)?`)

// Number returns the release's number: "2.6.0".
func (t *Torch) Number() string { return number.FindString(t.Version) }

// before reports whether the release is earlier than another; false if its number is unknown.
func (t *Torch) before(major, minor int) bool {
	var has [2]int
	n, _ := fmt.Sscanf(t.Number(), "%d.%d", &has[0], &has[1])
	return n == len(has) && slices.Compare(has[:], []int{major, minor}) < 0
}

func (t *Torch) String() string { return fmt.Sprintf("libtorch %s in %s", t.Version, t.Root) }

// Usable returns an error with the reason why nothing can be compiled against it and
// the remedy, or nil. It is an [ErrNoHeaders] if headers are missing.
func (t *Torch) Usable() error { return t.broken }

// Link returns the shared libraries to link with: libtorch_cpu and libc10, without
// libtorch, which loads gigabytes in a build for GPUs.
func (t *Torch) Link() []string { return t.link }

// Schemas returns the native_functions.yaml in the Python package of this PyTorch,
// from 1.13 on; tags.yaml is beside it.
func (t *Torch) Schemas() (string, error) {
	if t.Package != "" {
		for _, folder := range []string{"torchgen/packaged/ATen/native", "aten/src/ATen/native"} {
			file := filepath.Join(filepath.Dir(t.Package), folder, "native_functions.yaml")
			if exists(file) {
				return file, nil
			}
		}
	}
	return "", fmt.Errorf("%v has no native_functions.yaml; the Python package has one from PyTorch 1.13 on", t)
}

// Inspect returns the PyTorch in a folder: an unpacked libtorch, the Python package torch, the folder of packages that
// holds it, an environment whose Python sees it, a prefix such as /usr, or the folder lib of any of them. It is an
// error if there is no PyTorch; [Torch.Usable] reports an incomplete one.
func Inspect(dir string) (*Torch, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("no folder %s", dir)
	} else if err != nil {
		return nil, err
	} else if !info.IsDir() {
		return nil, fmt.Errorf("%s is not a folder", dir)
	}
	roots := []string{dir, filepath.Join(dir, "torch")}
	if parent := filepath.Dir(dir); multiarch(dir) {
		roots = slices.Insert(roots, 0, filepath.Dir(parent))
	} else if slices.Contains(libFolders, filepath.Base(dir)) {
		roots = slices.Insert(roots, 0, parent)
	}
	roots = append(roots, packages(dir)...)
	python := filepath.Join(dir, "bin/python3")
	if exists(filepath.Join(dir, "pyvenv.cfg")) {
		roots = append(roots, ImportedBy(python))
	}
	for _, root := range roots {
		if t := read(root); root != "" && t != nil {
			if exists(python) {
				t.python = python
			}
			return t, nil
		}
	}
	return nil, fmt.Errorf("%s: no libtorch: no %s in lib", dir, libName("torch_cpu"))
}

// packages returns the folders of the Python package torch under a prefix.
func packages(prefix string) []string {
	var all []string
	for _, pattern := range []string{"lib*/python3*/site-packages/torch", "lib/python3*/dist-packages/torch",
		"local/lib/python3*/dist-packages/torch"} {
		found, _ := filepath.Glob(filepath.Join(escape.Replace(prefix), pattern))
		all = append(all, found...)
	}
	return slices.DeleteFunc(all, func(dir string) bool { return !isPackage(dir) })
}

// escape escapes a folder's name in a pattern.
var escape = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`)

func isPackage(dir string) bool { return exists(filepath.Join(dir, "__init__.py")) }

func exists(path string) bool { _, err := os.Stat(path); return err == nil }

var libFolders = []string{"lib", "lib64"}

// multiarch reports whether a folder is Debian's: lib/x86_64-linux-gnu.
func multiarch(dir string) bool {
	return filepath.Base(filepath.Dir(dir)) == "lib" && strings.Contains(filepath.Base(dir), "-linux-gnu")
}

// libName returns the name of a library for the linker.
func libName(stem string) string {
	if runtime.GOOS == "darwin" {
		return "lib" + stem + ".dylib"
	}
	return "lib" + stem + ".so"
}

// read returns the PyTorch in one root, or nil.
func read(root string) *Torch {
	t := &Torch{Root: root}
	places := []string{root} // the parent of lib and include
	if isPackage(root) {
		t.Package = root
		if prefix := prefixOf(root); prefix != "" {
			places = append(places, prefix)
		}
	} else if all := packages(root); len(all) > 0 {
		t.Package = all[0]
	}
	for _, place := range places {
		t.findLibraries(place)
	}
	if t.Lib == "" && (t.Package != root || !exists(filepath.Join(root, "version.py"))) {
		return nil
	}
	var header string
	for _, place := range places {
		if header = t.findHeaders(place); header != "" {
			break
		}
	}
	t.Version = t.packageVersion(header)
	t.broken = t.check()
	return t
}

// prefixOf returns the prefix of an installed Python package, which holds the
// libraries and headers if another package installs them.
func prefixOf(pkg string) string {
	python := filepath.Dir(filepath.Dir(pkg))
	if !strings.HasPrefix(filepath.Base(python), "python3") {
		return ""
	}
	return filepath.Dir(filepath.Dir(python))
}

// debian reports whether the libraries are from a package of Debian or Ubuntu.
func (t *Torch) debian() bool {
	real, err := filepath.EvalSymlinks(t.Lib)
	return err == nil && filepath.Dir(real) == "/usr/lib" && multiarch(real)
}

// findLibraries looks for the libraries below a folder, unless they are known.
func (t *Torch) findLibraries(place string) {
	more, _ := filepath.Glob(filepath.Join(escape.Replace(place), "lib", "*-linux-gnu*"))
	for _, dir := range append([]string{filepath.Join(place, "lib"), filepath.Join(place, "lib64"), place}, more...) {
		for _, file := range versions(dir, "torch_cpu") {
			if t.Lib == "" {
				t.Lib, t.link = folderOf(file)
			}
		}
	}
}

// versions returns the files of a library in a folder: the one for the linker, or without it those that programs load.
func versions(dir, stem string) []string {
	file := filepath.Join(dir, libName(stem))
	if exists(file) {
		return []string{file}
	}
	found, _ := filepath.Glob(escape.Replace(file) + ".[0-9]*")
	return slices.DeleteFunc(found, func(f string) bool { return !exists(f) })
}

// folderOf returns the folder in which the loader finds libtorch_cpu and libc10 by their sonames, and the two files. A
// folder of links, such as Debian's torch/lib, may have other names.
func folderOf(cpu string) (string, []string) {
	dirs := []string{filepath.Dir(cpu)}
	if real, err := filepath.EvalSymlinks(cpu); err == nil {
		dirs = append(dirs, filepath.Dir(real))
	}
	for _, dir := range dirs {
		var link []string
		for _, stem := range []string{"torch_cpu", "c10"} {
			for _, file := range versions(filepath.Dir(cpu), stem) {
				if file = filepath.Join(dir, soname(file)); exists(file) {
					link = append(link, file)
					break
				}
			}
		}
		if len(link) == 2 {
			return dir, link
		}
	}
	return dirs[0], nil
}

var headers = []string{"ATen/ATen.h", "ATen/core/dispatch/Dispatcher.h", "c10/core/TensorImpl.h", versionHeader}

// findHeaders records the headers of a folder, if they are complete, and returns their folder.
func (t *Torch) findHeaders(place string) string {
	dir := filepath.Join(place, "include")
	if slices.ContainsFunc(headers, func(h string) bool { return !exists(filepath.Join(dir, h)) }) {
		return ""
	}
	t.Include = []string{dir, filepath.Join(dir, "torch/csrc/api/include")}
	t.Standard = standard(filepath.Join(dir, "ATen/ATen.h"))
	return dir
}

// check returns an error that names missing files.
func (t *Torch) check() error {
	switch {
	case t.Lib == "":
		return fmt.Errorf("it has no %s: install PyTorch again, or name another with -libtorch", libName("torch_cpu"))
	case len(t.link) < 2:
		return fmt.Errorf("it has no %s beside %s: install it again, or name another with -libtorch",
			libName("c10"), libName("torch_cpu"))
	case len(t.Include) == 0:
		cure := "install PyTorch again from its wheel, which has them in torch/include, or name another with -libtorch"
		if t.debian() {
			cure = "apt-get install libtorch-dev, or name another with -libtorch"
		}
		return fmt.Errorf("%w: %s", ErrNoHeaders, cure)
	}
	var err error
	if t.CXX11, err = cxx11(t.link[1]); err != nil {
		return fmt.Errorf("%w: install it again, or name another with -libtorch", err)
	}
	return nil
}
