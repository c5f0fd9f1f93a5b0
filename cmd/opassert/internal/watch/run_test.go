package watch_test

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
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/cmd/opassert/internal/preload"
	"github.com/opassert/opassert/cmd/opassert/internal/watch"
	"github.com/opassert/opassert/internal/compile"
	"github.com/opassert/opassert/internal/dev/libtorchtest"
	"github.com/opassert/opassert/internal/dev/must"
	"github.com/opassert/opassert/internal/installed"
)

// Tests of whole programs run on each Python of $OPASSERT_PYTHONS, a list like $PATH,
// or else on python3. Without PyTorch they are skipped, or fail with
// OPASSERT_NEED_PYTORCH=1.

func TestMain(m *testing.M) { os.Exit(libtorchtest.Tests{M: m}.Run()) }

// A python is an interpreter with PyTorch.
type python struct {
	path  string
	torch *installed.Torch
}

// eachPython runs a test on every PyTorch.
func eachPython(t *testing.T, test func(*testing.T, python)) {
	t.Helper()
	libtorchtest.EachPython(t, func(t *testing.T, p *installed.Python) { test(t, python{p.Path, p.Torch}) })
}

// long skips a test that takes minutes.
func long(t *testing.T) {
	t.Helper()
	if os.Getenv("OPASSERT_LONG") == "" {
		t.Skip("some minutes; OPASSERT_LONG=1 runs it")
	}
}

// seeded returns the library of testdata/seeded.cpp.
func (p python) seeded(t *testing.T) string { return p.compiled(t, "seeded") }

// compiled returns the library of a source in testdata.
func (p python) compiled(t *testing.T, name string) string {
	t.Helper()
	library := compile.CppLibrary{Name: name, Files: []fs.FS{os.DirFS("testdata")}, Units: []string{name + ".cpp"}, Link: []string{"-g1"}}
	path := must.Get(library.Path(p.torch))(t)
	return path
}

// An outcome is the result of opassert run.
type outcome struct {
	status         int
	stdout, stderr string
	found          []found
}

type found struct {
	Code, Op, Subject, Saw string
	Fix                    string
	Count                  int
	Pids                   []int
	Rank                   string
	Site                   []watch.Frame `json:"frames"`
	Class                  string
	AnsweredBy             *watch.Frame
	Note                   string `json:"reason"`
	Program                *report.ReproProgram
}

// run runs opassert run with some flags and a program.
func run(t *testing.T, flags []string, program ...string) outcome {
	t.Helper()
	file := filepath.Join(t.TempDir(), "found.json")
	begin := []string{libtorchtest.Command(t), "run", "-v", "-json", file}
	return runCommand(t, file, slices.Concat(begin, flags, []string{"--"}, program))
}

// join runs a Python program that continues in a fork, which opassert run watches.
func join(t *testing.T, python string, program ...string) outcome {
	t.Helper()
	file := filepath.Join(t.TempDir(), "found.json")
	joined := []string{python, "testdata/joined.py", libtorchtest.Command(t), "run", "-v", "-json", file, "--"}
	return runCommand(t, file, append(joined, program...))
}

// runCommand runs a command that writes its findings to a file.
func runCommand(t *testing.T, file string, command []string) outcome {
	t.Helper()
	cmd := exec.Command(command[0], command[1:]...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.Run()
	o := outcome{status: preload.StatusOf(cmd.ProcessState), stdout: stdout.String(), stderr: stderr.String()}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v\n%s", err, o.stderr)
	}
	must.Do(t, json.Unmarshal(text, &o.found))
	return o
}

var mark = regexp.MustCompile(`OA\d+(?: [a-z]+::\w+)?`)

