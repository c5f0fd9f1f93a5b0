package installed

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opassert/opassert/internal/dev/must"
)

// A maker makes installations with every file that is read, and nothing else.
type maker struct {
	t   testing.TB
	dir string
}

func newMaker(t testing.TB) *maker {
	if _, err := exec.LookPath("cc"); err != nil {
		t.Skip("shared libraries are made with a C compiler: ", err)
	}
	dir := must.Get(filepath.EvalSymlinks(t.TempDir()))(t)
	return &maker{t, dir}
}

func (m *maker) path(name string) string { return filepath.Join(m.dir, name) }

func (m *maker) write(name, text string) {
	m.t.Helper()
	if err := os.MkdirAll(filepath.Dir(m.path(name)), 0o777); err != nil {
		m.t.Fatal(err)
	}
	if err := os.WriteFile(m.path(name), []byte(text), 0o777); err != nil {
		m.t.Fatal(err)
	}
}

// link makes a link, to a name relative to the maker's folder.
func (m *maker) link(name, to string) {
	m.t.Helper()
	if err := os.MkdirAll(filepath.Dir(m.path(name)), 0o777); err != nil {
		m.t.Fatal(err)
	}
	if err := os.Symlink(m.path(to), m.path(name)); err != nil {
		m.t.Fatal(err)
	}
}

// shared makes a shared library with flags for the linker.
func (m *maker) shared(name, source string, flags ...string) {
	m.t.Helper()
	m.write(name+".c", source)
	args := append([]string{"-shared", "-fPIC", "-o", m.path(name), m.path(name + ".c")}, flags...)
	if out, err := exec.Command("cc", args...).CombinedOutput(); err != nil {
		m.t.Fatalf("%v\n%s", err, out)
	}
	os.Remove(m.path(name + ".c"))
}

const (
	oldStrings = "void _ZN3c105ErrorC1ENS_14SourceLocationESs(void) {}"
	newStrings = "void _ZN3c105ErrorC1ENS_14SourceLocationENSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE(void) {}"
)

func (m *maker) libraries(dir, strings, version string) {
	m.shared(dir+"/libc10.so"+version, strings, "-Wl,-soname,libc10.so"+version)
	m.shared(dir+"/libtorch_cpu.so"+version, "", "-Wl,-soname,libtorch_cpu.so"+version)
}

func (m *maker) headers(dir, standard string) {
	for _, h := range headers {
		m.write(dir+"/"+h, "")
	}
	m.write(dir+"/ATen/ATen.h", "#if !defined(_MSC_VER) && __cplusplus < "+standard+"L\n#error\n#endif\n")
	m.write(dir+"/"+versionHeader, "#define TORCH_VERSION_MAJOR 2\n#define TORCH_VERSION_MINOR 3\n#define TORCH_VERSION_PATCH 4\n")
}

func (m *maker) wheel(dir, version string) {
	m.write(dir+"/__init__.py", "")
	m.write(dir+"/version.py", "from typing import Optional\n__version__ = '"+version+"'\n")
	m.libraries(dir+"/lib", newStrings, "")
	m.headers(dir+"/include", "201703")
}

