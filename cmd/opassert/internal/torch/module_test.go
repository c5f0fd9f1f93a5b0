package torch_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/internal/compile"
	"github.com/opassert/opassert/internal/dev/libtorchtest"
	"github.com/opassert/opassert/internal/dev/must"
	"github.com/opassert/opassert/internal/installed"
)

func TestMain(m *testing.M) { os.Exit(libtorchtest.Tests{M: m}.Run()) }

// An answer is what a check printed, and how it ended.
type answer struct {
	status         int
	stdout, stderr string
}

// check checks modules of testdata, or of a folder.
func check(t *testing.T, python *installed.Python, folder string, args ...string) answer {
	t.Helper()
	return run(t, folder, append([]string{"check", "-python", python.Path, "-state", filepath.Join(t.TempDir(), "state")}, args...)...)
}

// run runs the command in a folder.
func run(t *testing.T, folder string, args ...string) answer {
	t.Helper()
	cmd := exec.Command(libtorchtest.Command(t), args...)
	cmd.Dir = folder
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if err != nil && !errors.As(err, new(*exec.ExitError)) {
		t.Fatal(err)
	}
	return answer{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// expected returns what a module's table has for its ops.
func expected(t *testing.T, python *installed.Python, module string) map[string]string {
	t.Helper()
	cmd := exec.Command(python.Path, "-c", "import json, "+module+" as m; print(json.dumps(m.EXPECTED))")
	cmd.Dir = "testdata"
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	codes := make(map[string]string)
	if err := json.Unmarshal(out, &codes); err != nil {
		t.Fatal(err)
	}
	return codes
}

// Faults of ops that are registered from Python are found where they are, and
// nothing is said of their healthy twins.
func TestModule(t *testing.T) {
	libtorchtest.EachPython(t, func(t *testing.T, python *installed.Python) {
		got := check(t, python, "testdata", "-module", "python_faults", "-json", "-n", "all")
		if got.status != 1 {
			t.Fatalf("exit status %d, want 1\n%s", got.status, got.stderr)
		}
		var results []asserts.Result
		if err := json.Unmarshal([]byte(got.stdout), &results); err != nil {
			t.Fatal(err)
		}
		before, _, _ := strings.Cut(string(must.Get(os.ReadFile("testdata/python_faults.py"))(t)), "def __call__")
		calledAt := strings.Count(before, "\n") + 1
		found, noted := make(map[string][]string), make(map[string][]string)
		for _, r := range results {
			switch r.Status {
			case asserts.Violated:
				found[r.Op] = append(found[r.Op], r.Code.String())
				if r.Op == "faults::keeps_in_object" && r.Site.Line != calledAt {
					t.Errorf("%s: the site is line %d, want %d of __call__", r.Op, r.Site.Line, calledAt)
				}
				if filepath.Base(r.Site.File) != "python_faults.py" {
					t.Errorf("%s: the site is %v, want its line of python_faults.py", r.Op, r.Site)
				}
			case asserts.Noted:
				noted[r.Op] = append(noted[r.Op], "note "+r.Code.String())
			case asserts.Crashed:
				t.Errorf("%s crashed\n%s", r.Op, r.Report)
			}
		}
		want := expected(t, python, "python_faults")
		for op, code := range want {
			if all := slices.Concat(found[op], noted[op]); !slices.Contains(all, code) {
				t.Errorf("%s: found %q, want %s", op, all, code)
			}
		}
		for op, codes := range found {
			if want[op] == "" {
				t.Errorf("%s is healthy, and found are %q", op, codes)
			}
		}
	})
}

// A host gets its sources in a file: its arguments, and the variables that opassert adds, are a
// small part of them.
func TestHostGetsFile(t *testing.T) {
	const module = `import json
import torch

library = torch.library.Library("measured", "DEF")
library.define("copy(Tensor x) -> Tensor")
library.impl("copy", lambda x: x.clone(), "CPU")
with open("given", "w") as file:
    json.dump([open("/proc/self/" + name).read().split(chr(0)) for name in ("cmdline", "environ")], file)
`
	libtorchtest.EachPython(t, func(t *testing.T, python *installed.Python) {
		sources := 0
		for _, file := range must.Get(filepath.Glob("host/opassert_host/*.py"))(t) {
			sources += len(must.Get(os.ReadFile(file))(t))
		}
		folder := t.TempDir()
		must.Do(t, os.WriteFile(filepath.Join(folder, "measured.py"), []byte(module), 0o600))
		for _, args := range [][]string{{"check", "-module", "measured", "-n", "1", "-level", "identity", "-state", "state"}, {"lint", "-module", "measured"}} {
			got := run(t, folder, append(args, "-python", python.Path)...)
			var given [2][]string
			text := must.Get(os.ReadFile(filepath.Join(folder, "given")))(t)
			if err := json.Unmarshal(text, &given); err != nil || got.status == 2 {
				t.Fatalf("%v, exit status %d\n%s", err, got.status, got.stderr)
			}
			added := slices.DeleteFunc(given[1], func(variable string) bool { return slices.Contains(os.Environ(), variable) })
			if size := len(strings.Join(slices.Concat(given[0], added), "\x00")); size == 0 || size > sources/20 {
				t.Errorf("%s: %d bytes of arguments and variables, for %d of sources\n%q", args[0], size, sources, given)
			}
			must.Do(t, os.Remove(filepath.Join(folder, "given")))
		}
	})
}

// A check continues an interrupted one where all is the same that its kernels are made of: files that a
// module imports, libraries, and the environment.
func TestContinuesTheSame(t *testing.T) {
	const module = `import ctypes
import torch
import helper

loaded = ctypes.CDLL("./library.so")
library = torch.library.Library("continued", "DEF")
library.define("copy(Tensor x) -> Tensor")
library.impl("copy", helper.copy, "CPU")
`
	libtorchtest.EachPython(t, func(t *testing.T, python *installed.Python) {
		folder := t.TempDir()
		write := func(name, text string) { must.Do(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600)) }
		write("continued.py", module)
		write("helper.py", "def copy(x):\n    return x.clone()\n")
		compiled := exec.Command("cc", "-shared", "-o", filepath.Join(folder, "library.so"), "-x", "c", "/dev/null")
		if out, err := compiled.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		full := must.Get(os.OpenFile("/dev/full", os.O_WRONLY, 0))(t)
		defer full.Close()
		check := func(variables ...string) string {
			cmd := exec.Command(libtorchtest.Command(t), "check", "-module", "continued", "-n", "1", "-level", "identity", "-state", "state", "-python", python.Path)
			cmd.Dir, cmd.Env = folder, append(os.Environ(), variables...)
			var stderr bytes.Buffer
			cmd.Stdout, cmd.Stderr = full, &stderr // without a report the results are kept
			if err := cmd.Run(); err == nil {
				t.Fatalf("the report was written\n%s", stderr.String())
			}
			return stderr.String()
		}
		later := time.Now().Add(time.Hour)
		check()
		for _, step := range []struct {
			name, variable, want string
			change               func()
		}{
			{"the same", "TERM=dumb", "continuing from ", func() {}},
			{"another helper", "TERM=dumb", "belongs to another run", func() { write("helper.py", "def copy(x):\n    return x\n") }},
			{"another library", "TERM=dumb", "belongs to another run", func() { must.Do(t, os.Chtimes(filepath.Join(folder, "library.so"), later, later)) }},
			{"another environment", "CONTINUED=1", "belongs to another run", func() {}},
		} {
			step.change()
			if got := check(step.variable); !strings.Contains(got, step.want) {
				t.Errorf("%s: want %q\n%s", step.name, step.want, got)
			}
		}
	})
}

// Shards merge that ran in other folders, and not those of which a module imports another helper.
func TestMergesTheSame(t *testing.T) {
	const module = `import torch
import helper

library = torch.library.Library("merged", "DEF")
for name in ("copy", "twin"):
    library.define(name + "(Tensor x) -> Tensor")
    library.impl(name, helper.copy, "CPU")
`
	libtorchtest.EachPython(t, func(t *testing.T, python *installed.Python) {
		reports := t.TempDir()
		check := func(helper, shard string) string {
			folder := t.TempDir()
			must.Do(t, os.WriteFile(filepath.Join(folder, "merged.py"), []byte(module), 0o600))
			must.Do(t, os.WriteFile(filepath.Join(folder, "helper.py"), []byte(helper), 0o600))
			got := check(t, python, folder, "-module", "merged", "-n", "1", "-level", "identity", "-shard", shard, "-json")
			report := filepath.Join(reports, filepath.Base(folder)+".json")
			must.Do(t, os.WriteFile(report, []byte(got.stdout), 0o600))
			return report
		}
		const helper = "def copy(x):\n    return x.clone()\n"
		first := check(helper, "1/2")
		for _, tt := range []struct{ second, want string }{
			{check(helper, "2/2"), ""},
			{check("# another\n"+helper, "2/2"), "are not of one run: the digest of the kernels is "},
		} {
			out, err := exec.Command(libtorchtest.Command(t), "merge", "-q", first, tt.second).CombinedOutput()
			if (err == nil) != (tt.want == "") || !strings.Contains(string(out), tt.want) {
				t.Errorf("%v\n%s\nwant %q", err, out, tt.want)
			}
		}
	})
}

// Triton's kernels run under its interpreter, on the CPU, also those of an op that
// compilers trace, whose fake launches them too.
func TestTriton(t *testing.T) {
	libtorchtest.EachPython(t, func(t *testing.T, python *installed.Python) {
		if exec.Command(python.Path, "-c", "import triton").Run() != nil {
			t.Logf("not run: the kernels of Triton, as %s has no triton, which takes 1 GB", python.Path)
			return
		}
		got := check(t, python, "testdata", "-module", "python_triton", "-n", "24", "-json")
		said, want := saw(t, got, 1, "python_triton.py"), expected(t, python, "python_triton")
		for op, code := range want {
			if !strings.HasPrefix(said[op], code+" ") {
				t.Errorf("%s: found %q, want %s", op, said[op], code)
			}
		}
		for op, words := range said {
			if want[op] == "" {
				t.Errorf("%s is right, and found is %q", op, words)
			}
		}
	})
}

// A fake that differs from its kernel is reported at the fake's line, a right one is
// not, and a missing one is a note.
func TestFakes(t *testing.T) {
	libtorchtest.EachPython(t, func(t *testing.T, python *installed.Python) {
		got := check(t, python, "testdata", "-module", "python_fakes", "-json")
		var results []asserts.Result
		if err := json.Unmarshal([]byte(got.stdout), &results); err != nil || got.status != 1 {
			t.Fatalf("%v, exit status %d, want 1\n%s", err, got.status, got.stderr)
		}
		found := make(map[string]string)
		for _, r := range results {
			switch {
			case r.Status == asserts.Violated || r.Status == asserts.Crashed || strings.Contains(r.Report, "for tensors on a GPU"):
				found[r.Op] += r.Report
			case r.Status == asserts.Noted && r.Symptom != "OA011/no-fake" && r.Code == asserts.MetaAlias:
				found[r.Op] += r.Report
			case r.Symptom == "OA011/no-fake":
				if r.Op != "right::missing" {
					t.Errorf("%s: noted is that it has no fake", r.Op)
				}
				found[r.Op] = ""
			}
			if r.Status == asserts.Violated && (filepath.Base(r.Site.File) != "python_fakes.py" || r.Site.Line == 0) {
				t.Errorf("%s: the site is %v, want its line of python_fakes.py", r.Op, r.Site)
			}
		}
		if _, ok := found["right::missing"]; !ok {
			t.Error("right::missing: that it has no fake is not noted")
		}
		want := expected(t, python, "python_fakes")
		for op, words := range want {
			if report := found[op]; !strings.HasPrefix(report, "OA011") || !strings.Contains(report, words) {
				t.Errorf("%s: found %q, want OA011 that says %q", op, report, words)
			}
		}
		for op, report := range found {
			if want[op] == "" && report != "" {
				t.Errorf("%s is right, and found is %s", op, report)
			}
		}
	})
}

// Registrations that are not what their schemas ask for are found without a call, at
// their lines; right ones are not named.
func TestLintModule(t *testing.T) {
	libtorchtest.EachPython(t, func(t *testing.T, python *installed.Python) {
		lint := func(args ...string) answer {
			return run(t, "testdata", append([]string{"lint", "-python", python.Path, "-module"}, args...)...)
		}
		got := lint("python_lint", "-json")
		var findings []struct {
			Code, Op, File, Message, Fix, Symptom string
			Status                                asserts.Status
			Line                                  int
		}
		if err := json.Unmarshal([]byte(got.stdout), &findings); err != nil || got.status != 1 {
			t.Fatalf("%v, exit status %d, want 1\n%s", err, got.status, got.stderr)
		}
		want := expected(t, python, "python_lint")
		for _, f := range findings {
			said := f.Code + " " + f.Message
			if want[f.Op] == "" || !strings.HasPrefix(said, want[f.Op]) {
				t.Errorf("%s: found %q, want %q", f.Op, said, want[f.Op])
			}
			delete(want, f.Op)
			if (f.Status == asserts.Noted) != (f.Symptom == "OA011/no-fake") {
				t.Errorf("%s: %s is %s", f.Op, f.Symptom, f.Status)
			}
			if filepath.Base(f.File) != "python_lint.py" || f.Line == 0 || f.Fix == "" {
				t.Errorf("%s: at %s:%d, fix %q", f.Op, f.File, f.Line, f.Fix)
			}
		}
		for op, says := range want {
			t.Errorf("%s: nothing found, want %q", op, says)
		}
		if got := lint("python_lint"); !regexp.MustCompile(`(?m)^\d+ ops: \d+ kernels, \d+ fakes, \d+ formulas, \d+ rules; ` + fmt.Sprint(len(findings)-1) + ` errors, 1 note$`).MatchString(got.stdout) {
			t.Errorf("the last line does not count what was looked at:\n%s", got.stdout)
		}
		folder := t.TempDir()
		must.Do(t, os.WriteFile(filepath.Join(folder, "healthy.py"), []byte(`import torch
library = torch.library.Library("healthy", "DEF")
library.define("copy(Tensor x) -> Tensor")
library.impl("copy", lambda x: x.clone(), "CPU")
torch.library.register_fake("healthy::copy", torch.empty_like, lib=library)
torch.library.register_autograd("healthy::copy", lambda ctx, grad: grad, lib=library)

@torch.library.custom_op("healthy::twice", mutates_args=())
def twice(x: torch.Tensor) -> torch.Tensor:
    return x * 2

twice.register_fake(lambda x: torch.empty_like(x))
twice.register_autograd(lambda ctx, grad: 2 * grad)
`), 0o600))
		if got := run(t, folder, "lint", "-python", python.Path, "-module", "healthy"); got.status != 0 || got.stdout != "2 ops: 2 kernels, 1 fake, 2 formulas; nothing wrong\n" {
			t.Errorf("a healthy module: exit status %d, want 0\n%s%s", got.status, got.stdout, got.stderr)
		}
		if got := run(t, folder, "lint", "-python", python.Path, "-module", "healthy", "-json"); got.stdout != "[]\n" {
			t.Errorf("a healthy module: %s", got.stdout)
		}
		if got := lint("absent"); got.status != 2 || !strings.Contains(got.stderr, "load absent: ModuleNotFoundError: No module named 'absent'") {
			t.Errorf("an absent module: exit status %d, want 2\n%s", got.status, got.stderr)
		}
		if got := lint("json"); got.status != 2 || !strings.Contains(got.stderr, "nothing to check: json adds no ops while it is imported: -module names the module") {
			t.Errorf("a module without ops: exit status %d, want 2\n%s", got.status, got.stderr)
		}
	})
}

// Check says of registrations what lint says, in the same words, and says once that a function refuses its arguments.
func TestCheckSaysWhatLintSays(t *testing.T) {
	type row struct {
		Code, Op, Message string
		Line              int
	}
	libtorchtest.EachPython(t, func(t *testing.T, python *installed.Python) {
		linted := run(t, "testdata", "lint", "-python", python.Path, "-module", "python_lint", "-json")
		checked := check(t, python, "testdata", "-module", "python_lint", "-json", "-n", "1")
		var want []row
		var results []asserts.Result
		if err := errors.Join(json.Unmarshal([]byte(linted.stdout), &want), json.Unmarshal([]byte(checked.stdout), &results)); err != nil || len(want) == 0 {
			t.Fatalf("%v\n%s%s", err, linted.stderr, checked.stderr)
		}
		var got []row
		for _, r := range results {
			said := row{r.Code.String(), r.Op, r.Saw, r.Site.Line}
			if r.Case == "-1" && r.Symptom != "OA012/default" && !slices.Contains(want, said) {
				t.Errorf("lint does not say %v", said)
			}
			if r.Symptom == "OA011/fake-raises" && slices.ContainsFunc(want, func(w row) bool { return w.Op == r.Op && w.Code == said.Code }) {
				t.Errorf("%s: said twice: %s", r.Op, r.Saw)
			}
			got = append(got, said)
		}
		for _, w := range want {
			if !slices.Contains(got, w) {
				t.Errorf("check does not say %v", w)
			}
		}
	})
}

// A kernel that ends or deceives its process is reported, and ends nothing else.
func TestHostileModule(t *testing.T) {
	libtorchtest.EachPython(t, func(t *testing.T, python *installed.Python) {
		got := check(t, python, "testdata", "-module", "python_hostile", "-level", "content", "-n", "2", "-timeout", "200ms", "-v")
		if got.status != 1 {
			t.Errorf("exit status %d, want 1\n%s", got.status, got.stderr)
		}
		for _, want := range []string{
			`(?s)\nhostile::crashes   python_hostile\.py:\d+\n  error crash  SIGSEGV, .*read_null \(.*python_hostile\.py:\d+\)\n +crashes \(.*python_hostile\.py:\d+\)`,
			`\nhostile::exits   python_hostile\.py:\d+\n  error crash  exit status 0\n`,
			`\nhostile::hangs   python_hostile\.py:\d+\n  error crash  hang, in hangs\n? +\(.*python_hostile\.py:\d+\)`,
			`\nhostile::writes   python_hostile\.py:\d+\n  error crash  exit status 0\n`,
			`\nnever ran   hostile::raises: ValueError: x is not what was expected At: \S+python_hostile\.py\(\d+\): raises\n`,
			`\nnever ran   hostile::leaves: SystemExit: 3`,
			`ops     2 of 8 ran\n`, // forks and prints
		} {
			if !regexp.MustCompile(want).MatchString("\n" + got.stdout) {
				t.Errorf("the report does not match %s", want)
			}
		}
		if t.Failed() {
			t.Log(got.stdout)
		}
	})
}

// A kernel that is compiled when it is first called does not hang, and one that does leaves
// no lock of PyTorch's, no process, and no file in the system's folder.
func TestBuilds(t *testing.T) {
	libtorchtest.EachPython(t, func(t *testing.T, python *installed.Python) {
		folder, temporary := t.TempDir(), t.TempDir()
		libtorchtest.Command(t) // which lies in a folder of the system's
		t.Setenv("PYTHON_BUILDS", folder)
		t.Setenv("TMPDIR", temporary)
		must.Do(t, os.WriteFile(filepath.Join(folder, "left"), nil, 0o600))
		got := check(t, python, "testdata", "-module", "python_builds", "-level", "content", "-n", "2", "-timeout", "500ms", "-v")
		for _, want := range []string{
			`1 crash in 1 of 4 ops`,
			`(?s)builds::never .*  error crash  hang.* build \(.*python_builds\.py:\d+\)`,
			`never ran   builds::left: RuntimeError: \S+/left is locked: another program builds the extension, or was ended while it did; then remove the file`,
			`ops     2 of 4 ran`,
		} {
			if !regexp.MustCompile(want).MatchString(got.stdout) {
				t.Errorf("the report does not match %s\n%s%s", want, got.stdout, got.stderr)
			}
		}
		for path, want := range map[string][]string{folder: {"compilers", "left"}, temporary: nil} {
			var names []string
			for _, e := range must.Get(os.ReadDir(path))(t) {
				names = append(names, e.Name())
			}
			if !slices.Equal(names, want) {
				t.Errorf("left are %q, want %q", names, want)
			}
		}
		for pid := range strings.FieldsSeq(string(must.Get(os.ReadFile(filepath.Join(folder, "compilers")))(t))) {
			if _, err := os.Stat("/proc/" + pid); err == nil {
				t.Errorf("process %s was started by a kernel, and is left", pid)
			}
		}
	})
}

// An argument that a schema lets its op write, and that no call of many changed, is a note, as is a default that the schema
// does not have. One that is not written where it is strided, or of which a copy is, is an error. Those that some call
// changes are neither.
func TestUnwritten(t *testing.T) {
	libtorchtest.EachPython(t, func(t *testing.T, python *installed.Python) {
		got := check(t, python, "testdata", "-module", "python_unwritten", "-level", "content", "-json", "-n", "all")
		said := saw(t, got, 1, "python_unwritten.py")
		for op, want := range expected(t, python, "python_unwritten") {
			argument, words, _ := strings.Cut(want, ": ")
			about := regexp.MustCompile(op + `  argument \d+ \W+` + argument + `\W`)
			side := "note "
			if strings.HasPrefix(words, "the kernel ") { // a write is lost
				side = ""
			}
			if !strings.HasPrefix(said[op], side+"OA012 "+words) || !about.MatchString(got.stdout) || strings.Count(said[op], "\n") != 1 {
				t.Errorf("%s: said is %q, want one %sof %s", op, said[op], side, want)
			}
			delete(said, op)
		}
		for op, words := range said {
			t.Errorf("%s writes what it declares, and said is %q", op, words)
		}
	})
}

// What the returns of ops that decompose share with arguments is a note, judged over the calls.
func TestSharing(t *testing.T) {
	const module = `import torch

library = torch.library.Library("sharing", "DEF")
for name, kernel in {
    "view_as": lambda self, other: self.unsqueeze(0),
    "contiguous": lambda self, other: self.contiguous(),
    "copies": lambda self, other: self.reshape(-1)[:1].clone(),
}.items():
    library.define(name + "(Tensor self, Tensor other) -> Tensor")
    library.impl(name, kernel, "CompositeImplicitAutograd")
`
	libtorchtest.EachPython(t, func(t *testing.T, python *installed.Python) {
		folder := t.TempDir()
		must.Do(t, os.WriteFile(filepath.Join(folder, "sharing.py"), []byte(module), 0o600))
		said := saw(t, check(t, python, folder, "-module", "sharing", "-json"), 0, "sharing.py")
		for op, share := range map[string]string{"sharing::view_as": `note OA007 result shares StorageImpl with argument self in (\d+) of (\d+) calls, and the schema does not declare it`,
			"sharing::contiguous": `note OA007 result is the TensorImpl of argument self in (\d+) of (\d+) calls, and the schema does not declare it`} {
			m := regexp.MustCompile(`(?m)^` + share + `$`).FindStringSubmatch(said[op])
			if m == nil || (m[1] == m[2]) != (op == "sharing::view_as") {
				t.Errorf("%s: said is %q, want %s", op, said[op], share)
			}
		}
		if said["sharing::copies"] != "" {
			t.Errorf("sharing::copies: said is %q", said["sharing::copies"])
		}
	})
}

// A fake that is wrong where dtypes differ, and where sizes do, is a note of each.
func TestMixed(t *testing.T) {
	const module = `import torch
from torch import Tensor


@torch.library.custom_op("mixed::scores", mutates_args=())
def scores(q: Tensor, k: Tensor) -> Tensor:
    return (q * k).contiguous()


scores.register_fake(lambda q, k: q.new_empty(q.shape))
`
	libtorchtest.EachPython(t, func(t *testing.T, python *installed.Python) {
		folder := t.TempDir()
		must.Do(t, os.WriteFile(filepath.Join(folder, "mixed.py"), []byte(module), 0o600))
		got := check(t, python, folder, "-module", "mixed")
		for _, want := range []string{"note  OA011  only where dtypes differ: ", "note  OA011  only where sizes differ: "} {
			if got.status != 0 || strings.Count(got.stdout, want) != 1 {
				t.Errorf("exit status %d; want one %q\n%s%s", got.status, want, got.stdout, got.stderr)
			}
		}
	})
}

// A worker whose kernels' process ends while nothing is asked of it is replaced at once:
// what an op that crashed shows is confirmed by processes of the host that is there.
func TestReplacedWhileIdle(t *testing.T) {
	libtorchtest.EachPython(t, func(t *testing.T, python *installed.Python) {
		imports := filepath.Join(t.TempDir(), "imports")
		t.Setenv("IMPORTS", imports)
		got := check(t, python, "testdata", "-module", "python_ends", "-level", "content", "-n", "20")
		if !strings.Contains(got.stdout, "1 error, 3 crashes in ") {
			t.Errorf("want a finding and three crashes\n%s%s", got.stdout, got.stderr)
		}
		text, _ := os.ReadFile(imports)
		if n := strings.Count(string(text), "\n"); n < 1 || n > 2 {
			t.Errorf("the module is imported %d times, want at most twice: to list the ops and call them, and for a control", n)
		}
	})
}

// Modules that can't be imported, and flags that don't go together, are exit status 2
// and say why.
func TestNoModule(t *testing.T) {
	libtorchtest.EachPython(t, func(t *testing.T, python *installed.Python) {
		folder := t.TempDir()
		for name, text := range map[string]string{
			"raising.py":          "import torch\n\nraise RuntimeError('no device\\nhere')\n",
			"ending.py":           "import os\nos.abort()\n",
			"printing.py":         "print('devices: 0')\nraise RuntimeError('none')\n",
			"closing.py":          "import os\nos.closerange(3, 200)\n",
			"empty.py":            "import torch\n",
			"asking.py":           "import argparse\n\nparser = argparse.ArgumentParser()\nparser.add_argument('--size', required=True)\nparser.parse_args()\n",
			"package/__init__.py": "", "package/inner/__init__.py": "",
			"typo.py": "import torch\n\ndef f(:\n",
			"devices.py": "import torch\n\nlib = torch.library.Library('devices', 'DEF')\nlib.define('f(Tensor x) -> Tensor')\n" +
				"lib.impl('f', lambda x: x + 1, 'CUDA')\n",
		} {
			must.Do(t, os.MkdirAll(filepath.Dir(filepath.Join(folder, name)), 0o755))
			if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		for _, tt := range []struct{ args, want string }{
			{"-module absent", "opassert check: load absent: ModuleNotFoundError: No module named 'absent' in " + must.Get(filepath.EvalSymlinks(folder))(t) + ", "},
			{"-module devices", "opassert check: nothing was checked: devices::f never ran: it has no kernel for the CPU\n"},
			{"-module typo", "opassert check: load typo: SyntaxError: invalid syntax (" + filepath.Join(folder, "typo.py") + ":3)\n"},
			{"-module empty,./typo.py", "./typo.py is a file: the name of its module is typo"},
			{"-module package/inner/ops.py", "package/inner/ops.py is a file: the name of its module is package.inner.ops"},
			{"-module package/inner/__init__.py", "the name of its module is package.inner,"},
			{"-module asking", "opassert check: load asking: SystemExit: 2 (" + filepath.Join(folder, "asking.py") + ":5): usage: "},
			{"-module ,", "it names no module"},
			{"-module raising", "opassert check: load raising: RuntimeError: no device here (" + filepath.Join(folder, "raising.py") + ":3)\n"},
			{"-module printing", "opassert check: load printing: RuntimeError: none (" + filepath.Join(folder, "printing.py") + ":2): devices: 0\n"},
			{"-module ending", "opassert check: load ending: SIGABRT"},
			{"-module closing", "opassert check: load closing: exit status 1"},
			{"-module empty", "opassert check: nothing to check: empty adds no ops while it is imported: -module names the module that registers them\n"},
			{"-module empty -lib x.so", "-lib can't be combined with -module: a module loads its libraries itself"},
			{"-module empty -libtorch x", "-libtorch can't be combined with -module or -python: the PyTorch is the one that -python imports"},
			{"-op aten::relu -libtorch x", "-libtorch can't be combined with -module or -python: the PyTorch is the one that -python imports"},
			{"-engine c10", "-python is for the engine libtorch: c10 does not run in Python"},
			{"-module empty -engine c10", "-module is for the engine libtorch: c10 imports no modules"},
		} {
			got := check(t, python, folder, strings.Fields(tt.args)...)
			if got.status != 2 || !strings.Contains(got.stderr, tt.want) || strings.Contains(got.stderr, "Traceback") {
				t.Errorf("check %s: exit status %d, want 2 and %q\n%s", tt.args, got.status, tt.want, got.stderr)
			}
		}
		must.Do(t, os.WriteFile(filepath.Join(folder, "json.py"), nil, 0o644))
		want := filepath.Join(folder, "json.py") + " hides Python's own json"
		if got := check(t, python, folder, "-module", "empty"); got.status != 2 || !strings.Contains(got.stderr, want) {
			t.Errorf("a file of the folder is json: exit status %d, want 2 and %q\n%s", got.status, want, got.stderr)
		}
	})
}

// Methods of custom classes that take tensors are called as ops are, of a library that a
// module loads and of one that -lib names: what they do wrong is found, and nothing is
// said of those that let their object keep what it is given.
func TestMethods(t *testing.T) {
	libtorchtest.EachPython(t, func(t *testing.T, python *installed.Python) {
		methods := compile.CppLibrary{Name: "methods", Files: []fs.FS{os.DirFS("../../../../testdata/oplib")}, Units: []string{"methods.cpp"}}
		library := must.Get(methods.Path(python.Torch))(t)
		folder := t.TempDir()
		must.Do(t, os.WriteFile(filepath.Join(folder, "loads.py"), fmt.Appendf(nil, "import torch\n\ntorch.ops.load_library(%q)\n", library), 0o644))
		programs := filepath.Join(folder, "programs")
		for _, args := range [][]string{{"-module", "loads", "-python", python.Path, "-repro", programs}, {"-lib", library}} {
			got := run(t, folder, append([]string{"check", "-v", "-level", "content", "-n", "20", "-state", filepath.Join(t.TempDir(), "state")}, args...)...)
			var found []string
			op := ""
			for line := range strings.Lines(got.stdout) {
				if m := regexp.MustCompile(`^methods::(\S+)`).FindStringSubmatch(line); m != nil {
					op = m[1]
				} else if m := regexp.MustCompile(`^  error (OA\d+|crash) `).FindStringSubmatch(line); m != nil {
					found = append(found, op+" "+m[1])
				}
			}
			slices.Sort(found)
			if diff := cmp.Diff([]string{
				"Broken.crashes crash", "Broken.pass OA007", "Broken.returns OA007", "Broken.returns_detached OA007", "Broken.returns_element OA007", "Broken.returns_view OA007",
				"Broken.unsqueezes OA009", "Broken.writes OA009", "Broken.writes_list OA009", "Broken.writes_optional OA009", "Broken.writes_second OA009",
			}, slices.Compact(found)); diff != "" || !strings.Contains(got.stdout, "22 of 23 ran") {
				t.Errorf("check %q (-want +found):\n%s%s%s", args, diff, got.stdout, got.stderr)
			}
			if strings.Contains(got.stdout, "not reproduced") {
				t.Errorf("check %q:\n%s", args, got.stdout)
			}
		}
		if files, _ := filepath.Glob(filepath.Join(programs, "*.py")); len(files) == 0 {
			t.Error("no program shows a method's fault")
		}
	})
}

// Findings are reproduced by programs without opassert.
func TestReproducedWithoutOpassert(t *testing.T) {
	libtorchtest.EachPython(t, func(t *testing.T, python *installed.Python) {
		programs := filepath.Join(t.TempDir(), "programs")
		args := []string{"-module", "python_faults,python_fakes,python_rules", "-repro", programs}
		for _, op := range []string{
			"faults::writes", "faults::returns_view", "faults::custom_returns", "faults::inplace_clone_", "faults::keeps_argument", "faults::view_copies", "faults::caches",
			"faults::caches_by_sizes", "faults::first_scale_wins_", "fakes::number_count", "fakes::number_rows", "rules::custom", "rules::absent", "rules::vmap_values", "rules::vmap_dimension",
		} {
			args = append(args, "-op", op)
		}
		got := check(t, python, "testdata", args...)
		shown := strings.Count(got.stdout, ": reproduced without opassert")
		if others := strings.Count(got.stdout, "\n  program ") - shown; shown < 15 || others > 0 {
			t.Errorf("%d reproduced, %d not, want 15 and 0\n%s%s", shown, others, got.stdout, got.stderr)
		}
		files, _ := filepath.Glob(filepath.Join(programs, "faults_writes-OA009-*.py"))
		if len(files) != 1 {
			t.Fatalf("programs %v", files)
		}
		cmd := exec.Command(python.Path, files[0])
		cmd.Dir = "testdata"
		if out, _ := cmd.CombinedOutput(); cmd.ProcessState.ExitCode() != 1 || !strings.Contains(string(out), "the fault is there: argument x was changed") {
			t.Errorf("%s ends with %v:\n%s", files[0], cmd.ProcessState, out)
		}
	})
}

// Python alone shows what a kernel touches outside of its tensors: of arguments, of what it
// returns, and of what it allocates for itself.
func TestProgramsOfMemory(t *testing.T) {
	libtorchtest.EachPython(t, func(t *testing.T, python *installed.Python) {
		memory := compile.CppLibrary{Name: "memory", Files: []fs.FS{os.DirFS("../../../../testdata/oplib")}, Units: []string{"memory.cpp"}}
		library := must.Get(memory.Path(python.Torch))(t)
		folder := t.TempDir()
		must.Do(t, os.WriteFile(filepath.Join(folder, "loads.py"), fmt.Appendf(nil, "import torch\n\ntorch.ops.load_library(%q)\n", library), 0o644))
		args := []string{"check", "-module", "loads", "-python", python.Path, "-repro", "programs", "-n", "20", "-state", filepath.Join(folder, "state")}
		for _, op := range []string{"reads_one_more", "reads_before", "writes_one_more", "writes_scratch", "writes.out"} {
			args = append(args, "-op", "astray::OA018_"+op)
		}
		args = append(args, "-op", "astray::OA009_restores")
		got := run(t, folder, args...)
		shown := strings.Count(got.stdout, ": reproduced without opassert")
		if others := strings.Count(got.stdout, "\n  program ") - shown; shown < 6 || others > 0 {
			t.Errorf("%d reproduced, %d not, want 6 and more, and 0\n%s%s", shown, others, got.stdout, got.stderr)
		}
		healthy := must.Get(os.ReadFile(must.Get(filepath.Glob(filepath.Join(folder, "programs", "*OA018_writes_scratch*.py")))(t)[0]))(t)
		mended := filepath.Join(folder, "mended.py")
		must.Do(t, os.WriteFile(mended, bytes.ReplaceAll(healthy, []byte("astray.OA018_writes_scratch"), []byte("within.scratch")), 0o644))
		cmd := exec.Command(python.Path, mended)
		cmd.Dir = folder
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "the fault is not there") {
			t.Errorf("the call of a kernel that stays within its memory: %v\n%s", err, out)
		}
	})
}

// What kernels change besides their tensors is noted, and undone before the next call;
// nothing is said of those that undo it themselves.
func TestState(t *testing.T) {
	libtorchtest.EachPython(t, func(t *testing.T, python *installed.Python) {
		got := check(t, python, "testdata", "-module", "python_state", "-level", "content", "-n", "4", "-json")
		said := saw(t, got, 0, "python_state.py")
		for op, words := range expected(t, python, "python_state") {
			if !strings.Contains(said[op], "note OA009 "+words) {
				t.Errorf("%s: said is %q, want a note that says %q", op, said[op], words)
			}
			delete(said, op)
		}
		for op, words := range said {
			t.Errorf("%s changes nothing, and said is %q", op, words)
		}
	})
}

// Formulas for autograd, and rules for vmap and autocast, that are wrong are found at
// their lines, and nothing is said of right ones; where calls begin at a kernel too.
func TestRules(t *testing.T) {
	libtorchtest.EachPython(t, func(t *testing.T, python *installed.Python) {
		for level, cases := range map[string]string{"-autograd=true": "40", "-level=content": "12"} {
			got := check(t, python, "testdata", "-module", "python_rules", level, "-n", cases, "-json")
			said := saw(t, got, 1, "python_rules.py")
			want := expected(t, python, "python_rules")
			if level == "-autograd=true" {
				delete(want, "rules::needs_no_grad") // all its calls raise there
				delete(want, "rules::leaf")          // its arguments require grad there
			} else { // lint's words, since the calls of its backward raise for that reason
				want["rules::more_gradients"] = "backward returns 2 gradients, and the op has 1 arguments"
				want["rules::less_gradients"] = "backward returns 1 gradients, and the op has 2 arguments"
			}
			for op, words := range want {
				words, noted := strings.CutPrefix(words, "note ")
				if line := "OA014 " + words; !strings.Contains("\n"+said[op], map[bool]string{false: "\n", true: "note "}[noted]+line) {
					t.Errorf("%s: %s: said is %q, want %q", level, op, said[op], words)
				}
				delete(said, op)
			}
			delete(said, "rules::leaf")
			for op, words := range said {
				t.Errorf("%s: %s is right, and said is %q", level, op, words)
			}
			if strings.Contains(got.stdout, "could not be called") {
				t.Errorf("%s: rules were not called\n%s", level, got.stdout)
			}
		}
	})
}

// saw returns what a check found of each op, and noted, in the words of its lines saw,
// each behind its code. Its sites are in a module.
func saw(t *testing.T, got answer, status int, module string) map[string]string {
	t.Helper()
	var results []asserts.Result
	if err := json.Unmarshal([]byte(got.stdout), &results); err != nil || got.status != status {
		t.Fatalf("%v, exit status %d, want %d\n%s", err, got.status, status, got.stderr)
	}
	said := make(map[string]string)
	for _, r := range results {
		mark := map[asserts.Status]string{asserts.Violated: "", asserts.Noted: "note ", asserts.Crashed: "crash "}
		before, ok := mark[r.Status]
		if !ok {
			continue
		}
		_, words, _ := strings.Cut(r.Report, "\n  saw     ")
		line, _, _ := strings.Cut(words, "\n")
		said[r.Op] += before + r.Code.String() + " " + line + "\n"
		if filepath.Base(r.Site.File) != module || r.Site.Line == 0 {
			t.Errorf("%s: the site is %v, want its line of %s", r.Op, r.Site, module)
		}
	}
	return said
}

// Formulas in C++ are judged as those in Python are, and nothing is said of right ones.
func TestFormulasInCpp(t *testing.T) {
	libtorchtest.EachPython(t, func(t *testing.T, python *installed.Python) {
		formulas := compile.CppLibrary{Name: "formulas", Files: []fs.FS{os.DirFS("../../../../testdata/oplib")}, Units: []string{"formulas.cpp"}}
		library := must.Get(formulas.Path(python.Torch))(t)
		folder := t.TempDir()
		must.Do(t, os.WriteFile(filepath.Join(folder, "loads.py"), fmt.Appendf(nil, "import torch\n\ntorch.ops.load_library(%q)\n", library), 0o644))
		ways := map[string][]string{"-module": {"-module", "loads", "-python", python.Path}, "-lib": {"-lib", library, "-libtorch", python.Torch.Root}}
		for way, args := range ways {
			judgesFormulas(t, folder, way, append(args, "-n", "20", "-state", filepath.Join(t.TempDir(), "state")))
		}
	})
}

// judgesFormulas looks for what check says of each formula of formulas.cpp.
func judgesFormulas(t *testing.T, folder, way string, args []string) {
	t.Helper()
	said := saw(t, run(t, folder, append([]string{"check", "-json"}, args...)...), 1, "formulas.cpp")
	want := map[string]string{
		"half_square":  "its gradient of x is not the derivative: ",
		"swapped":      "its gradient of a is not the derivative: ",
		"missing":      "its gradient of b is not the derivative: none along a direction in which the op changes",
		"one":          "its backward raises (RuntimeError: )?function .* returned an incorrect number of gradients \\(expected 2, got 1\\)",
		"three":        "its backward raises (RuntimeError: )?function .* returned an incorrect number of gradients \\(expected 2, got 3\\)",
		"wide":         "its backward raises (RuntimeError: )?Function .* returned an invalid gradient at index 0 - got \\[",
		"changed":      "its gradient of x is not the derivative: ",
		"alone":        "where a alone requires grad its backward returns another gradient of a",
		"alone_raises": "where b alone requires grad its backward raises (RuntimeError: )?function .* returned an incorrect number of gradients",
	}
	if way == "-module" {
		want["unmarked_"] = "its formula is lost: x is written, and its gradient is that of the old value"
	}
	for op, words := range want {
		if !regexp.MustCompile("(?m)^OA014 " + words).MatchString(said["formulas::"+op]) {
			t.Errorf("%s %s: said is %q, want %q", way, op, said["formulas::"+op], words)
		}
		delete(said, "formulas::"+op)
	}
	for op, words := range said {
		if strings.Contains(words, "OA014") {
			t.Errorf("%s %s is right, and said is %q", way, op, words)
		}
	}
	reasons := []string{"its kernel for autograd raises that there is no gradient", "no argument can require grad, or the call raises where one does"}
	if way == "-lib" {
		reasons = append(reasons, "it writes an argument, which no copy shows")
	}
	args = append([]string{"check", "-v", "-op", "derived::no_gradient", "-op", "derived::rows", "-op", "derived::doubled_"}, args...)
	text := run(t, folder, args...).stdout
	for _, reason := range reasons {
		if !regexp.MustCompile(`\n  not compared with rules \d+: ` + reason).MatchString(text) {
			t.Errorf("%s: no count of %q:\n%s", way, reason, text)
		}
	}
}

// With -python and no module the fakes are those of PyTorch's own ops, in Python where it
// has some: they are called, also under symbolic sizes.
func TestFakesOfPyTorch(t *testing.T) {
	libtorchtest.EachPython(t, func(t *testing.T, python *installed.Python) {
		got := check(t, python, t.TempDir(), "-op", "aten::fractional_max_pool2d_backward", "-op", "aten::mm", "-n", "12", "-json")
		var results []asserts.Result
		if err := json.Unmarshal([]byte(got.stdout), &results); err != nil {
			t.Fatalf("%v\n%s", err, got.stderr)
		}
		compared, asked := 0, ""
		for _, r := range results {
			switch {
			case r.Op == "aten::mm" && r.Code == asserts.MetaAlias && r.Status == asserts.Passed:
				compared = r.Count
			case r.Op == "aten::mm" && r.Status == asserts.Violated:
				t.Errorf("found is\n%s", r.Report)
			case r.Op != "aten::mm" && strings.Contains(r.Report, "its fake sets the guard self.shape["):
				asked = r.Report
			}
		}
		if compared == 0 || asked == "" {
			t.Errorf("mm's fake is compared %d times; that a size of another is made a number is found: %v\n%s", compared, asked != "", got.stdout)
		}
	})
}

// With -python and no module, PyTorch's ops for compiled programs are checked: those that libtorch has, and those that
// libtorch_python registers. Their schemas declare less than they do, but of one.
func TestOpsOfCompiledPrograms(t *testing.T) {
	libtorchtest.EachPython(t, func(t *testing.T, python *installed.Python) {
		got := check(t, python, t.TempDir(), "-op", "inductor::*", "-n", "12", "-json")
		var results []asserts.Result
		if err := json.Unmarshal([]byte(got.stdout), &results); err != nil {
			t.Fatalf("%v\n%s", err, got.stderr)
		}
		found, passed := make(map[string][]asserts.Code), make(map[string]int)
		for _, r := range results {
			switch r.Status {
			case asserts.Violated:
				found[r.Op] = append(found[r.Op], r.Code)
			case asserts.Passed:
				passed[r.Op]++
			}
		}
		for op, code := range map[string]asserts.Code{
			"inductor::_reinterpret_tensor":   asserts.WithinStorage,
			"inductor::resize_storage_bytes_": asserts.UndeclaredWrite,
		} {
			if !slices.Contains(found[op], code) {
				t.Errorf("%s: found %v, want %v", op, found[op], code)
			}
		}
		if healthy := "inductor::_mm_plus_mm"; found[healthy] != nil || passed[healthy] == 0 {
			t.Errorf("%s: found %v, and %d checks passed", healthy, found[healthy], passed[healthy])
		}
	})
}
