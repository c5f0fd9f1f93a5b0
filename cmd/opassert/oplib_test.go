package main

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/internal/dev/libtorchtest"
	"github.com/opassert/opassert/internal/dev/must"
)

// tool returns the command and the op library.
func tool(t *testing.T) (command, lib string) {
	t.Helper()
	lib = libtorchtest.Library(t, "oplib", "../../testdata/oplib", "oplib.cpp")
	return libtorchtest.Command(t), lib
}

func expectations(t *testing.T) (broken, ended []string) {
	t.Helper()
	for _, e := range libtorchtest.Expectations(t, "../../testdata/oplib") {
		switch {
		case e.Ends == "":
			broken = append(broken, "oplib::"+e.Op+" "+e.Code+" "+e.On)
		case e.Ends != "an error":
			ended = append(ended, "oplib::"+e.Op)
		}
	}
	slices.Sort(broken)
	slices.Sort(ended)
	return broken, ended
}

// The command reports every broken op of the library, and no others.
func TestCheckOplib(t *testing.T) {
	command, lib := tool(t)
	cmd := exec.Command(command, "check", "-lib", lib, "-level", "meta", "-timeout", "3s", "-json", "-state", filepath.Join(t.TempDir(), "state"))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if exit, ok := err.(*exec.ExitError); !ok || exit.ExitCode() != 1 {
		t.Fatalf("the command ended with %v; findings are status 1", err)
	}
	var results []asserts.Result
	must.Do(t, json.Unmarshal(out, &results))
	var broken, ended []string
	for _, r := range results {
		switch r.Status {
		case asserts.Violated:
			name := r.Subject[strings.LastIndex(r.Subject, " ")+1:]
			name, _, _ = strings.Cut(name, "[")
			broken = append(broken, r.Op+" "+r.Code.String()+" "+name)
			if !strings.Contains(r.Report, "repro   opassert check -lib "+lib) && r.Code != asserts.SchemaLint {
				t.Errorf("%s: the report has no repro:\n%s", r.Op, r.Report)
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
	wantBroken = append(wantBroken, "oplib::replace_ OA018 process", // the fallback for conj reads the shorter storage
		"oplib::forgets_version_ OA012 self", "oplib::forgets_version_list_ OA012 self", // it writes contiguous ones alone
		"oplib::forgets_version_given OA012 given")
	slices.Sort(wantBroken)
	if diff := cmp.Diff(wantBroken, broken); diff != "" {
		t.Errorf("broken ops (-expected +reported):\n%s", diff)
	}
	if diff := cmp.Diff(wantEnded, slices.Compact(ended)); diff != "" {
		t.Errorf("ops that end the process (-expected +reported):\n%s", diff)
	}
}

// A repro line runs the case again, with the same finding.
func TestCaseRunsAgain(t *testing.T) {
	long(t)
	command, lib := tool(t)
	out, err := exec.Command(command, "check", "-lib", lib, "-op", "oplib::row").Output()
	if err == nil {
		t.Fatal("nothing found")
	}
	_, repro, _ := strings.Cut(string(out), "again       opassert ")
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

// A crash is reported with its call, the op's own stack and a repro line; its waive
// line, in an allowlist, waives it.
func TestCrashIsReportedAndWaived(t *testing.T) {
	long(t)
	command, lib := tool(t)
	check := []string{"check", "-lib", lib, "-op", "oplib::crash", "-n", "4", "-v"}
	out, err := exec.Command(command, check...).Output()
	if exit, ok := err.(*exec.ExitError); !ok || exit.ExitCode() != 1 {
		t.Fatalf("the command ended with %v; crashes are status 1\n%s", err, out)
	}
	for _, want := range []string{
		"oplib::crash   ", "\n  error crash  SIGSEGV, in ", "\n        call    oplib::crash(self=float32[", "\n        stack   ", "oplib-", "\n        repro   opassert check ",
	} {
		if !strings.Contains(string(out), want) {
			t.Errorf("the report lacks %q:\n%s", want, out)
		}
	}
	_, waive, _ := strings.Cut(string(out), "\n        waive   ")
	waive, _, _ = strings.Cut(waive, "\n")
	list := filepath.Join(t.TempDir(), "allow.yaml")
	must.Do(t, os.WriteFile(list, []byte(waive+"\n"), 0o666))
	out, err = exec.Command(command, append(check, "-allow", list)...).Output()
	if exit, ok := err.(*exec.ExitError); !ok || exit.ExitCode() != 2 {
		t.Errorf("ended with %v, want exit status 2, as no call ran\n%s", err, out)
	}
	out, err = exec.Command(command, append(check, "-op", "oplib::scale", "-allow", list)...).Output()
	if err != nil || !strings.Contains(string(out), "not counted  oplib::crash  SIGSEGV in case 0, waived: ...") || !strings.Contains(string(out), "nothing found in 3 ops") {
		t.Errorf("ended with %v:\n%s", err, out)
	}
}

// A library that ends the process while it is loaded, or adds no ops, is an error,
// and does not affect others' ops.
func TestLibraryWithoutOps(t *testing.T) {
	long(t)
	command, good := tool(t)
	for _, tt := range []struct{ name, body, alone, beside string }{
		{"exits", `printf("no licence"); exit(0);`, "load LIB: exit status 0: no licence", "not loaded  LIB: exit status 0: no licence"},
		{"crashes", `fputs("bad magic\n", stderr); abort();`, "load LIB: SIGABRT: bad magic", "not loaded  LIB: SIGABRT: bad magic"},
		{"lacks", "void missing(void); missing();", "undefined symbol: missing", "not loaded  LIB: load library: LIB: undefined symbol: missing"},
		{"newer", `void gone(void) __asm__("_ZN3c104goneEv"); gone();`, "undefined symbol: _ZN3c104goneEv (it was built for another PyTorch, not ", "undefined symbol: _ZN3c104goneEv (it was built for another PyTorch, not "},
		{"hoards", `while (malloc(1 << 28)); fputs("no memory\n", stderr); abort();`, "load LIB: SIGABRT: no memory", "not loaded  LIB: SIGABRT: no memory"},
		{"closes", `for (int file = 3; file < 64; file++) close(file);`, "load LIB: ", "not loaded  LIB: "},
		{"forks", `fork();`, "nothing to check: LIB adds no ops", "nothing found in "},
		{"prints", `puts("version 3"); fputs("beta", stderr);`, "nothing to check: LIB adds no ops", "LIB writes while it is loaded: version 3\nbeta"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			source, lib := filepath.Join(dir, tt.name+".c"), filepath.Join(dir, tt.name+".so")
			text := "#include <stdio.h>\n#include <stdlib.h>\n#include <unistd.h>\n__attribute__((constructor)) static void load(void) { " + tt.body + " }\n"
			must.Do(t, os.WriteFile(source, []byte(text), 0o666))
			if out, err := exec.Command("cc", "-shared", "-fPIC", "-o", lib, source).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			want := strings.ReplaceAll(tt.alone, "LIB", lib)
			out, err := exec.Command(command, "check", "-lib", lib).CombinedOutput()
			if exit, ok := err.(*exec.ExitError); !ok || exit.ExitCode() != 2 || !strings.Contains(string(out), want) {
				t.Errorf("ended with %v, want %q in\n%s", err, want, out)
			}
			want = strings.ReplaceAll(tt.beside, "LIB", lib)
			out, err = exec.Command(command, "check", "-lib", lib, "-lib", good, "-op", "oplib::scale", "-n", "3").CombinedOutput()
			if (err == nil) != (tt.name == "prints" || tt.name == "forks") || !strings.Contains(string(out), want) || !strings.Contains(string(out), "2 are clean") {
				t.Errorf("beside another library: ended with %v, want %q in\n%s", err, want, out)
			}
		})
	}
}

// A library is named by its file, and is otherwise an error that says what to write.
func TestLibraryByName(t *testing.T) {
	long(t)
	command, lib := tool(t)
	folder := t.TempDir()
	for name, text := range map[string]string{
		"oplib.so":        string(must.Get(os.ReadFile(lib))(t)),
		"inpython/ops.py": "import torch\n",
	} {
		file := filepath.Join(folder, name)
		must.Do(t, errors.Join(os.MkdirAll(filepath.Dir(file), 0o777), os.WriteFile(file, []byte(text), 0o777)))
	}
	for _, tt := range []struct{ name, want string }{
		{"oplib.so", "2 are clean"},
		{"oplib", `-lib oplib: no file "oplib": -module, without -lib, checks the ops of a Python package, and of its libraries`},
		{"", `-lib : no file "": -module`},
		{"inpython/ops.py", "-lib inpython/ops.py: it is Python: -module ops, without -lib, checks the ops that it registers"},
		{"inpython", "-lib inpython: it is a folder: want a shared library in it, or -module for a Python package"},
		{"none.so", "-lib none.so: stat none.so: no such file"},
	} {
		cmd := exec.Command(command, "check", "-lib", tt.name, "-op", "oplib::scale", "-n", "3")
		cmd.Dir = folder
		out, err := cmd.CombinedOutput()
		if (err == nil) != (tt.want == "2 are clean") || !strings.Contains(string(out), tt.want) {
			t.Errorf("%s: ended with %v, want %q in\n%s", tt.name, err, tt.want, out)
		}
	}
}

// Of libraries for several PyTorches the fitting one is checked, and the others are listed; that is an error.
func TestLibrariesOfSeveralPyTorches(t *testing.T) {
	long(t)
	command, lib := tool(t)
	folder := t.TempDir()
	source, wrong := filepath.Join(folder, "other.c"), filepath.Join(folder, "_C_torch999.so")
	text := `void registers(void) __asm__("_ZN5torch7LibraryC1Ev");` + "\n__attribute__((constructor)) static void load(void) { registers(); }\n"
	must.Do(t, os.WriteFile(source, []byte(text), 0o666))
	if out, err := exec.Command("cc", "-shared", "-fPIC", "-o", wrong, source).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	const other = " (it was built for another PyTorch, not "
	for _, tt := range []struct {
		libs []string
		want []string
	}{
		{[]string{"-lib", lib, "-lib", wrong}, []string{"2 are clean", "not loaded  " + wrong, other, wrong + " could not be loaded"}},
		{[]string{"-lib", wrong}, []string{other}},
	} {
		cmd := exec.Command(command, append([]string{"check", "-op", "oplib::scale", "-n", "3"}, tt.libs...)...)
		out, err := cmd.CombinedOutput()
		if cmd.ProcessState.ExitCode() != 2 {
			t.Errorf("%v: ended with %v, want 2\n%s", tt.libs, err, out)
		}
		for _, want := range tt.want {
			if !strings.Contains(string(out), want) {
				t.Errorf("%v: lacks %q:\n%s", tt.libs, want, out)
			}
		}
	}
}

// Through autograd the command finds exactly the ops whose results autograd loses, in
// every form of report.
func TestThroughAutograd(t *testing.T) {
	long(t)
	command, _ := tool(t)
	lib := libtorchtest.Library(t, "autograd", "../../testdata/oplib", "autograd.cpp")
	run := func(status int, args ...string) string {
		t.Helper()
		var said strings.Builder
		cmd := exec.Command(command, args...)
		cmd.Stderr = &said
		out, err := cmd.Output()
		if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != status {
			t.Errorf("%v ended with %v, want status %d\n%s", args, err, status, &said)
		}
		return string(out) + said.String()
	}
	folder := t.TempDir()
	check := func(status int, name string, args ...string) (path string) {
		t.Helper()
		path = filepath.Join(folder, name)
		args = slices.Concat([]string{"check", "-lib", lib, "-n", "40", "-state", path + ".state", "-json"}, args)
		out, _ := exec.Command(command, args...).Output()
		must.Do(t, os.WriteFile(path, out, 0o666))
		run(status, "merge", path) // which ends as check does, shards aside
		return path
	}
	whole := check(1, "whole.json", "-autograd")
	if diff := cmp.Diff([]string{
		"ungraded::all OA014 result[0]", "ungraded::bias OA014 result", "ungraded::calls_autograd OA014 result", "ungraded::flat OA014 result",
		"ungraded::leaf OA014 result", "ungraded::scale_ OA014 result", "ungraded::sorted OA014 result values", "ungraded::twice OA014 result",
		"ungraded::twice.out OA014 result",
	}, broken(t, whole)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	below := check(1, "below.json", "-level", "content")
	if diff := cmp.Diff([]string{"graded::alone OA009 argument self"}, broken(t, below)); diff != "" {
		t.Errorf("below autograd (-want +got):\n%s", diff)
	}

	// The text has the key that calls begin at, and the skips of the only check.
	page := filepath.Join(folder, "page.html")
	text := run(1, "merge", whole, "-html", page, "-v")
	if !strings.Contains(text, ", level content, through autograd, seed 1\n") || !strings.Contains(text, "\n9 errors in ") || strings.Count(text, " -autograd -op ") != 10 {
		t.Errorf("the report does not say that calls went through autograd:\n%s", text)
	}
	if html, err := os.ReadFile(page); err != nil || !strings.Contains(string(html), "<p>Level content, through autograd, seed 1") {
		t.Errorf("nor does the page: %v", err)
	}
	for line := range strings.Lines(text) {
		if words := strings.Fields(line); len(words) > 1 && (words[0] == "skipped" || words[0] == "judged") && words[1] != "OA014" {
			t.Errorf("counted: %s", line)
		}
	}

	// Shards make one report, and cannot be merged with those of another key.
	one, two := check(2, "1.json", "-autograd", "-shard", "1/2"), check(2, "2.json", "-autograd", "-shard", "2/2")
	want, _ := os.ReadFile(whole)
	if diff := cmp.Diff(string(want), run(1, "merge", one, two, "-json")); diff != "" {
		t.Errorf("merged (-whole +merged):\n%s", diff)
	}
	if said := run(2, "merge", one, below); !strings.Contains(said, "the key that calls begin at is autograd and backend") {
		t.Errorf("merged with those below autograd: %s", said)
	}
	another := filepath.Join(t.TempDir(), filepath.Base(lib))
	must.Do(t, os.WriteFile(another, append(must.Get(os.ReadFile(lib))(t), 0), 0o600))
	cmd := exec.Command(command, "check", "-lib", another, "-n", "40", "-state", another+".state", "-json", "-autograd", "-shard", "2/2")
	out, _ := cmd.Output()
	must.Do(t, os.WriteFile(two, out, 0o600))
	if said := run(2, "merge", one, two); !strings.Contains(said, "the digest of the kernels is ") {
		t.Errorf("merged with those of another library: %s", said)
	}

	// Findings of the check in a baseline are known, and are gone only in a run with
	// that check.
	known := filepath.Join(folder, "known.txt")
	run(0, "merge", whole, "-baseline", known, "-update")
	run(0, "merge", whole, "-baseline", known)
	if text := run(1, "merge", below, "-baseline", known); strings.Contains(text, "gone") {
		t.Errorf("a check that was not made is gone:\n%s", text)
	}
}

// broken returns the violations in a JSON report, sorted.
func broken(t *testing.T, path string) (all []string) {
	t.Helper()
	report := must.Get(os.ReadFile(path))(t)
	var results []asserts.Result
	must.Do(t, json.Unmarshal(report, &results))
	for _, r := range results {
		if r.Status == asserts.Violated {
			all = append(all, r.Op+" "+r.Code.String()+" "+r.Subject)
		}
	}
	slices.Sort(all)
	return all
}

// A finished run over a library is shown again while nothing that decides it changes.
func TestCheckAgain(t *testing.T) {
	long(t)
	command, built := tool(t)
	dir := t.TempDir()
	lib := filepath.Join(dir, "libops.so")
	must.Do(t, os.WriteFile(lib, must.Get(os.ReadFile(built))(t), 0o777))
	const notice = "nothing has changed since this report was made"
	run := func(shown bool, args ...string) string {
		t.Helper()
		cmd := exec.Command(command, append([]string{"check", "-lib", lib, "-op", "oplib::row", "-n", "8"}, args...)...)
		cmd.Dir = dir
		var said strings.Builder
		cmd.Stderr = &said
		out, err := cmd.Output()
		if exit, ok := err.(*exec.ExitError); !ok || exit.ExitCode() != 1 || strings.Contains(said.String(), notice) != shown {
			t.Fatalf("%v: ended with %v, want exit status 1 and the earlier report %v\n%s%s", args, err, shown, out, said.String())
		}
		return string(out)
	}
	first := run(false)
	if again := run(true); again != first {
		t.Errorf("printed again (-first +again):\n%s", cmp.Diff(first, again))
	}
	run(true, "-v")
	run(false, "-seed", "2")
	run(false)
	run(false, "-state", "new")
	run(false, "-json") // which has digests that a text has not
	run(true, "-json")
	run(true)
	run(false, "-repro", filepath.Join(dir, "programs"))
	f := must.Get(os.OpenFile(lib, os.O_APPEND|os.O_WRONLY, 0))(t)
	must.Get(f.WriteString("\n"))(t)
	must.Do(t, f.Close())
	run(false)
}