// expected reads the findings in a program's comments: "LINE CODE", or "LINE CODE OP"
// if the comment has an op.
func expected(t *testing.T, file string) []string {
	t.Helper()
	text := must.Get(os.ReadFile(file))(t)
	var want []string
	for i, line := range strings.Split(string(text), "\n") {
		_, comment, _ := strings.Cut(strings.ReplaceAll(line, "  // ", "  # "), "  # ")
		for _, m := range mark.FindAllString(comment, -1) {
			want = append(want, fmt.Sprintf("%d %s", i+1, m))
		}
	}
	slices.Sort(want)
	return want
}

// lines returns findings in the form of expected, with the ops that it has.
func lines(found []found, ops bool) []string {
	var all []string
	for _, f := range found {
		line := "no site"
		if n := len(f.Site); n > 0 {
			line = strconv.Itoa(f.Site[n-1].Line)
		}
		line += " " + f.Code
		if ops {
			op, _, _ := strings.Cut(f.Op, ".")
			line += " " + op
		}
		all = append(all, line)
	}
	slices.Sort(all)
	return all
}

func TestSeededFaultsAreNamedAtTheirLines(t *testing.T) {
	eachPython(t, func(t *testing.T, p python) {
		o := run(t, nil, p.path, "testdata/seeded.py", p.seeded(t))
		if diff := cmp.Diff(expected(t, "testdata/seeded.py"), lines(o.found, false)); diff != "" {
			t.Errorf("%s\n%s", diff, o.stderr)
		}
		if o.status != 1 {
			t.Errorf("exit status %d, want 1", o.status)
		}
		for _, f := range o.found {
			if want := map[bool]int{true: 1, false: 3}[f.Op == "bad::square_backward"]; f.Count != want {
				t.Errorf("%s %s was counted %d times, want %d", f.Code, f.Op, f.Count, want)
			}
			if site := f.Site[len(f.Site)-1]; site.File != "testdata/seeded.py" || f.Site[0].Func != "<module>" {
				t.Errorf("%s: site %v", f.Op, f.Site)
			}
		}
		if !strings.Contains(o.stderr, "not seen bad::never: never called, or past the watcher's keys\n") {
			t.Errorf("the op of which no call is seen is not listed:\n%s", o.stderr)
		}
	})
}

func TestSubclassesAndModes(t *testing.T) {
	eachPython(t, func(t *testing.T, p python) {
		o := run(t, nil, p.path, "testdata/subclasses.py", "healthy")
		if len(o.found) > 0 || o.status != 0 {
			t.Errorf("exit status %d\n%s", o.status, o.stderr)
		}
		for _, skip := range []string{"direct subclass", "wrapper subclass that does not report views", "__opassert_reports_views__"} {
			if !strings.Contains(o.stderr, skip) {
				t.Errorf("no skip %q:\n%s", skip, o.stderr)
			}
		}
		o = run(t, nil, p.path, "testdata/subclasses.py", "faithful")
		if len(o.found) > 0 || o.status != 0 || strings.Contains(o.stderr, "OA004") {
			t.Errorf("exit status %d, and views are not judged:\n%s", o.status, o.stderr)
		}
		o = run(t, nil, p.path, "testdata/subclasses.py", "broken")
		if diff := cmp.Diff(expected(t, "testdata/subclasses.py"), lines(o.found, true)); diff != "" {
			t.Errorf("%s\n%s", diff, o.stderr)
		}
	})
}

