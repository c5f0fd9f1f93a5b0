package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/libtorch/installed"
	"github.com/opassert/opassert/asserts/libtorch/libtorchtest"
)

// tool returns the command and the op library.
func tool(t *testing.T) (command, lib string) {
	t.Helper()
	lib = libtorchtest.Library(t, "oplib", "../../testdata/oplib", "oplib.cpp")
	built.once.Do(func() { built.err = build() })
	if built.err != nil {
		t.Fatal(built.err)
	}
	return filepath.Join(built.dir, "opassert"), lib
}

var built struct {
	once sync.Once
	dir  string
	err  error
}

func build() error {
	dir, err := os.MkdirTemp("", "opassert")
	if err != nil {
		return err
	}
	built.dir = dir
	cmd := exec.Command("go", "build", "-o", filepath.Join(dir, "opassert"), ".")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%v: %v\n%s", cmd, err, out)
	}
	return nil
}

// An expectation is a line of testdata/oplib/expect.yaml.
type expectation struct{ Op, Code, On, Ends string }

func expectations(t *testing.T) (broken, ended []string) {
	t.Helper()
	text, err := os.ReadFile("../../testdata/oplib/expect.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var lines []expectation
	if err := yaml.Unmarshal(text, &lines); err != nil {
		t.Fatal(err)
	}
	for _, e := range lines {
		switch {
		case e.Ends == "":
			broken = append(broken, "oplib::"+e.Op+" "+e.Code+" "+e.On)
		case !strings.HasPrefix(e.Ends, "an error"):
			ended = append(ended, "oplib::"+e.Op)
		}
	}
	slices.Sort(broken)
	slices.Sort(ended)
	return broken, ended
}

// The command says what is wrong with every broken op of the library, and
// nothing of the others.
func TestCheckOplib(t *testing.T) {
	command, lib := tool(t)
	cmd := exec.Command(command, "check", "-lib", lib, "-level", "meta", "-timeout", "1s", "-json", "-state", filepath.Join(t.TempDir(), "state"))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if exit, ok := err.(*exec.ExitError); !ok || exit.ExitCode() != 1 {
		t.Fatalf("the command ended with %v; findings are status 1", err)
	}
	var results []asserts.Result
	if err := json.Unmarshal(out, &results); err != nil {
		t.Fatal(err)
	}
	var broken, ended []string
	for _, r := range results {
		switch r.Status {
		case asserts.Violated:
			name := r.Subject[strings.LastIndex(r.Subject, " ")+1:]
			name, _, _ = strings.Cut(name, "[")
			broken = append(broken, r.Op+" "+r.Code.String()+" "+name)
			if !strings.Contains(r.Report, "repro   opassert check -engine libtorch -lib "+lib) && r.Code != asserts.SchemaLint {
				t.Errorf("%s: the report tells of no repro:\n%s", r.Op, r.Report)
			}
			if !strings.HasSuffix(r.Site.File, "oplib.cpp") || r.Site.Line == 0 {
				t.Errorf("%s: the site is %v, want a line of oplib.cpp", r.Op, r.Site)
			}
		case asserts.Crashed:
			ended = append(ended, r.Op)
		}
	}
	slices.Sort(broken)
	slices.Sort(ended)
	wantBroken, wantEnded := expectations(t)
	if diff := cmp.Diff(wantBroken, broken); diff != "" {
		t.Errorf("broken ops (-expected +told):\n%s", diff)
	}
	if diff := cmp.Diff(wantEnded, slices.Compact(ended)); diff != "" {
		t.Errorf("ops that end the process (-expected +told):\n%s", diff)
	}
}

// A repro line runs the case again and finds the same.
func TestCaseRunsAgain(t *testing.T) {
	command, lib := tool(t)
	out, err := exec.Command(command, "check", "-lib", lib, "-op", "oplib::row").Output()
	if err == nil {
		t.Fatal("nothing found")
	}
	_, repro, _ := strings.Cut(string(out), "repro   opassert ")
	repro, _, _ = strings.Cut(repro, "\n")
	again, err := exec.Command(command, strings.Fields(repro)...).Output()
	if err == nil {
		t.Fatal("nothing found again")
	}
	title, _, _ := strings.Cut(string(out), "\n")
	if !strings.HasPrefix(string(again), title) {
		t.Errorf("found %s\nand again %s", title, again)
	}
}

// A crash is told with its call, the op's own stack and a repro line; the waive
// line of its report, pasted into a file, waives it.
func TestCrashIsReportedAndWaived(t *testing.T) {
	command, lib := tool(t)
	check := []string{"check", "-lib", lib, "-op", "oplib::crash", "-cases", "4"}
	out, err := exec.Command(command, check...).Output()
	if exit, ok := err.(*exec.ExitError); !ok || exit.ExitCode() != 1 {
		t.Fatalf("the command ended with %v; crashes are status 1\n%s", err, out)
	}
	for _, want := range []string{
		"crash  oplib::crash  SIGSEGV in case 0\n", "\n  call    oplib::crash(self=float32[", "\n  stack   ", "oplib-", "\n  repro   opassert check ",
	} {
		if !strings.Contains(string(out), want) {
			t.Errorf("the report lacks %q:\n%s", want, out)
		}
	}
	_, waive, _ := strings.Cut(string(out), "\n  waive   ")
	waive, _, _ = strings.Cut(waive, "\n")
	list := filepath.Join(t.TempDir(), "allow.yaml")
	if err := os.WriteFile(list, []byte(waive+"\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	out, err = exec.Command(command, append(check, "-allow", list)...).Output()
	if err != nil || !strings.Contains(string(out), "not counted  oplib::crash  SIGSEGV in case 0, waived: ...") || !strings.Contains(string(out), "0 findings and 0 crashes") {
		t.Errorf("ended with %v:\n%s", err, out)
	}
}

// A library that ends the process while it is loaded, or adds no ops, is no green
// run.
func TestLibraryWithoutOps(t *testing.T) {
	command, _ := tool(t)
	for _, tt := range []struct{ name, body, want string }{
		{"exits", "exit(0);", "a worker did not start: exit status 0, while it loaded "},
		{"crashes", "abort();", "a worker did not start: SIGABRT, while it loaded "},
		{"idles", "", "nothing to check: "},
	} {
		dir := t.TempDir()
		source, lib := filepath.Join(dir, tt.name+".c"), filepath.Join(dir, tt.name+".so")
		text := "#include <stdlib.h>\n__attribute__((constructor)) static void load(void) { " + tt.body + " }\n"
		if err := os.WriteFile(source, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command("cc", "-shared", "-fPIC", "-o", lib, source).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		out, err := exec.Command(command, "check", "-lib", lib).CombinedOutput()
		if exit, ok := err.(*exec.ExitError); !ok || exit.ExitCode() != 2 || !strings.Contains(string(out), tt.want+lib) {
			t.Errorf("%s: ended with %v, want %q in\n%s", tt.name, err, tt.want+lib, out)
		}
	}
}

// What dump writes, the other commands read.
func TestDumpReadsBack(t *testing.T) {
	command, lib := tool(t)
	text, err := exec.Command(command, "dump", "-lib", lib, "-ns", "oplib").Output()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "oplib.yaml")
	if err := os.WriteFile(file, text, 0o666); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(command, "list", "-schema", file).CombinedOutput(); err != nil || !strings.Contains(string(out), "oplib::") {
		t.Errorf("list: %v\n%s", err, out)
	}
	// The form has no words for an in-place op that writes nothing.
	out, _ := exec.Command(command, "dump", "-lib", lib, "-ns", "oplib", "-schema", file).Output()
	if diff := cmp.Diff("oplib::double_: only in the library, where code registers it, with no entry in the file\n", string(out)); diff != "" {
		t.Errorf("the dump differs from what it was made from:\n%s", diff)
	}
}

// Several libtorches are run one after the other, and compared.
func TestCompare(t *testing.T) {
	command, lib := tool(t)
	torch, _, err := installed.Find("")
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"check", "-libtorch", torch.Root, "-libtorch", torch.Lib, "-lib", lib, "-op", "oplib::row", "-op", "oplib::scale", "-cases", "5"}
	cmd := exec.Command(command, args...)
	cmd.Env = append(os.Environ(), "XDG_CACHE_HOME="+t.TempDir(), "CXX=no-such-compiler")
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "CXX=no-such-compiler") {
		t.Errorf("without a compiler: %v\n%s", err, out)
	}
	state := filepath.Join(t.TempDir(), "state")
	page := filepath.Join(t.TempDir(), "page.html")
	out, err := exec.Command(command, append(args, "-state", state, "-html", page)...).Output()
	if exit, ok := err.(*exec.ExitError); !ok || exit.ExitCode() != 1 {
		t.Errorf("the command ended with %v; findings are status 1", err)
	}
	if n := strings.Count(string(out), "libtorch "+torch.Version+", level content, seed 1: 1 findings and 0 crashes in"); n != 2 {
		t.Errorf("%d of 2 runs in\n%s", n, out)
	}
	if !strings.HasSuffix(string(out), ":\n  nothing changed\n") {
		t.Errorf("no comparison in\n%s", out)
	}
	if text, err := os.ReadFile(page); err != nil || strings.Count(string(text), `<td class="found">found`) != 2 {
		t.Errorf("the page is\n%s\n%v", text, err)
	}
	if left, _ := filepath.Glob(state + "*"); len(left) > 0 {
		t.Errorf("states are left: %q", left)
	}
	out, err = exec.Command(command, append(args, "-table", "x.md")...).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "-table and -unreached are for one -libtorch") {
		t.Errorf("a table of two: %v\n%s", err, out)
	}
	out, err = exec.Command(command, "dump", "-libtorch", torch.Root, "-libtorch", torch.Root).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "want one -libtorch") {
		t.Errorf("a dump of two: %v\n%s", err, out)
	}
}

// Against its own library, a version's file has nothing but what code
// registers beside it.
func TestDumpOwnFile(t *testing.T) {
	command, _ := tool(t)
	torch, _, err := installed.Find("")
	if err != nil {
		t.Skip(err)
	}
	file, err := torch.Schemas()
	if err != nil {
		t.Skip(err)
	}
	out, err := exec.Command(command, "dump", "-ns", "aten", "-schema", file).Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) || exit != nil && exit.ExitCode() != 1 {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		if !strings.Contains(line, "only in the library, where code registers it") {
			t.Errorf("%s differs: %s", file, line)
		}
	}
}
