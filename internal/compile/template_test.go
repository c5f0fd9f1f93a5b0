//go:build linux

package compile

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/opassert/opassert/internal/installed"
)

// prebuilt makes a package: a command, and the template of a library beside it. The
// compiler may be removed then.
func prebuilt(t *testing.T) (dir string, torch *installed.Torch, templates string) {
	t.Helper()
	dir, torch, _ = setUp(t)
	command := filepath.Join(dir, "package", "bin", "opassert")
	write(t, command, "")
	do(t, os.Chmod(command, 0o755))
	templates = filepath.Join(dir, "package", "lib", "opassert")
	do(t, os.MkdirAll(templates, 0o755))
	was := packageFolder
	t.Cleanup(func() { packageFolder = was })
	packageFolder = func() (string, string, error) { return command, templates, nil }
	do(t, library(unit).Template(torch, templates))
	t.Setenv("CXX", filepath.Join(dir, "no-such-compiler"))
	return dir, torch, templates
}

// A template works with each installation of its release.
func TestTemplate(t *testing.T) {
	dir, torch, templates := prebuilt(t)
	if left, _ := filepath.Glob(filepath.Join(templates, "*")); len(left) != 2 {
		t.Errorf("the package has %q", left)
	}
	for _, place := range []struct{ folder, version string }{{torch.Root, "2.3.4+cpu"}, {filepath.Join(dir, "moved"), "2.3.4+cu12"}} {
		if place.folder != torch.Root {
			do(t, os.Rename(torch.Root, place.folder))
		}
		write(t, filepath.Join(place.folder, "build-version"), place.version)
		there, err := installed.Inspect(place.folder)
		do(t, err)
		file := path(t, library(unit), there)
		if linked := installed.LinkedTo(file); linked != there.Lib {
			t.Errorf("the library is linked to libraries in %q, not in %q", linked, there.Lib)
		}
		text, err := os.ReadFile(file)
		do(t, err)
		if !bytes.Contains(text, []byte(place.version+"\x00")) || bytes.Contains(text, []byte("___")) {
			t.Errorf("%s has another version, or a placeholder", file)
		}
	}
}

// A template that does not fit, or that others could have written, is not used.
func TestTemplateNotUsed(t *testing.T) {
	each := func(pattern string, do func(name string)) func(*testing.T, string, *installed.Torch) {
		return func(t *testing.T, templates string, _ *installed.Torch) {
			files, _ := filepath.Glob(filepath.Join(templates, pattern))
			if len(files) != 1 {
				t.Fatalf("%q", files)
			}
			do(files[0])
		}
	}
	appended := func(name string) {
		f, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0)
		do(t, err)
		defer f.Close()
		_, err = f.WriteString("x")
		do(t, err)
	}
	tests := map[string]func(*testing.T, string, *installed.Torch){
		"nothing is wrong": nil,
		"a header differs": func(t *testing.T, _ string, torch *installed.Torch) {
			write(t, filepath.Join(torch.Include[0], "torch/csrc/api/include/torch/version.h"), "#define CHANGED\n")
		},
		"a header is gone": func(t *testing.T, _ string, torch *installed.Torch) {
			do(t, os.Rename(filepath.Join(torch.Include[0], "torch/csrc"), filepath.Join(torch.Include[0], "gone")))
		},
		"another release":   func(_ *testing.T, _ string, torch *installed.Torch) { torch.Version = "2.3.5+cpu" },
		"a longer version":  func(_ *testing.T, _ string, torch *installed.Torch) { torch.Version += strings.Repeat("x", 96) },
		"another ABI":       func(_ *testing.T, _ string, torch *installed.Torch) { torch.CXX11 = !torch.CXX11 },
		"changed":           each("*.so", appended),
		"list changed":      each("*.headers", appended),
		"list gone":         each("*.headers", func(name string) { do(t, os.Remove(name)) }),
		"all can write":     each("*.so", func(name string) { do(t, os.Chmod(name, 0o777)) }),
		"list, all can":     each("*.headers", func(name string) { do(t, os.Chmod(name, 0o777)) }),
		"of another user":   each("*.so", func(name string) { chown(t, name, stranger) }),
		"folder, all can":   func(t *testing.T, templates string, _ *installed.Torch) { do(t, os.Chmod(templates, 0o777)) },
		"folder, another's": func(t *testing.T, templates string, _ *installed.Torch) { chown(t, templates, stranger) },
		"parent, all can": func(t *testing.T, templates string, _ *installed.Torch) {
			do(t, os.Chmod(filepath.Dir(templates), 0o777))
		},
		"named pipe": each("*.so", func(name string) {
			do(t, os.Remove(name))
			do(t, mkfifo(name))
		}),
		"link": each("*.so", func(name string) {
			do(t, os.Rename(name, name+".real"))
			do(t, os.Symlink(name+".real", name))
		}),
	}
	for name, spoil := range tests {
		t.Run(name, func(t *testing.T) {
			_, torch, templates := prebuilt(t)
			if spoil != nil {
				spoil(t, templates, torch)
			}
			if _, err := library(unit).Path(torch); (err == nil) != (spoil == nil) {
				t.Errorf("%v", err)
			}
		})
	}
}