func TestProcesses(t *testing.T) {
	tests := []struct {
		how            string
		status         int
		count, pids    int
		flags          []string
		stdout, stderr string
		by             []string // the arguments that start the program, after python
		joins          bool     // also as a process that runs already
	}{
		{how: "threads", joins: true, status: 1, count: 2400, pids: 1},
		{how: "fork", joins: true, status: 1, count: 2, pids: 2},
		{how: "spawn", joins: true, status: 1, count: 2, pids: 2},
		{how: "workers", status: 1, count: 2, pids: 2},
		{how: "children", joins: true, status: 1, count: 1, pids: 1, stdout: "child\n"},
		{how: "cleared", joins: true, status: 1, count: 2, pids: 2},
		{how: "other_user", joins: true, status: 1, count: 1, pids: 1},
		{how: "descriptors", status: 1, count: 1, pids: 1},
		{how: "no_descriptors", status: 2, stderr: ") could not reach opassert: too many open files"},
		{how: "daemon", joins: true, status: 1, count: 1, pids: 1},
		{how: "temporary", joins: true, status: 1, count: 2, pids: 2},
		{how: "system_call", joins: true, status: 2, stderr: "main) has loaded libtorch_cpu.so, and not opassert's object: it was started without LD_PRELOAD"},
		{how: "main", by: []string{"-m", "torch.distributed.run", "--nproc_per_node", "2", "--standalone"}, status: 1, count: 2, pids: 2},
		{how: "at_exit", status: 1, count: 1, pids: 1},
		{how: "killed", joins: true, status: -9, count: 1, pids: 1},
		{how: "crashes", joins: true, status: -6, count: 1, pids: 1},
		{how: "status", joins: true, status: 7, count: 1, pids: 1},
		{how: "closes", joins: true, status: 1, count: 1, pids: 1},
		{how: "raised", status: 1, count: 1, pids: 1, flags: []string{"-fail"}, stdout: "RuntimeError: OA007 undeclared-alias  bad::returns_input  return 0 \"result\"   [cpu, float32]\n"},
		{how: "main", status: 1, count: 1, pids: 1, flags: []string{"-fail"}, stderr: "RuntimeError: OA007 undeclared-alias"},
		{how: "main", status: 0, flags: []string{"-op", "aten::*"}},
		{how: "main", status: 1, count: 1, pids: 1, flags: []string{"-op", "bad::*"}},
	}
	long(t)
	libtorchtest.Command(t) // which outlives a test's folder
	eachPython(t, func(t *testing.T, p python) {
		library := p.seeded(t)
		for _, tt := range tests {
			for _, joins := range slices.Compact([]bool{false, tt.joins}) {
				t.Run(fmt.Sprint(tt.how, tt.flags, tt.by, joins), func(t *testing.T) {
					if tt.how == "other_user" && os.Getuid() != 0 {
						t.Skip("it takes root to become another user")
					}
					t.Setenv("TMPDIR", t.TempDir())
					if tt.by != nil && strings.HasPrefix(p.torch.Number(), "1.") {
						t.Skip("torchrun of 1.13 does not start with Python 3.11")
					}
					program := []string{"testdata/processes.py", library, tt.how}
					var o outcome
					if joins {
						o = join(t, p.path, program...)
					} else {
						o = run(t, tt.flags, slices.Concat([]string{p.path}, tt.by, program)...)
					}
					if o.status != tt.status {
						t.Errorf("exit status %d, want %d\n%s", o.status, tt.status, o.stderr)
					}
					count, pids := 0, 0
					for _, f := range o.found {
						count, pids = count+f.Count, pids+len(f.Pids)
						if n := len(f.Site); tt.how != "closes" && (n == 0 || f.Site[n-1].Func != "fault") {
							t.Errorf("site %v", f.Site)
						}
					}
					if count != tt.count || pids != tt.pids {
						t.Errorf("%d times in %d processes, want %d in %d\n%s", count, pids, tt.count, tt.pids, o.stderr)
					}
					if !strings.Contains(o.stdout, tt.stdout) || !strings.Contains(o.stderr, tt.stderr) {
						t.Errorf("stdout %q, want %q; stderr %q, want %q", o.stdout, tt.stdout, o.stderr, tt.stderr)
					}
				})
			}
		}
	})
}

