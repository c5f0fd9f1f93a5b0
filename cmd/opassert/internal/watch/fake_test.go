package watch_test

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opassert/opassert/internal/dev/must"
)

const fakesOf = "../torch/testdata"

// fakesProgram returns the program of testdata/fakes.py, or skips the test if ops
// have no fakes.
func fakesProgram(t *testing.T, p python, words ...string) []string {
	t.Helper()
	if strings.HasPrefix(p.torch.Number(), "1.") {
		t.Skip("1.13 has no torch.library.register_fake")
	}
	return append([]string{p.path, "testdata/fakes.py", fakesOf}, words...)
}

// A fake that differs from its kernel is reported at the fake's line once the program
// has ended; correct ones are not, and the program's output is unchanged.
func TestFakesAreHeldAgainstTheirKernels(t *testing.T) {
	eachPython(t, func(t *testing.T, p python) {
		program := fakesProgram(t, p)
		o := run(t, nil, program...)
		if diff := cmp.Diff(alone(t, program...), o.stdout); diff != "" || o.status != 1 {
			t.Errorf("exit status %d\n%s", o.status, diff)
		}
		want := make(map[string]string)
		cmd := exec.Command(p.path, "-c", "import json, python_fakes as m; print(json.dumps(m.EXPECTED))")
		cmd.Dir = fakesOf
		out, err := cmd.Output()
		must.Do(t, json.Unmarshal(out, &want))
		if err != nil || len(want) == 0 {
			t.Fatal("no ops are expected", err)
		}
		delete(want, "fakes::on_the_cpu")                                                                               // check alone calls fakes on tensors of a GPU that is not there
		want["fakes::signature"] = "its fake raises TypeError: <lambda>() takes 1 positional argument but 2 were given" // check reads its parameters
		for _, f := range o.found {
			site := f.Site[len(f.Site)-1]
			if f.Code != "OA011" || want[f.Op] == "" || !strings.Contains(f.Saw, want[f.Op]) || filepath.Base(site.File) != "python_fakes.py" || site.Line == 0 {
				t.Errorf("%s: found %s %q at %v, want OA011 %q at its line of python_fakes.py", f.Op, f.Code, f.Saw, site, want[f.Op])
			}
			delete(want, f.Op)
		}
		for op, says := range want {
			t.Errorf("%s: nothing found, want %q", op, says)
		}
		for _, reason := range []string{"OA011 1: the fake was not called", "OA011 5: the op has no fake, and the program compiles nothing"} {
			if !strings.Contains(o.stderr, reason) {
				t.Errorf("%q is not counted", reason)
			}
		}
		if strings.Contains(o.stderr, "a fake\n") {
			t.Error("what a fake prints is to be seen")
		}
		if t.Failed() {
			t.Log(o.stderr)
		}
	})
}

// A kernel for every device is the op's fake too, but is not called as one if the
// program compiles nothing: that is counted.
func TestKernelIsItsFake(t *testing.T) {
	eachPython(t, func(t *testing.T, p python) {
		o := run(t, nil, p.path, "-c", `import torch
lib = torch.library.Library("own", "DEF")
lib.define("f(Tensor x) -> Tensor")
lib.impl("f", lambda x: x.clone(), "CompositeExplicitAutograd")
torch.ops.own.f(torch.ones(2))`)
		if want := "OA011 1: the op's kernel is its fake, and the program compiles nothing"; o.status != 0 || !strings.Contains(o.stderr, want) {
			t.Errorf("exit status %d, want %q\n%s", o.status, want, o.stderr)
		}
	})
}

// If fakes have answered calls of the program, a missing fake is a note; calls of ops
// that are not known are counted.
func TestMissingFakes(t *testing.T) {
	long(t)
	eachPython(t, func(t *testing.T, p python) {
		o := run(t, nil, fakesProgram(t, p, "compiles")...)
		if !strings.Contains(o.stderr, " x note OA011/no-fake  right::missing: it has a kernel and no fake") {
			t.Errorf("right::missing: that it has no fake is not noted\n%s", o.stderr)
		}
		o = run(t, nil, fakesProgram(t, p, "leaves")...)
		if o.status != 0 || len(o.found) > 0 || !strings.Contains(o.stderr, ": the fake was not called: ") {
			t.Errorf("exit status %d, found %d\n%s", o.status, len(o.found), o.stderr)
		}
	})
}

// Fakes are called with only those modules of torch._dynamo that they need, and the whole
// package once one needs more. If the program has imported it, nothing more is imported.
func TestFakesImportParts(t *testing.T) {
	eachPython(t, func(t *testing.T, p python) {
		fakesProgram(t, p)
		for before, words := range map[string][]string{"Parts": nil, "module": {"imports"}} {
			o := run(t, nil, append([]string{p.path, "testdata/parts.py"}, words...)...)
			want := map[string]string{
				"parts::fixes":  "its fake sets the guard x.shape[0] == 4",
				"parts::before": "the kernel returns, and its fake raises ValueError: " + before,
				"parts::after":  "the kernel returns, and its fake raises ValueError: module",
			}
			got := make(map[string]string)
			for _, f := range o.found {
				got[f.Op], _, _ = strings.Cut(f.Saw, " (")
			}
			if diff := cmp.Diff(want, got); diff != "" || o.status != 1 {
				t.Errorf("exit status %d\n%s\n%s", o.status, diff, o.stderr)
			}
		}
	})
}
