package torch

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opassert/opassert/asserts/libtorch"
	"github.com/opassert/opassert/internal/dev/must"
)

func TestTexts(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("libraries elsewhere are not ELF")
	}
	source, lib := filepath.Join(t.TempDir(), "texts.c"), filepath.Join(t.TempDir(), "texts.so")
	must.Do(t, os.WriteFile(source, []byte(`
const char *const all[] = {"zstd-fast", "9lives", "kind must be one of 'a' or 'b'", "a:b", "a_word_of_more_than_24_letters", "a\tb c d e f", "nothing;to;say"};
`), 0o666))
	if out, err := exec.Command("cc", "-shared", "-fPIC", "-o", lib, source).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if diff := cmp.Diff([]string{"kind must be one of 'a' or 'b'", "zstd-fast"}, slices.Sorted(slices.Values(texts(lib)))); diff != "" {
		t.Error(diff)
	}
	if got := texts(source); got != nil {
		t.Errorf("%q in what is not a library", got)
	}
}

func TestOwnLine(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ops.cpp")
	must.Do(t, os.WriteFile(file, []byte(`void f() { call("g(x)"); }
TORCH_LIBRARY(my, m) {
  m.def("f(Tensor x) -> Tensor");
  m.def("my::g(Tensor x) -> Tensor");
  m.def("g.out(Tensor x) -> Tensor");
  m.impl("h", h);
}
`), 0o666))
	for op, want := range map[string]int{"my::f": 3, "my::g": 4, "my::g.out": 5, "my::h": 6, "my::i": 2} {
		if got := OwnLine(&libtorch.Op{Name: op, Namespace: "my", File: file, Line: 2}, nil); got != want {
			t.Errorf("%s: line %d, want %d", op, got, want)
		}
	}
	must.Do(t, os.WriteFile(file, []byte(`#define LIBRARY() TORCH_LIBRARY(my, m) { \
  m.def("f(Tensor x) -> Tensor"); }
#define DEFINE(name, kernel) m.def(#name "(Tensor x) -> Tensor", kernel);
LIBRARY()
TORCH_LIBRARY_FRAGMENT(my, m) {
  // g and h, each with a kernel
  DEFINE(g, g_cpu)
  DEFINE( h , h_cpu)
  m.impl("i", j);
}
`), 0o666))
	for op, at := range map[string][2]int{"my::f": {4, 2}, "my::g": {5, 7}, "my::h": {5, 8}, "my::i": {5, 9}, "my::k": {5, 5}, "my::g_cpu": {99, 99}, "my::x": {0, 0}} {
		if got := OwnLine(&libtorch.Op{Name: op, Namespace: "my", File: file, Line: at[0]}, nil); got != at[1] {
			t.Errorf("by a macro, %s: line %d, want %d", op, got, at[1])
		}
	}
	if got := OwnLine(&libtorch.Op{Name: "my::f", Namespace: "my", File: file + "x", Line: 7}, nil); got != 7 {
		t.Errorf("without the source: line %d, want 7", got)
	}
}

// A source is found from a folder above a library, as its compiler was started there.
func TestOwnLineFromAbove(t *testing.T) {
	root := t.TempDir()
	must.Do(t, os.MkdirAll(filepath.Join(root, "csrc"), 0o777))
	must.Do(t, os.WriteFile(filepath.Join(root, "csrc", "ops.cpp"), []byte("\nm.def(\"f(Tensor x) -> Tensor\");\n"), 0o666))
	elsewhere, built := filepath.Join(t.TempDir(), "a.so"), filepath.Join(root, "build", "lib", "b.so")
	for _, tt := range []struct {
		file      string
		libraries []string
		want      int
	}{
		{"csrc/ops.cpp", []string{elsewhere, built}, 2},
		{"csrc/ops.cpp", []string{built, elsewhere}, 2},
		{"csrc/ops.cpp", []string{elsewhere}, 1},
		{"/csrc/ops.cpp", []string{built}, 1},
	} {
		if got := OwnLine(&libtorch.Op{Name: "my::f", Namespace: "my", File: tt.file, Line: 1}, tt.libraries); got != tt.want {
			t.Errorf("%s of %q: line %d, want %d", tt.file, tt.libraries, got, tt.want)
		}
	}
}

func TestOwnSource(t *testing.T) {
	for file, want := range map[string]bool{
		"/pytorch/aten/src/ATen/native/x.cpp": true, "../torch/csrc/jit/x.cpp": true, "aten/src/ATen/x.cpp": true, "/pytorch/build/xpu/ATen/x.cpp": true, "/home/me/torch/x.cpp": false, "/root/xla/torch_xla/csrc/x.cpp": false, "/src/caffe2ish/x.cpp": false,
	} {
		if ownSource(file) != want {
			t.Errorf("%s: %v", file, !want)
		}
	}
}