// Without a compiler the error lists the releases that need none, or says why this
// one needs one.
func TestTemplateErrors(t *testing.T) {
	_, torch, templates := prebuilt(t)
	for _, name := range []string{"libtorch-2.10.0-test-template-1.so", "libtorch-2.9.1-test-template-1.so", "libtorch-2.1.0-other-template-1.so"} {
		write(t, filepath.Join(templates, name), "")
	}
	torch.Version = "2.3.5+cpu"
	if _, err := library(unit).Path(torch); !errors.Is(err, ErrNoCompiler) || !strings.HasSuffix(err.Error(), "; opassert brings libraries for libtorch 2.3.4, 2.9.1, 2.10.0") {
		t.Errorf("another release: %v", err)
	}
	torch.Version = "2.3.4+cpu"
	write(t, filepath.Join(torch.Include[0], "torch/csrc/api/include/torch/version.h"), "#define CHANGED\n")
	if _, err := library(unit).Path(torch); !errors.Is(err, ErrNoCompiler) || !strings.Contains(err.Error(), "; the library that came with opassert for this release cannot be used: ") || !strings.HasSuffix(err.Error(), "has other headers than its release") {
		t.Errorf("other headers: %v", err)
	}
}

// A group that can write to the command, as with the umask of many systems, may also
// be able to write to the templates.
func TestTemplateOfAGroup(t *testing.T) {
	dir, torch, templates := prebuilt(t)
	do(t, os.Chmod(filepath.Join(dir, "package", "bin", "opassert"), 0o775))
	for _, name := range []string{"", "lib", "bin", "lib/opassert"} {
		do(t, os.Chmod(filepath.Join(dir, "package", name), 0o775))
	}
	files, _ := filepath.Glob(filepath.Join(templates, "*"))
	for _, file := range files {
		do(t, os.Chmod(file, 0o664))
	}
	path(t, library(unit), torch)
}

// Templates of the same sources and headers have the same bytes.
func TestTemplatesAreEqual(t *testing.T) {
	dir, torch, templates := prebuilt(t)
	t.Setenv("CXX", "")
	do(t, os.Rename(torch.Root, filepath.Join(dir, "elsewhere")))
	moved, err := installed.Inspect(filepath.Join(dir, "elsewhere"))
	do(t, err)
	again := filepath.Join(dir, "again")
	do(t, os.Mkdir(again, 0o755))
	do(t, library(unit).Template(moved, again))
	files, _ := filepath.Glob(filepath.Join(templates, "*"))
	for _, file := range files {
		one, err := os.ReadFile(file)
		do(t, err)
		two, err := os.ReadFile(filepath.Join(again, filepath.Base(file)))
		do(t, err)
		if !bytes.Equal(one, two) {
			t.Errorf("%s differs", filepath.Base(file))
		}
	}
}

// A library that depends on libc alone is taken from the package unchanged.
func TestPackagedObject(t *testing.T) {
	_, _, templates := prebuilt(t)
	compiler := os.Getenv("CXX")
	t.Setenv("CXX", "")
	file, err := Plain("object", "int object;")
	do(t, err)
	do(t, os.Rename(file, filepath.Join(templates, filepath.Base(file))))
	t.Setenv("CXX", compiler)
	if again, err := Plain("object", "int object;"); err != nil || again != file {
		t.Errorf("%s: %v", again, err)
	}
	if _, err := Plain("object", "int another;"); err == nil {
		t.Error("another object is found")
	}
}
