package watch

import (
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
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

// Native frames are lines of the user's modules, without those of headers, or the modules.
func TestNativeFrames(t *testing.T) {
	source := must.Get(filepath.Abs("../torch/testdata/debug"))(t)
	module := filepath.Join(t.TempDir(), "m.so")
	cmd := exec.Command("g++", "-g", "-shared", "-fPIC", "-o", module, filepath.Join(source, "kernels.cpp"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("%v\n%s", err, out)
	}
	file := must.Get(elf.Open(module))(t)
	defer file.Close()
	text := "/src/no.so+0x10 k\n/usr/lib/libtorch_cpu.so+0x10 at::add\nno place\n" + module + "+0xzz bad\n"
	for _, s := range must.Get(file.Symbols())(t) {
		if strings.Contains(s.Name, "fills_all") && s.Name[:3] == "_ZN" && s.Name[:5] != "_ZN3c" || strings.HasPrefix(s.Name, "_ZN3c105store") {
			text += fmt.Sprintf("%s+%#x %s\n", module, s.Value+s.Size-1, s.Name)
		}
	}
	var got []string
	for _, f := range (pythonFolders{cwd: source}).nativeFrames(text) {
		got = append(got, f.String())
	}
	want := []string{"kernels.cpp:13 in mine::fills_all(float*)", "/src/no.so in k"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("of %s:\n%s", text, diff)
	}
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
