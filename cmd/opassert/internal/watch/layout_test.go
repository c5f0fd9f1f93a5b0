package watch

import (
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/internal/dev/must"
)

func TestFrameString(t *testing.T) {
	for want, f := range map[string]Frame{"a.py": {File: "a.py"}, "a.py:3": {File: "a.py", Line: 3}, "a.py in f": {File: "a.py", Func: "f"}} {
		if got := f.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Files of PyTorch, Python and test runners are not the user's; those installed by pip are.
func TestForeign(t *testing.T) {
	l := pythonFolders{torch: "/torch", stdlib: "/lib/python3"}
	for file, foreign := range map[string]bool{
		"<frozen importlib._bootstrap>": true, "/torch/nn/functional.py": true, "/torchvision/ops.py": false, "/lib/python3/runpy.py": true,
		"/lib/python3/site-packages/mine.py": false, "/lib/python3/dist-packages/mine.py": false, "/lib/python3.py": false,
		"/lib/python3/site-packages/_pytest/main.py": true, "/src/mine.py": false, "/else/torch/_ops.py": true,
		"/else/pytest/__main__.py": true, "/src/pytest/mine.py": false,
	} {
		if l.foreign(file) != foreign {
			t.Errorf("%s: foreign %v, want %v", file, !foreign, foreign)
		}
	}
	for _, file := range []string{"/torch.py", "/a.py"} {
		if (pythonFolders{}).foreign(file) {
			t.Errorf("%s: foreign without known folders", file)
		}
	}
}

// Names of files in the program's folder are relative to it.
func TestShort(t *testing.T) {
	for _, tt := range []struct{ cwd, file, want string }{
		{"/src", "/src/a/b.py", "a/b.py"}, {"/src", "/other/b.py", "/other/b.py"}, {"/src", "b.py", "b.py"},
		{"", "a/b.py", "a/b.py"}, {"", "./b.py", "./b.py"}, {"src", "/b.py", "/b.py"},
	} {
		if got := (pythonFolders{cwd: tt.cwd}).short(tt.file); got != tt.want {
			t.Errorf("%s in %q: %s, want %s", tt.file, tt.cwd, got, tt.want)
		}
	}
}

// The first letter of a place is its kind.
func TestFrames(t *testing.T) {
	l := pythonFolders{torch: "/torch", cwd: "/src"}
	if users, generated := l.frames(""); users != nil || generated != "" {
		t.Errorf("of no place: %v, %q", users, generated)
	}
	text := "  File \"/torch/x.py\", line 1 in g\n  File \"<eval_with_key>.3\", line 2 in forward\n  File \"<eval_with_key>.4\", line 7 in forward\n"
	users, generated := l.frames("P" + text + "  File \"/src/\\xe9.py\", line 3 in f\n")
	if diff := cmp.Diff([]Frame{{"\u00e9.py", 3, "f"}}, users); diff != "" || generated != "<eval_with_key>.3:2" {
		t.Errorf("generated %q %s", generated, diff)
	}
	if users, _ := l.frames("P  File \"/torch/x.py\", line 1 in g\n"); len(users) != 1 || users[0].File != "/torch/x.py" {
		t.Errorf("if all are PyTorch's: %v", users)
	}
	if users, _ := l.frames("C/src/lib/mine.so+0x10 f\n"); len(users) != 1 || users[0].String() != "lib/mine.so in f" {
		t.Errorf("native: %v", users)
	}
}

// Native frames are those that addr2line prints of the user's modules, without headers.
func TestNativeFrames(t *testing.T) {
	dir := t.TempDir()
	prints := map[string]string{
		"0x10": "inlined\n/torch/include/ATen/core/a.h:5\nkernel\n/src/k.cpp:7 (discriminator 2)", "0x11": "??\n??:0",
		"0x12": "at\n/torch/include/ATen/core/b.h:6", "0x13": "odd", "0x14": "f\n/src/k.cpp:?",
	}
	script := "#!/bin/sh\ncase $3 in\n"
	for offset, text := range prints {
		script += offset + ") printf '%s\\n' '" + text + "';;\n"
	}
	must.Do(t, os.WriteFile(filepath.Join(dir, "addr2line"), []byte(script+"*) exit 1;;\nesac\n"), 0o700))
	t.Setenv("PATH", dir)
	l := pythonFolders{cwd: "/src"}
	text := "/src/m.so+0x10 k\n/usr/lib/libtorch_cpu.so+0x10 at::add\nno place\n/src/m.so+0xzz bad\n/src/m.so+0x11 unknown\n/src/m.so+0x12 inline\n/src/m.so+0x13 odd\n/src/m.so+0x14 f\n/src/m.so+0x15 fails\n"
	want := []string{"m.so in fails", "k.cpp in f", "m.so in odd", "m.so in unknown", "k.cpp:7 in kernel"}
	for range 2 { // the second time from the cache
		var got []string
		for _, f := range l.nativeFrames(text) {
			got = append(got, f.String())
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		t.Setenv("PATH", "")
	}
}

// Addresses are relative to the first segment of a program that is not
// position-independent.
func TestBase(t *testing.T) {
	for typ, want := range map[elf.Type]uint64{elf.ET_EXEC: 0x400000, elf.ET_DYN: 0} {
		file := filepath.Join(t.TempDir(), "module")
		must.Do(t, os.WriteFile(file, program(typ, elf.PT_NOTE, elf.PT_LOAD), 0o600))
		if got := base(file); got != want {
			t.Errorf("%v: %#x, want %#x", typ, got, want)
		}
	}
	if got := base(filepath.Join(t.TempDir(), "absent")); got != 0 {
		t.Errorf("of no file: %#x", got)
	}
}

// program returns an ELF file of x86-64 with segments, of which the n-th lies at n<<22.
func program(typ elf.Type, segments ...elf.ProgType) []byte {
	b := []byte("\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00")
	word := func(bytes int, v uint64) {
		for i := range bytes {
			b = append(b, byte(v>>(8*i)))
		}
	}
	for _, f := range [][2]uint64{{2, uint64(typ)}, {2, 62}, {4, 1}, {8, 0}, {8, 64}, {8, 0}, {4, 0}, {2, 64}, {2, 56}, {2, uint64(len(segments))}, {2, 64}, {2, 0}, {2, 0}} {
		word(int(f[0]), f[1])
	}
	for i, s := range segments {
		for _, f := range [][2]uint64{{4, uint64(s)}, {4, 5}, {8, 0}, {8, uint64(i) << 22}, {8, 0}, {8, 0}, {8, 0}, {8, 0}} {
			word(int(f[0]), f[1])
		}
	}
	return b
}

// A call of generated code is in the compiled function only if its innermost frame is
// that function's.
func TestCalledFrom(t *testing.T) {
	origin := []Frame{{"a.py", 5, "forward"}, {"a.py", 9, "helper"}}
	for want, site := range map[string][]Frame{
		"a.py:5 in forward a.py:9 in helper":                   nil,
		"m.py:1 in main a.py:5 in forward a.py:9 in helper":    {{"m.py", 1, "main"}, {"a.py", 3, "forward"}},
		"a.py:3 in other a.py:5 in forward a.py:9 in helper":   {{"a.py", 3, "other"}},
		"b.py:3 in forward a.py:5 in forward a.py:9 in helper": {{"b.py", 3, "forward"}},
	} {
		var got []string
		for _, f := range calledFrom(site, origin) {
			got = append(got, f.String())
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%v, want %s", got, want)
		}
	}
}

// Generated files are recognised by their first line, also after they were removed.
func TestCompiled(t *testing.T) {
	dir := t.TempDir()
	for name, is := range map[string]bool{"# AOT ID: ['0_inference']\n": true, "import torch\n": false, "": false} {
		file := filepath.Join(dir, fmt.Sprint(is, len(name)))
		must.Do(t, os.WriteFile(file, []byte(name), 0o600))
		for range 2 {
			if compiled(file) != is {
				t.Errorf("%q: compiled %v, want %v", name, !is, is)
			}
			os.Remove(file)
		}
	}
	if compiled(filepath.Join(dir, "absent")) || !compiled("<eval_with_key>.0") {
		t.Error("a missing file is compiled, or a graph is not")
	}
	if frames := (pythonFolders{torch: "/torch"}).originFrames("a.py\n5\nf\nb.py\nx\ng\n/torch/n.py\n1\nh\n"); len(frames) != 1 || frames[0].String() != "a.py:5 in f" {
		t.Errorf("frames %v", frames)
	}
}

// A report of a class's answer has its class and method, and the fix for a Python class.
func TestAnswer(t *testing.T) {
	l := pythonFolders{cwd: "/src"}
	if a := l.answer("C\x1fm\x1f/src/a.py"); a != nil {
		t.Errorf("of three fields: %+v", a)
	}
	for file, want := range map[string]string{"/src/a.py": "a.py", "": ""} {
		a := l.answer("C\x1fm\x1f" + file + "\x1f7")
		if diff := cmp.Diff(&asserts.Answer{Class: "C", Site: asserts.Site{File: want, Line: 7, Func: "m"}}, a); diff != "" {
			t.Error(diff)
		}
	}
	fixed := func(a *asserts.Answer, code asserts.Code) string {
		v := asserts.Violation{Code: code, Fix: "the kernel's"}
		answeredBy(a, []*asserts.Violation{&v})
		if v.Answer != a {
			t.Errorf("%s: the answer is not noted", code)
		}
		return v.Fix
	}
	mended, bare := asserts.OutputAlias, asserts.NondeterministicResult
	if mended.InPython() == "" || bare.InPython() != "" {
		t.Fatal("other checks have a fix in Python")
	}
	if fixed(nil, mended) != "the kernel's" || fixed(&asserts.Answer{}, bare) != "the kernel's" || fixed(&asserts.Answer{}, mended) != mended.InPython() {
		t.Error("the fix is not that for a Python class")
	}
}

// Only non-zero skips are counted; those of contents are for the checks that read them.
func TestSkips(t *testing.T) {
	r := &run{skips: make(map[opSkip]int)}
	r.skip("a::b", asserts.FreshImpl, failed, 0)
	r.skip("a::b", asserts.FreshImpl, lost, 2)
	if diff := cmp.Diff(map[opSkip]int{{"a::b", asserts.FreshImpl, lost}: 2}, r.skips, cmp.AllowUnexported(opSkip{})); diff != "" {
		t.Error(diff)
	}
	all := asserts.CodesOf(asserts.FreshImpl, asserts.FreshStorage, asserts.UndeclaredWrite)
	if got, want := ofContent(all), asserts.CodesOf(asserts.FreshStorage, asserts.UndeclaredWrite); got != want {
		t.Errorf("%v read contents, want %v", got, want)
	}
}