// The summary counts the calls that can't be observed or judged.
func TestSummarySaysWhatIsNotSeen(t *testing.T) {
	program := `
import os, threading
end = threading.Event()
threading.Thread(target=end.wait).start()
import torch
torch.ones(3).add_(1)
try:
    torch.ones(3).add_(torch.ones(2))
except RuntimeError:
    pass
if os.fork() == 0:
    torch.ones(3)
    os._exit(0)
os.wait()
end.set()`
	eachPython(t, func(t *testing.T, p python) {
		o := run(t, []string{"-level", "content", "-v"}, p.path, "-c", program)
		for _, line := range []string{
			"processes 2: nothing found", "not seen calls of 1 Python thread, which ran before libtorch was loaded", "skipped OA010 1: autograd's kernel raises the version",
			"judged  5 calls, 5 of them at the level content", " 1 calls raised an error of their own",
		} {
			if !strings.Contains(o.stderr, line) {
				t.Errorf("no %q in\n%s", line, o.stderr)
			}
		}
	})
}

// Enumerators are recorded as check reads them.
func TestRecordedEnumerators(t *testing.T) {
	const program = "import torch\ntorch.empty(2, 3, 4, 5, layout=torch.strided, memory_format=torch.channels_last)\n"
	eachPython(t, func(t *testing.T, p python) {
		file := filepath.Join(t.TempDir(), "cases.yaml")
		o := run(t, []string{"-op", "aten::empty.memory_format", "-record", file}, p.path, "-c", program)
		want := `layout: "layout:strided", device: "device:cpu", pin_memory: "false", memory_format: "format:channels_last"}`
		if text := must.Get(os.ReadFile(file))(t); !strings.Contains(string(text), want) || o.status != 0 {
			t.Errorf("exit status %d, no %s in\n%s", o.status, want, text)
		}
	})
}

// A program's calls of an op whose arguments cannot be guessed let the suite find its
// fault.
func TestRecordedCallsAreCasesOfCheck(t *testing.T) {
	eachPython(t, func(t *testing.T, p python) {
		library, cases := p.compiled(t, "recorded"), [2]string{}
		for i := range cases {
			file := filepath.Join(t.TempDir(), "cases.yaml")
			o := run(t, []string{"-record", file, "-record-strings"}, p.path, "testdata/recorded.py", library)
			if o.status != -9 {
				t.Errorf("exit status %d\n%s", o.status, o.stderr)
			}
			text := must.Get(os.ReadFile(file))(t)
			if cases[i] = string(text); i == 0 {
				continue
			}
			for _, n := range []int{2, 3} {
				want := fmt.Sprintf(`{x: "float64[%d, 5, 4] transposed", mode: "'lanczos''3, [a]'", steps: "[7, 1]", scale: "0.125", masks: "[none, bool[2]]", into: "dtype:bfloat16", exact: "true"}`, n)
				if !strings.Contains(cases[i], "    - "+want+"\n") {
					t.Errorf("no %s in\n%s", want, text)
				}
			}
			check := func(flags ...string) (int, string) {
				out, err := exec.Command(libtorchtest.Command(t), slices.Concat([]string{"check", "-v", "-libtorch", p.torch.Root, "-lib", library, "-op", "recorded::resample"}, flags)...).CombinedOutput()
				var exit *exec.ExitError
				if err != nil && !errors.As(err, &exit) {
					t.Fatal(err)
				}
				return strings.Count(string(out), "\n  error OA007  "), string(out)
			}
			if n, out := check(); n != 0 {
				t.Errorf("the suite guesses the arguments:\n%s", out)
			}
			if n, out := check("-cases", file); n == 0 {
				t.Errorf("the suite finds nothing with the calls of the program:\n%s", out)
			}
		}
		if cases[0] != cases[1] || strings.Count(cases[0], "{x: \"float32[2, ") != 32 {
			t.Errorf("two runs recorded\n%s\nand\n%s", cases[0], cases[1])
		}
	})
}