func TestInspect(t *testing.T) {
	m := newMaker(t)
	m.libraries("unpacked/lib", oldStrings, "")
	m.headers("unpacked/include", "202002")
	m.write("unpacked/build-version", "2.3.4+cpu\n")

	m.wheel("a [new] env/lib/python3.12/site-packages/torch", "2.6.0+cu124")
	m.write("a [new] env/lib/python3.12/site-packages/torchgen/packaged/ATen/native/native_functions.yaml", "")

	m.libraries("conda/lib", newStrings, "")
	m.headers("conda/include", "201703")
	m.write("conda/lib/python3.11/site-packages/torch/__init__.py", "")
	m.write("conda/lib/python3.11/site-packages/torch/version.py", "__version__ = '2.4.1.post100'\n")
	m.write("conda/conda-meta/libtorch-2.4.1-cpu_generic_h1.json", "{}")

	// Debian's: links beside the package, with other names than the libraries.
	m.libraries("usr/lib/x86_64-linux-gnu", newStrings, ".1.13")
	m.link("usr/lib/x86_64-linux-gnu/libtorch_cpu.so", "usr/lib/x86_64-linux-gnu/libtorch_cpu.so.1.13")
	m.link("usr/lib/x86_64-linux-gnu/libc10.so", "usr/lib/x86_64-linux-gnu/libc10.so.1.13")
	m.headers("usr/include", "201402")
	m.write("usr/lib/python3/dist-packages/torch/__init__.py", "")
	m.write("usr/lib/python3/dist-packages/torch/version.py", "__version__ = '1.13.0a0'\n")
	m.link("usr/lib/python3/dist-packages/torch/lib/libtorch_cpu.so", "usr/lib/x86_64-linux-gnu/libtorch_cpu.so")
	m.link("usr/lib/python3/dist-packages/torch/lib/libc10.so", "usr/lib/x86_64-linux-gnu/libc10.so")
	m.link("usr/lib/python3/dist-packages/torch/include/ATen", "usr/include/ATen")

	// Every file is a link into a cache, as with some installers.
	m.wheel("cache/archive/torch", "2.7.1")
	for _, name := range append([]string{"__init__.py", "version.py", "lib/libc10.so", "lib/libtorch_cpu.so"}, "include") {
		m.link("linked/lib64/python3.13/site-packages/torch/"+name, "cache/archive/torch/"+name)
	}

	for _, tt := range []struct{ dir, root, lib, version, standard string }{
		{"unpacked", "unpacked", "unpacked/lib", "2.3.4+cpu", "c++20"},
		{"unpacked/lib", "unpacked", "unpacked/lib", "2.3.4+cpu", "c++20"},
		{"a [new] env", "a [new] env/lib/python3.12/site-packages/torch", "a [new] env/lib/python3.12/site-packages/torch/lib", "2.6.0+cu124", "c++17"},
		{"a [new] env/lib/python3.12/site-packages", "a [new] env/lib/python3.12/site-packages/torch", "a [new] env/lib/python3.12/site-packages/torch/lib", "2.6.0+cu124", "c++17"},
		{"conda", "conda", "conda/lib", "2.4.1", "c++17"},
		{"conda/lib/python3.11/site-packages/torch", "conda/lib/python3.11/site-packages/torch", "conda/lib", "2.4.1.post100", "c++17"},
		{"usr", "usr", "usr/lib/x86_64-linux-gnu", "2.3.4", "c++17"},
		{"usr/lib/x86_64-linux-gnu", "usr", "usr/lib/x86_64-linux-gnu", "2.3.4", "c++17"},
		{"usr/lib/python3/dist-packages/torch", "usr/lib/python3/dist-packages/torch", "usr/lib/x86_64-linux-gnu", "1.13.0a0", "c++17"},
		{"linked", "linked/lib64/python3.13/site-packages/torch", "linked/lib64/python3.13/site-packages/torch/lib", "2.7.1", "c++17"},
	} {
		got, err := Inspect(m.path(tt.dir))
		if err != nil {
			t.Error(err)
			continue
		}
		if err := got.Usable(); err != nil {
			t.Errorf("%s: %v", tt.dir, err)
		}
		want := []string{m.path(tt.root), m.path(tt.lib), tt.version, tt.standard}
		if diff := cmp.Diff(want, []string{got.Root, got.Lib, got.Version, got.Standard}); diff != "" {
			t.Errorf("%s: -want +got:\n%s", tt.dir, diff)
		}
		if got.CXX11 != (tt.root != "unpacked") {
			t.Errorf("%s: C++11 strings: %v", tt.dir, got.CXX11)
		}
		if again, err := Inspect(got.Root); err != nil || again.Lib != got.Lib || again.Root != got.Root {
			t.Errorf("%s is found in %s, which is %v, %v", tt.dir, got.Root, again, err)
		}
	}
	torch := must.Get(Inspect(m.path("a [new] env")))(t)
	if file, err := torch.Schemas(); err != nil || !strings.HasSuffix(file, "site-packages/torchgen/packaged/ATen/native/native_functions.yaml") {
		t.Errorf("its schemas are in %s, %v", file, err)
	}
	if torch.Number() != "2.6.0" {
		t.Errorf("its number is %s", torch.Number())
	}
}

