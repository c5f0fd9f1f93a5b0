package compile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/opassert/opassert/internal/dev/must"
	"github.com/opassert/opassert/internal/installed"
)

// unit is C++ that compiles only with the flags of a libtorch.
const unit = `#include "part.cpp"
#include <torch/csrc/api/include/torch/version.h>
static_assert(__cplusplus >= 202002L && _GLIBCXX_USE_CXX11_ABI == 0, "flags");
extern "C" const char *version() { return OPASSERT_LIBTORCH_VERSION; }
`

func library(source string) *CppLibrary {
	return &CppLibrary{Name: "test", Units: []string{"unit.cpp"}, Files: []fs.FS{
		fstest.MapFS{"unit.cpp": {Data: []byte(source)}},
		fstest.MapFS{"part.cpp": {Data: []byte("int part;\n")}},
	}}
}

// setUp makes an empty libtorch and a compiler that counts its runs, in a folder of
// the test, and points the caches there.
func setUp(t *testing.T) (dir string, torch *installed.Torch, compiled func() int) {
	t.Helper()
	compiler, err := exec.LookPath("g++")
	if err != nil {
		t.Skip(err)
	}
	dir = t.TempDir()
	root := filepath.Join(dir, "a, torch")
	for _, name := range []string{"c10/core/TensorImpl.h", "ATen/core/dispatch/Dispatcher.h", "ATen/ATen.h", "torch/csrc/api/include/torch/version.h"} {
		write(t, filepath.Join(root, "include", name), "#if __cplusplus < 202002L\n#error\n#endif\n")
	}
	write(t, filepath.Join(root, "build-version"), "2.3.4+cpu")
	source := filepath.Join(dir, "c10.c")
	write(t, source, "void _ZN3c105ErrorC1ENS_14SourceLocationESs(void) {}")
	os.Mkdir(filepath.Join(root, "lib"), 0o777)
	for _, name := range []string{"libc10.so", "libtorch_cpu.so"} {
		args := []string{"-x", "c", "-shared", "-fPIC", "-o", filepath.Join(root, "lib", name), source, "-Wl,-soname," + name}
		if out, err := exec.Command(compiler, args...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	torch = must.Get(installed.Inspect(root))(t)
	log := filepath.Join(dir, "log")
	write(t, filepath.Join(dir, "my tools", "c++"), "#!/bin/sh\necho >>"+log+"\nexec "+compiler+" \"$@\"\n")
	t.Setenv("CXX", filepath.Join(dir, "my tools", "c++"))
	t.Setenv("XDG_CACHE_HOME", filepath.Join(dir, "cache"))
	t.Setenv("TMPDIR", filepath.Join(dir))
	persistent = filepath.Join(dir, "lasting")
	must.Do(t, os.Mkdir(persistent, 0o700))
	return dir, torch, func() int {
		text, _ := os.ReadFile(log)
		return strings.Count(string(text), "\n")
	}
}

func write(t *testing.T, file, text string) {
	t.Helper()
	must.Do(t, os.MkdirAll(filepath.Dir(file), 0o777))
	must.Do(t, os.WriteFile(file, []byte(text), 0o777))
}

func path(t *testing.T, l *CppLibrary, torch *installed.Torch) string {
	t.Helper()
	return must.Get(l.Path(torch))(t)
}

// Many first uses at once compile once, and a later one needs no compiler.
func TestOnce(t *testing.T) {
	dir, torch, compiled := setUp(t)
	var uses sync.WaitGroup
	for range 3 {
		uses.Go(func() { path(t, library(unit), torch) })
	}
	uses.Wait()
	if n := compiled(); n != 1 {
		t.Errorf("three first uses compiled %d times", n)
	}
	t.Setenv("CXX", filepath.Join(dir, "no-such-compiler"))
	file := path(t, library(unit), torch)
	if linked := installed.LinkedTo(file); linked != torch.Lib {
		t.Errorf("the library is linked to libraries in %q", linked)
	}
	left, _ := filepath.Glob(filepath.Join(dir, "cache", "opassert", "*"))
	if len(left) != 2 { // the library, and its lock
		t.Errorf("the cache holds %q", left)
	}
}

// Other inputs make another library; a truncated one is made again.
func TestAnother(t *testing.T) {
	_, torch, compiled := setUp(t)
	first := path(t, library(unit), torch)
	if path(t, library(unit+"int more;\n"), torch) == first {
		t.Error("other sources make the same library")
	}
	later := time.Now().Add(time.Hour)
	must.Do(t, os.Chtimes(torch.Link()[1], later, later))
	third := path(t, library(unit), torch)
	if third == first || compiled() != 3 {
		t.Errorf("another libc10 makes the same library: compiled %d times", compiled())
	}
	must.Do(t, os.Truncate(third, 1000))
	if path(t, library(unit), torch) != third || compiled() != 4 {
		t.Error("a truncated library is used")
	}
}

func TestCompilers(t *testing.T) {
	dir, torch, _ := setUp(t)
	real, err := exec.LookPath("g++")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("CXX", "  env X=1 "+real+"  -DWORDS ")
	path(t, library(unit+"int words = sizeof(struct W *) + 0\n#ifdef WORDS\n;\n#endif\n"), torch)

	for _, cxx := range []string{"no-such-compiler", filepath.Join(dir, "log"), "no such"} {
		t.Setenv("CXX", cxx)
		if _, err := library(unit + "int " + "a;").Path(torch); !errors.Is(err, ErrNoCompiler) || !strings.Contains(err.Error(), "CXX="+cxx) {
			t.Errorf("CXX=%s: %v", cxx, err)
		}
	}
	t.Setenv("CXX", "")
	t.Setenv("PATH", dir)
	_, err = library(unit + "int a;").Path(torch)
	if !errors.Is(err, ErrNoCompiler) || !strings.Contains(err.Error(), "libtorch 2.3.4+cpu in "+torch.Root) || !strings.Contains(err.Error(), "install g++") {
		t.Errorf("without a compiler: %v", err)
	}
}

// Errors of the compiler are short, and nothing is left behind.
func TestCompileError(t *testing.T) {
	dir, torch, _ := setUp(t)
	_, err := library(unit + strings.Repeat("wrong;\n", 40)).Path(torch)
	if err == nil {
		t.Fatal("no error")
	}
	text := err.Error()
	if !strings.Contains(text, "unit.cpp:5:") || !strings.Contains(text, "lines more") || strings.Count(text, "\n") > 12 {
		t.Errorf("the error is\n%s", text)
	}
	if strings.Contains(text, dir+"/opassert") {
		t.Errorf("the error names a temporary folder:\n%s", text)
	}
	for _, pattern := range []string{"opassert-test*", "cache/opassert/*.so*"} {
		left, _ := filepath.Glob(filepath.Join(dir, pattern))
		for _, file := range left {
			if !strings.HasSuffix(file, ".lock") {
				t.Errorf("%s is left", file)
			}
		}
	}
}

// If the cache is not writable, another folder that only the user can write to is used.
func TestCacheFolders(t *testing.T) {
	dir, torch, compiled := setUp(t)
	write(t, filepath.Join(dir, "file"), "")
	t.Setenv("XDG_CACHE_HOME", filepath.Join(dir, "file"))
	first := path(t, library(unit), torch)
	info, err := os.Stat(filepath.Dir(first))
	temporary := filepath.Join(dir, fmt.Sprintf("opassert-%d", os.Geteuid()))
	if err != nil || info.Mode().Perm() != 0o700 || filepath.Dir(first) != temporary {
		t.Errorf("%s is in a folder of mode %v, %v", first, info.Mode(), err)
	}
	if path(t, library(unit), torch) != first || compiled() != 1 {
		t.Error("it is not found again")
	}
	must.Do(t, os.Chmod(temporary, 0o777))
	second := path(t, library(unit), torch)
	if filepath.Dir(second) == temporary {
		t.Errorf("%s is in a folder that all can write", second)
	}
	if path(t, library(unit), torch) != second || compiled() != 2 {
		t.Error("the library in another folder is not found again")
	}
	t.Setenv("HOME", "")
	t.Setenv("XDG_CACHE_HOME", "")
	path(t, library(unit), torch)
}

// A signal that ends the process ends the compiler first, and leaves no scratch files in the cache.
func TestInterrupted(t *testing.T) {
	dir, torch, _ := setUp(t)
	write(t, filepath.Join(dir, "c++"), "#!/bin/sh\ntouch scratch\nkill -TERM $PPID\nsleep 1000\n")
	t.Setenv("CXX", filepath.Join(dir, "c++"))
	_, err := library(unit).Path(torch)
	var interrupted *Interrupted
	if !errors.As(err, &interrupted) || interrupted.Signal != syscall.SIGTERM {
		t.Errorf("%v, want an interruption by SIGTERM", err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "cache", "opassert", "*"+partMark+"*")); len(left) > 0 {
		t.Errorf("the cache holds %q", left)
	}
}
