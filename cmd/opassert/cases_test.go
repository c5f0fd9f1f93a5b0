package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/opassert/opassert/internal/dev/libtorchtest"
	"github.com/opassert/opassert/internal/dev/must"
)

// A user's file of cases makes ops run whose arguments cannot be guessed, one for
// each form of value; the output of -explain for ops that never ran is such a file
// too.
func TestOwnCases(t *testing.T) {
	long(t)
	command, _ := tool(t)
	lib := libtorchtest.Library(t, "cases", "../../testdata/oplib", "cases.cpp")
	check := func(args ...string) string {
		args = append([]string{"check", "-lib", lib, "-state", filepath.Join(t.TempDir(), "state")}, args...)
		out, err := exec.Command(command, args...).CombinedOutput()
		if err != nil && !strings.Contains(string(out), " calls of libtorch") && !strings.Contains(string(out), " ran in ") && !strings.Contains(string(out), "never ran") {
			t.Fatalf("%v\n%s", err, out)
		}
		return string(out)
	}
	out := check("-cases", "../../testdata/oplib/cases.yaml", "-n", "8", "-v")
	if !strings.Contains(out, "23 of 23 ran") { // one is in a namespace of PyTorch, whose own ops are not listed
		t.Errorf("with the file of cases:\n%s", out)
	}
	for _, want := range []string{
		"\ncases::aliases   ", "\n  error OA007  ", "argument named[0]", "fix     clone result before returning: no annotation covers the tensors inside a Dict(str, Tensor)\n",
		"\ncases::writes   ", "\n  error OA009  the kernel writes argument pair[0], ", "\n2 errors in 2 of 23 ops",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("with the file of cases the report lacks %q:\n%s", want, out)
		}
	}
	pasted := ""
	for line := range strings.Lines(out) {
		if entry, ok := strings.CutPrefix(line, "        case    "); ok {
			pasted += entry
		}
	}
	again := filepath.Join(t.TempDir(), "pasted.yaml")
	must.Do(t, os.WriteFile(again, []byte(pasted), 0o666))
	if out := check("-cases", again, "-case", "0", "-op", "cases::aliases", "-op", "cases::writes"); !strings.Contains(out, "2 errors in 2 of 2 ops. 2 calls of ") {
		t.Errorf("with the cases of the findings,\n%sthe report is\n%s", pasted, out)
	}
	explained := check("-n", "40", "-explain")
	for _, want := range []string{
		"# cases::pack ran in ", "- ops: [\"cases::indices\"]\n  cases:\n    - {values: ", " times: no\n",
		"# __torch__.torch.classes.cases.Queue queue: write its constructor, cases.Queue(...), or cases::pack(...)\n",
	} {
		if !strings.Contains(explained, want) {
			t.Errorf("without it, -explain lacks %q:\n%s", want, explained)
		}
	}
	if n := strings.Count(explained, "\n- ops: ["); n != 20 {
		t.Errorf("without it, %d ops never ran, want all but pack and push:\n%s", n, explained)
	}
	file := filepath.Join(t.TempDir(), "explained.yaml")
	must.Do(t, os.WriteFile(file, []byte(explained[strings.Index(explained, "# cases::"):]), 0o666))
	if out := check("-cases", file, "-n", "2"); !strings.Contains(out, ": cases::tuple: this case never ran: no\n") || !strings.Contains(out, " in 23 ops") {
		t.Errorf("the file that -explain prints:\n%s", out)
	}
}