// The error about a broken installation says how to repair it.
func TestBroken(t *testing.T) {
	m := newMaker(t)
	m.libraries("headless/lib", newStrings, "")
	m.libraries("dangling/lib", newStrings, "")
	m.link("dangling/include", "nowhere")
	m.headers("half/include", "201703")
	m.shared("half/lib/libtorch_cpu.so", "")
	m.headers("pointer/include", "201703")
	m.shared("pointer/lib/libtorch_cpu.so", "")
	m.write("pointer/lib/libc10.so", "version https://git-lfs.github.com/spec/v1\n")
	m.write("pure/torch/__init__.py", "")
	m.write("pure/torch/version.py", "__version__ = '2.9.9'\n")
	m.write("pure/torch/build-version", "")
	m.headers("headers/include", "201703")
	m.write("namespace/torch/notes.txt", "")
	m.write("file", "")
	for dir, want := range map[string]string{
		"headless":  "libtorch of unknown version in DIR: its C++ headers are missing: install PyTorch again from its wheel",
		"dangling":  "its C++ headers are missing",
		"half":      "it has no libc10.so beside libtorch_cpu.so",
		"pointer":   "libc10.so is not a shared library",
		"pure":      "libtorch 2.9.9 in DIR/torch: it has no libtorch_cpu.so",
		"headers":   "DIR: no libtorch: no libtorch_cpu.so in lib",
		"namespace": "DIR: no libtorch: ",
		"file":      "DIR is not a folder",
		"nothing":   "no folder DIR",
	} {
		_, _, err := Find(m.path(dir))
		want = "-libtorch: " + strings.ReplaceAll(want, "DIR", m.path(dir))
		if err == nil || !strings.Contains(err.Error(), strings.TrimPrefix(want, "-libtorch: ")) || !strings.HasPrefix(err.Error(), "-libtorch: ") {
			t.Errorf("%s: %v, want %s", dir, err, want)
		}
		if headers := strings.Contains(want, "headers"); errors.Is(err, ErrNoHeaders) != headers && dir != "headers" {
			t.Errorf("%s: ErrNoHeaders is %v in %v", dir, !headers, err)
		}
	}
}

// python makes a Python with this torch, or none.
func (m *maker) python(name, torch string) string {
	text := "#!/bin/sh\necho a greeting of sitecustomize\n"
	if torch != "" {
		text += "echo 'torch in " + m.path(torch) + "'\n"
	}
	m.write(name, text)
	return filepath.Dir(m.path(name))
}

