package watch

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/report"
)

// The text of a finding has its line, its process, and its program if there is one.
func TestReportOfFinding(t *testing.T) {
	site := []Frame{{File: "main.py", Line: 1, Func: "<module>"}, {File: "train.py", Line: 42, Func: "forward"}}
	for _, tt := range []struct {
		name    string
		finding OpFinding
		code    asserts.Code
		want    string
	}{
		{"of a call", OpFinding{Site: site}, asserts.UndeclaredWrite, "\n  site    train.py:42 in forward\n  process 7"},
		{"without frames", OpFinding{}, asserts.UndeclaredWrite, "\n  site    a thread without frames of the program\n  process 7"},
		{"of all calls", OpFinding{Site: site}, asserts.SchemaLint, "\n  site    all calls\n  process 7"},
		{"of a rank", OpFinding{Site: site, Rank: "3"}, asserts.UndeclaredWrite, "\n  site    train.py:42 in forward\n  process 7, rank 3"},
		{"with a program", OpFinding{Site: site, Program: &report.ReproProgram{File: "f.py", Reproduced: true}}, asserts.UndeclaredWrite, "\n  site    train.py:42 in forward\n  process 7\n  program f.py: reproduced without opassert"},
	} {
		tt.finding.Violation, tt.finding.Pids = &asserts.Violation{Op: "a::f", Code: tt.code}, []int{7, 9}
		if got := tt.finding.Report(); !strings.HasSuffix(got, tt.want) {
			t.Errorf("%s: %q, want the end %q", tt.name, got, tt.want)
		}
	}
}

// A finding is one of all processes that have it, with each of these once.
func TestProcessesOfFinding(t *testing.T) {
	r := newHeard()
	var f *OpFinding
	for _, pid := range []int{9, 7, 9, 8} {
		f = r.find("a::f", pid, 0)
	}
	if !slices.Equal(f.Pids, []int{7, 8, 9}) || f.Count != 4 || len(r.findings.sorted()) != 1 {
		t.Errorf("%d times in the processes %v", f.Count, f.Pids)
	}
	r.findings.first = nil
	if f := r.find("a::g", 7, 0); f.printed {
		t.Error("a finding is printed although none are")
	}
}

// At the end, a finding that nothing asked for and that was not printed is repeated by the command of
// its context, if that has one.
func TestFindingsAtTheEnd(t *testing.T) {
	r, pid := newHeard(), os.Getpid()
	if r.findings.hasReporters() {
		t.Error("a run without contexts has a reporter")
	}
	r.enter(t, pid, 1, "one")
	if !r.findings.hasReporters() {
		t.Error("a process with contexts is no reporter")
	}
	printed := r.find("printed", pid, 0)
	r.find("printed", 1, 0) // a process that is no reporter
	asked := r.find("asked for later", pid, 0)
	for _, o := range r.findings.held[pid].unreported {
		if o.OpFinding == asked {
			o.in.command = ""
		}
	}
	before := []string{printed.Repro, asked.Repro}
	r.findings.end()
	if after := []string{printed.Repro, asked.Repro}; !slices.Equal(after, before) {
		t.Errorf("they are repeated by %q, want %q", after, before)
	}
}