// Each finding has a program that shows it without opassert, with the sizes of a
// recorded call.
func TestPrograms(t *testing.T) {
	eachPython(t, func(t *testing.T, p python) {
		library, folder := p.seeded(t), filepath.Join(t.TempDir(), "programs")
		o := run(t, []string{"-repro", folder, "-repro-import", library}, p.path, "testdata/seeded.py", library)
		if len(o.found) < 16 {
			t.Errorf("%d findings", len(o.found))
		}
		for _, f := range o.found {
			if f.Program == nil || !f.Program.Reproduced || !strings.Contains(o.stderr, f.Program.File+": reproduced without opassert\n") {
				t.Errorf("%s %s: %+v", f.Code, f.Op, f.Program)
			}
		}
	})
}

// A C++ program that is linked to libtorch, and its threads.
func TestLinkedProgram(t *testing.T) {
	eachPython(t, func(t *testing.T, p python) {
		bin := filepath.Join(t.TempDir(), "program")
		abi := "-D_GLIBCXX_USE_CXX11_ABI=0"
		if p.torch.CXX11 {
			abi = "-D_GLIBCXX_USE_CXX11_ABI=1"
		}
		args := []string{"-std=" + p.torch.Standard, "-O0", "-g", "-w", abi, "testdata/program.cpp", "-o", bin, "-Wl,--disable-new-dtags", "-Wl,-rpath," + p.torch.Lib}
		for _, dir := range p.torch.Include {
			args = append(args, "-I"+dir)
		}
		if out, err := exec.Command("c++", append(args, p.torch.Link()...)...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		o := run(t, nil, bin)
		want := expected(t, "testdata/program.cpp")
		if len(o.found) != 1 || o.found[0].Count != 2 || o.status != 1 {
			t.Fatalf("exit status %d, found %v\n%s", o.status, o.found, o.stderr)
		}
		site := o.found[0].Site
		at := site[len(site)-1]
		if got := fmt.Sprintf("%d %s", at.Line, o.found[0].Code); got != want[0] || at.Func != "faulty()" || filepath.Base(at.File) != "program.cpp" {
			t.Errorf("%s in %v, want %s in faulty()", got, at, want[0])
		}
	})
}

// A program whose opassert is killed continues normally.
func TestProgramOutlivesOpassert(t *testing.T) {
	eachPython(t, func(t *testing.T, p python) {
		cmd := exec.Command(libtorchtest.Command(t), "run", "--", p.path, "testdata/processes.py", p.seeded(t), "outlives", "1.5")
		out := must.Get(os.Create(filepath.Join(t.TempDir(), "out")))(t)
		cmd.Stdout, cmd.Stderr = out, out
		must.Do(t, cmd.Start())
		wait(t, out.Name(), "started")
		cmd.Process.Signal(syscall.SIGKILL)
		cmd.Wait()
		wait(t, out.Name(), "unharmed")
	})
}

// wait waits until a file holds a text.
func wait(t *testing.T, file, text string) {
	t.Helper()
	for range 1200 {
		got, _ := os.ReadFile(file)
		if strings.Contains(string(got), text) {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	got, _ := os.ReadFile(file)
	t.Fatalf("no %q in\n%s", text, got)
}

func TestNothingWatchedIsNotClean(t *testing.T) {
	o := run(t, nil, "true")
	if o.status != 2 || !strings.Contains(o.stderr, "nothing was watched") {
		t.Errorf("exit status %d, want 2\n%s", o.status, o.stderr)
	}
	if o := run(t, nil, "bash", "-c", "echo out; echo err >&2; exit 5"); o.status != 5 || o.stdout != "out\n" {
		t.Errorf("exit status %d, want 5; stdout %q", o.status, o.stdout)
	}
}

// Programs without faults have no findings.
func TestHealthyPrograms(t *testing.T) {
	long(t)
	eachPython(t, func(t *testing.T, p python) {
		for _, level := range []string{"identity", "content"} {
			o := run(t, []string{"-level", level}, p.path, "testdata/healthy.py")
			if len(o.found) > 0 || o.status != 0 || !strings.HasSuffix(o.stdout, "failed 0\n") {
				t.Errorf("level %s: exit status %d\n%s\n%s", level, o.status, o.stdout, o.stderr)
			}
		}
	})
}