func TestFind(t *testing.T) {
	m := newMaker(t)
	System = []string{m.path("system")}
	defer func(was []string) { System = was }(System)
	m.wheel("named/torch", "2.1.0")
	m.wheel("venv/lib/python3.12/site-packages/torch", "2.2.0")
	m.wheel("conda/lib/python3.12/site-packages/torch", "2.3.0")
	m.wheel("user/torch", "2.4.0")
	m.wheel("headless/torch", "2.0.0")
	m.wheel("system/lib/python3/dist-packages/torch", "2.5.0")
	os.RemoveAll(m.path("headless/torch/include"))
	m.wheel("linked/torch", "2.6.0")
	m.shared("ops/inner.so", "", "-Wl,--no-as-needed", m.path("linked/torch/lib/libtorch_cpu.so"), "-Wl,-rpath,"+m.path("linked/torch/lib"))
	m.shared("ops/libops.so", "", "-Wl,--no-as-needed", m.path("ops/inner.so"), "-Wl,-rpath,$ORIGIN")
	m.shared("ops/libfree.so", "")

	with, without := m.python("bin/python3", "user/torch"), m.python("empty/python3", "")
	m.python("user/bin/python3", "user/torch")
	headless := m.python("headless/bin/python", "headless/torch")
	for _, tt := range []struct {
		name                         string
		dir, lib, named, venv, conda string
		home, path                   string
		taken, also                  string
	}{
		{name: "the command's environment", home: "conda", venv: "venv", path: with, taken: "2.3.0 opassert is installed beside it", also: "2.2.0 $VIRTUAL_ENV, 2.4.0 python3, 2.5.0 the system"},
		{name: "the command's environment, with what another one has", home: "user", venv: "venv", path: without, taken: "2.2.0 $VIRTUAL_ENV", also: "2.4.0 python3, 2.5.0 the system"},
		{name: "the flag", dir: "named/torch", named: "linked/torch", venv: "venv", path: with, taken: "2.1.0 -libtorch"},
		{name: "the variable", named: "named/torch", venv: "venv", path: with, taken: "2.1.0 $LIBTORCH", also: "2.2.0 $VIRTUAL_ENV, 2.4.0 python3, 2.5.0 the system"},
		{name: "a library", lib: "ops/libops.so", venv: "venv", path: without, taken: "2.6.0 libops.so is linked to it", also: "2.2.0 $VIRTUAL_ENV, 2.5.0 the system"},
		{name: "a library of no libtorch", lib: "ops/libfree.so", venv: "venv", path: without, taken: "2.2.0 $VIRTUAL_ENV", also: "2.5.0 the system"},
		{name: "not a library", lib: "bin/python3", path: without, taken: "2.5.0 the system"},
		{name: "two environments", venv: "venv", conda: "conda", path: without, taken: "2.2.0 $VIRTUAL_ENV", also: "2.3.0 $CONDA_PREFIX, 2.5.0 the system"},
		{name: "conda", conda: "conda", path: with, taken: "2.3.0 $CONDA_PREFIX", also: "2.4.0 python3, 2.5.0 the system"},
		{name: "an environment without torch", venv: "ops", path: with, taken: "2.4.0 python3", also: "2.5.0 the system"},
		{name: "one without headers", path: headless, taken: "2.5.0 the system", also: "2.0.0 python"},
		{name: "the system", path: without, taken: "2.5.0 the system"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for name, value := range map[string]string{"LIBTORCH": tt.named, "VIRTUAL_ENV": tt.venv, "CONDA_PREFIX": tt.conda} {
				if value != "" {
					value = m.path(value)
				}
				t.Setenv(name, value)
			}
			t.Setenv("PATH", tt.path)
			defer func(was func() string) { home = was }(home)
			home = func() string { return strings.TrimSuffix(m.path(tt.home), m.path("")) }
			dir, libs := tt.dir, []string(nil)
			if dir != "" {
				dir = m.path(dir)
			}
			if tt.lib != "" {
				libs = []string{m.path(tt.lib)}
			}
			taken, others, err := Find(dir, libs...)
			if err != nil {
				t.Fatal(err)
			}
			var also []string
			for _, o := range others {
				also = append(also, o.Version+" "+o.Found)
			}
			got := []string{taken.Version + " " + taken.Found, strings.Join(also, ", ")}
			if diff := cmp.Diff([]string{tt.taken, tt.also}, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
	t.Run("nothing", func(t *testing.T) {
		System = nil
		for _, name := range []string{"LIBTORCH", "VIRTUAL_ENV", "CONDA_PREFIX"} {
			t.Setenv(name, "")
		}
		t.Setenv("PATH", without)
		if _, _, err := Find(""); err != ErrNotFound {
			t.Errorf("found nothing, and %v", err)
		}
		if _, _, err := FindSchemas(""); err != ErrNotFound {
			t.Errorf("found no schemas, and %v", err)
		}
		t.Setenv("PATH", headless)
		if _, _, err := Find(""); !errors.Is(err, ErrNoHeaders) || !strings.Contains(err.Error(), m.path("headless/torch")) {
			t.Errorf("the one without headers gave %v", err)
		}
	})
}

// The command is installed in an environment if the files of one are beside its folder.
func TestEnvironmentOf(t *testing.T) {
	for mark, want := range map[string]bool{"pyvenv.cfg": true, "conda-meta": true, "lib": false} {
		prefix := must.Get(filepath.EvalSymlinks(t.TempDir()))(t)
		command := filepath.Join(prefix, "bin", "opassert")
		must.Do(t, os.MkdirAll(filepath.Dir(command), 0o755))
		must.Do(t, os.MkdirAll(filepath.Join(prefix, mark), 0o755))
		if got := environmentOf(command); got != "" {
			t.Errorf("%s: an absent command is installed in %q", mark, got)
		}
		must.Do(t, os.WriteFile(command, nil, 0o755))
		if got := environmentOf(command); (got == prefix) != want {
			t.Errorf("%s: installed in %q, want %v", mark, got, want)
		}
	}
}

// A Python whose PyTorch is too old for the ops of modules is an error.
func TestFindPython(t *testing.T) {
	m := newMaker(t)
	for version, old := range map[string]bool{"1.13.1": true, "2.3.1+cu121": true, "2.4.0": false, "2.10.0": false, "3.0.0": false} {
		m.wheel(version+"/torch", version)
		python, err := FindPython(filepath.Join(m.python(version+"/bin/python3", version+"/torch"), "python3"))
		refused := err != nil && strings.Contains(err.Error(), "has PyTorch "+version+": ops of modules need 2.4 or later")
		if refused != old || !old && (err != nil || python.Torch.Version != version) {
			t.Errorf("%s: %v", version, err)
		}
	}
}

func TestFindSchemas(t *testing.T) {
	m := newMaker(t)
	System = nil
	defer func(was []string) { System = was }(System)
	const file = "torchgen/packaged/ATen/native/native_functions.yaml"
	m.wheel("old/lib/python3.8/site-packages/torch", "1.10.0")
	m.wheel("new/torch", "2.4.0")
	m.write("new/"+file, "")
	t.Setenv("VIRTUAL_ENV", m.path("old"))
	t.Setenv("LIBTORCH", "")
	t.Setenv("CONDA_PREFIX", "")
	t.Setenv("PATH", m.python("bin/python3", "new/torch"))
	if got, torch, err := FindSchemas(""); err != nil || got != m.path("new/"+file) || torch.Version != "2.4.0" {
		t.Errorf("got %s of %v, %v", got, torch, err)
	}
	if _, _, err := FindSchemas(m.path("old")); err == nil || !strings.Contains(err.Error(), "libtorch 1.10.0 in "+m.path("old")) {
		t.Errorf("the named one has no file, and gave %v", err)
	}
}

// A library selects the PyTorch whose libtorch the loader would load with it.
func TestTakes(t *testing.T) {
	m := newMaker(t)
	m.wheel("new/torch", "2.15.0")
	m.wheel("copy/torch", "2.15.0")
	m.write("old/torch/__init__.py", "")
	m.write("old/torch/version.py", "__version__ = '0.9.1'\n")
	m.libraries("old/torch/lib", newStrings, ".0.9")
	m.headers("old/torch/include", "201402")
	m.link("old/torch/lib/libtorch_cpu.so", "old/torch/lib/libtorch_cpu.so.0.9")
	for name, of := range map[string]string{"ofnew.so": "new/torch/lib/libtorch_cpu.so", "ofold.so": "old/torch/lib/libtorch_cpu.so.0.9"} {
		m.shared(name, "", "-Wl,--no-as-needed", m.path(of), "-Wl,-rpath,"+filepath.Dir(m.path(of)))
		m.shared("lost"+name, "", "-Wl,--no-as-needed", m.path(of))
	}
	m.shared("ofnone.so", "")
	m.shared("bylink.so", "", "-Wl,--no-as-needed", m.path("new/torch/lib/libtorch_cpu.so"), "-Wl,-rpath,"+m.path("old/torch/lib"))
	of := func(version, dir string) string {
		return "built for libtorch " + version + " in " + m.path(dir) + " and needs "
	}
	for _, tt := range []struct{ library, torch, want string }{
		{"ofnew.so", "new/torch", ""},
		{"ofnew.so", "copy/torch", ""},
		{"lostofnew.so", "copy/torch", ""},
		{"ofold.so", "old/torch", ""},
		{"lostofold.so", "old/torch", ""},
		{"bylink.so", "old/torch", ""},
		{"ofnone.so", "old/torch", ""},
		{"new/torch/version.py", "old/torch", ""},
		{"ofold.so", "new/torch", of("0.9.1", "old/torch") + "libtorch_cpu.so.0.9, which is not of libtorch 2.15.0 in "},
		{"lostofold.so", "new/torch", "built for another PyTorch and needs libtorch_cpu.so.0.9, "},
		{"ofnew.so", "old/torch", of("2.15.0", "new/torch") + "libtorch_cpu.so, "},
	} {
		torch := must.Get(Inspect(m.path(tt.torch)))(t)
		err := torch.Takes(m.path(tt.library))
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s over %s: %v, want %q", tt.library, tt.torch, err, tt.want)
		}
	}
	for version, want := range map[string]string{"2.6.0": "libtorch 2.15.0 in " + m.path("new/torch"), "2.15.0": "another PyTorch"} {
		if got := BuiltFor(m.path("ofnew.so"), version); got != want {
			t.Errorf("over %s a library is built for %q, want %q", version, got, want)
		}
	}
}

// Libraries that a wheel needs and does not find itself are searched in Python's folders.
func TestPreload(t *testing.T) {
	m := newMaker(t)
	m.wheel("site/torch", "2.4.0")
	for name, flags := range map[string][]string{
		"elsewhere/nvidia/cuda_runtime/lib/libcudart.so.12": {"-Wl,-soname,libcudart.so.12"},
		"site/torch/lib/libgomp-1.so.1":                     {"-Wl,-soname,libgomp-1.so.1"},
		"nowhere/libother.so":                               {"-Wl,-soname,libother.so"},
	} {
		m.shared(name, "", flags...)
	}
	m.shared("site/torch/lib/libtorch_cpu.so", "", "-Wl,--no-as-needed", "-Wl,-soname,libtorch_cpu.so", "-Wl,-rpath,$ORIGIN/../../nvidia/cuda_runtime/lib:$ORIGIN",
		m.path("site/torch/lib/libgomp-1.so.1"), m.path("elsewhere/nvidia/cuda_runtime/lib/libcudart.so.12"), m.path("nowhere/libother.so"))
	m.write("bin/python3", "#!/bin/sh\necho 'modules in "+m.path("elsewhere")+"'\n")
	t.Setenv("PATH", m.path("bin"))
	torch := must.Get(Inspect(m.path("site/torch")))(t)
	if diff := cmp.Diff([]string{m.path("elsewhere/nvidia/cuda_runtime/lib/libcudart.so.12")}, torch.Preload()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	m.write("site/nvidia/cuda_runtime/lib/libcudart.so.12", "")
	if got := torch.Preload(); len(got) > 0 {
		t.Errorf("it finds the library beside torch, and %q is preloaded", got)
	}
}

func TestDebianVersion(t *testing.T) {
	m := &maker{t, t.TempDir()}
	m.write("status", "Package: a\nStatus: install ok installed\nVersion: 1\n\nPackage: libtorch-dev\nStatus: install ok installed\nArchitecture: amd64\nVersion: 1.13.1+dfsg-4\nDepends: x\n\nPackage: z\nVersion: 3\n")
	m.write("removed", "\nPackage: libtorch-dev\nStatus: deinstall ok config-files\nVersion: 1.13.1+dfsg-4\n\n")
	for name, want := range map[string]string{"status": "1.13.1+dfsg-4", "removed": "", "absent": ""} {
		if got := debianVersion(m.path(name)); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// A file that is not a library, or a broken one, gives an error or an answer from its
// text, and never a panic.
func FuzzELF(f *testing.F) {
	if self, err := os.ReadFile("/bin/true"); err == nil {
		f.Add(self[:min(len(self), 1<<14)])
	}
	f.Add([]byte("\x7fELF\x02\x01\x01"))
	path := filepath.Join(f.TempDir(), "lib.so")
	f.Fuzz(func(t *testing.T, data []byte) {
		must.Do(t, os.WriteFile(path, data, 0o600))
		names, _, _ := needs(path, nil)
		for _, name := range append(names, soname(path)) {
			if name != filepath.Base(path) && !bytes.Contains(data, []byte(name)) {
				t.Fatalf("%q is not in the file", name)
			}
		}
		cxx11(path)
		LinkedTo(path)
	})
}
