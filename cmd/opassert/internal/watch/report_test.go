package watch

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/libtorch"
	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/cmd/opassert/internal/preload"
	"github.com/opassert/opassert/internal/dev/must"
)

// opCounts are the counts of an op, by their position in struct Counts.
type opCounts map[int]int64

// Positions in struct Counts.
const (
	atTraits        = talliesSize / 8
	atContentTraits = atTraits + 16
	atUnheld        = atContentTraits + 16
	atContentUnheld = atUnheld + countsCodes
	atWritten       = atContentUnheld + countsCodes
)

// counting is a run with a file of the counts of its ops, and with a process if it has calls.
func counting(t *testing.T, whole bool, counts ...opCounts) *reported {
	t.Helper()
	r := newHeard()
	r.object, r.skips, r.faked, r.config.Policy = new(preload.SharedObject), make(map[opSkip]int), make(map[int64]int), &asserts.Policy{}
	file := must.Get(os.Create(filepath.Join(t.TempDir(), "counts")))(t)
	t.Cleanup(func() { file.Close() })
	for i, of := range counts {
		record := make([]int64, countsSize/8)
		for at, n := range of {
			record[at] = n
		}
		must.Get(file.WriteAt(words(record...), int64(i)*countsSize))(t)
		r.ops.all = append(r.ops.all, &watchedOp{name: "a::f", listed: new(libtorch.Op), judged: new(asserts.Op)})
	}
	if whole {
		must.Do(t, file.Truncate(countsOps*countsSize+lostSize))
	}
	r.counts = file
	return r
}

// The report has the sums of all ops, and a reason for each check that was not judged.
func TestReportOfRun(t *testing.T) {
	const impl, write, alias = int(asserts.FreshImpl), int(asserts.UndeclaredWrite), asserts.UndeclaredAlias
	r := counting(t, true,
		opCounts{
			0: 20, 1: 10, 2: 5, 3: 1, 4: 2, 5: 3, 6: 4, 7: 8, 8: 5, 9: 6, 10: 7, 11: 9, 12: 4, 13: 2, 14: 6,
			atTraits: 3, atContentTraits: 2, atTraits + 1: 5, atTraits + 2: 1, atTraits + 3: 2, atTraits + uncountedTrait: 1,
			atUnheld + impl: 6, atContentUnheld + write: 7, atUnheld + write: 100, atContentUnheld + impl: 100,
			atWritten: 20, atWritten + 2: 0b111,
		},
		opCounts{0: 1, 1: 1}, opCounts{0: 3, 1: 1, 12: 100}, opCounts{5: 2, 12: 100}, opCounts{},
	)
	all := r.ops.all
	all[0].judged.Checks = []asserts.Check{{Code: asserts.FreshImpl}, {Code: asserts.UndeclaredWrite}, {Code: alias}}
	all[0].judged.Args = []asserts.Subject{{Name: "x", Type: "Tensor(a!)", Write: true}}
	all[0].followed, all[0].listed = true, &libtorch.Op{Schema: "f() -> ()", Composite: true}
	all[0].unseen = []asserts.Skip{{Code: asserts.FreshStorage, Reason: "held"}, {Code: asserts.WriteBeside, Reason: "not copied"}}
	all[2].name, all[2].judged, all[2].unread = "a::e", nil, "odd"
	all[3].name, all[3].judged.Checks = "a::h", []asserts.Check{{Code: alias}}
	all[4].name, all[4].judged, all[4].unread = "a::e", nil, "odd"
	r.config.Policy.Rows = []asserts.Row{
		{Trait: asserts.MetaTensor, Skip: asserts.CodesOf(asserts.FreshImpl, asserts.UndeclaredWrite), Reason: "meta"},
		{Trait: asserts.FunctionalWrapper, Unless: asserts.DirectSubclass, Skip: asserts.CodesOf(asserts.FreshImpl), Reason: "functional"},
	}
	r.faked[0], r.early, r.names, r.processes = 1, 2, map[string]bool{"a::f": true, "a::never": true}, map[int]string{7: ""}
	r.records = map[string]records{"a::f": {1: "{}"}}
	r.object.NotWatched("process 9 is not watched")
	rep := must.Get(r.report(preload.End{Status: 3, Left: []string{"sleep"}}, 5))(t)
	var summary strings.Builder
	must.Do(t, rep.WriteSummary(&summary, true))
	const want = `opassert run: calls 24, ops 2, processes 1: 1 note
  1 x note OA012/unwritten  a::f: argument x: none of 20 calls, on tensors of 3 sizes, changed it, and the schema lets the op write it
  judged  17 calls, 8 of them at the level content
          1 calls raised an error of their own
          5 calls were answered by fakes, for a compiler that traced: they do not show the kernels
          4 calls of which an argument was freed during the call
          5 calls not in the sample for content
          6 calls on storages too large for content
          7 calls on tensors of subclasses or under modes, without content
          9 calls seen above autograd alone, without content
`
	text := summary.String()
	if got, _, _ := strings.Cut(text, "  skipped"); got != want {
		t.Error(cmp.Diff(want, got))
	}
	const end = `  recorded 1 call of a::f
  not recorded 2 calls: a file of cases cannot express their arguments
  not seen calls of 2 Python threads, which ran before libtorch was loaded
  not watched a::e: odd
  not seen a::never: never called, or past the watcher's keys
  still runs, without libtorch: sleep
  NOT WATCHED: process 9 is not watched
`
	if !strings.HasSuffix(text, end) || strings.Count(text, "a::e") != 1 {
		t.Error(text)
	}
	var skips []string
	without := make(map[string]int) // contents
	for _, s := range rep.OpSkips {
		switch s.Reason {
		case faked, lost, failed, sampledOut, tooLarge, ofSubclass, ofAbove:
			without[s.Op]++
		default:
			skips = append(skips, fmt.Sprintf("%s %v %d %s", s.Op, s.Code, s.Count, s.Reason))
		}
	}
	if diff := cmp.Diff([]string{
		"a::f OA003 4 functional", "a::f OA003 3 meta", "a::f OA003 6 " + asserts.NotThere, "a::f OA003 1 uses not counted", "a::f OA005 15 held", "a::f OA007 2 " + hidden,
		"a::f OA009 2 meta", "a::f OA009 7 " + asserts.NotThere, "a::f OA011 2 " + unwritten, "a::f OA011 3 " + notCalled, "a::f OA014 9 " + notBackward, "a::f OA015 8 not copied",
	}, skips); diff != "" || without["a::f"] == 0 || without["a::h"] != 1 {
		t.Errorf("%s\nwithout contents: %v", diff, without)
	}
	var called []string
	for _, op := range rep.Called {
		called = append(called, fmt.Sprintf("%s %q %v %d %d", op.Op, op.Schema, op.Composite, op.Cases, op.Ran))
	}
	if diff := cmp.Diff([]string{`a::e "" false 3 1`, `a::f "f() -> ()" true 21 16`}, called); diff != "" {
		t.Error(diff)
	}
}

// Counts that cannot be read are an error, as are processes that were lost.
func TestReportWithoutCounts(t *testing.T) {
	for _, r := range []*reported{counting(t, false, opCounts{}), counting(t, false)} {
		if len(r.ops.all) > 0 {
			r.counts = must.Get(os.Open(os.DevNull))(t)
			defer r.counts.Close()
		}
		if _, err := r.report(preload.End{}, 0); err == nil {
			t.Errorf("%d ops: a report without counts", len(r.ops.all))
		}
	}
}

// A run of a program that called no op and has no contexts is not watched.
func TestReportOfNothing(t *testing.T) {
	const noProcess, noOp = "no process of the program loaded libtorch: nothing was watched", "the program called no op: nothing was watched"
	for _, tt := range []struct {
		name                        string
		process, calls, asks, other bool
		want                        string
	}{
		{"nothing", false, false, false, false, noProcess},
		{"a process", true, false, false, false, noOp},
		{"calls", true, true, false, false, ""},
		{"a process with contexts", true, false, true, false, ""},
		{"another reason", false, false, false, true, "another"},
	} {
		r := counting(t, true, opCounts{0: truth(tt.calls)})
		if tt.process {
			r.processes = map[int]string{7: ""}
		}
		if tt.asks {
			r.findings.held[7] = new(reporter)
		}
		if tt.other {
			r.object.NotWatched("another")
		}
		if rep := must.Get(r.report(preload.End{}, 0))(t); strings.Join(rep.Unwatched, "; ") != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, rep.Unwatched, tt.want)
		}
	}
}

// The exit status is the program's, else 2 if a process was not watched, else 1 if there are findings.
func TestExitStatus(t *testing.T) {
	found := func(known bool, note string, asked int) []*OpFinding {
		return []*OpFinding{{Violation: &asserts.Violation{Note: note}, Count: 2, Known: known, Asked: asked}}
	}
	for _, tt := range []struct {
		r    OpReport
		want int
	}{
		{OpReport{Status: 7, Unwatched: []string{"why"}}, 7},
		{OpReport{Unwatched: []string{"why"}, Findings: found(false, "", 0)}, 2},
		{OpReport{Findings: found(false, "", 1)}, 1},
		{OpReport{Findings: found(true, "", 0)}, 0},
		{OpReport{Findings: found(false, "why", 0)}, 0},
		{OpReport{Strict: true, Findings: found(false, "why", 0)}, 1},
		{OpReport{Strict: true, Findings: found(true, "why", 0)}, 0},
		{OpReport{Findings: found(false, "", 2)}, 0},
		{OpReport{}, 0},
	} {
		if got := tt.r.ExitStatus(); got != tt.want {
			t.Errorf("%+v: exit status %d, want %d", tt.r, got, tt.want)
		}
	}
}

// The summary has a line for each finding, and for each reason why a check was not judged.
func TestSummaryOfFindings(t *testing.T) {
	v := func(op, note string, answer *asserts.Answer) *asserts.Violation {
		return &asserts.Violation{Op: op, Code: asserts.UndeclaredWrite, Subject: asserts.Place{Name: "x", Element: asserts.NoElement}, Note: note, Answer: answer}
	}
	r := &OpReport{
		Findings: []*OpFinding{
			{Violation: v("a::known", "", nil), Count: 2, Known: true},
			{Violation: v("a::note", "why", &asserts.Answer{Class: "m.B", Site: asserts.Site{Func: "m.B.f"}}), Count: 3, Asked: 3},
			{Violation: v("a::twice", "", nil), Count: 2, Asked: 1, Site: []Frame{{File: "n.py", Line: 7}}},
			{Violation: v("a::asked", "", &asserts.Answer{Class: "m.C", Site: asserts.Site{Func: "m.C.f"}}), Count: 1, Asked: 1, Site: []Frame{{File: "m.py", Line: 3}}},
		},
		Skips: []asserts.Skip{
			{Code: asserts.ViewStorage, Reason: "it does not report views", Count: 1}, {Code: asserts.ViewStorage, Reason: "meta", Count: 2}, {Code: asserts.FreshImpl, Reason: "it does not report views", Count: 3},
		},
	}
	const want = `opassert run: calls 0, ops 0, processes 0: 2 errors, 1 note, 1 known finding
  2 x known finding OA009  a::known: argument x: 
  3 x note OA009  a::note: argument x: , answered by m.B.f
  2 x error OA009  a::twice: argument x: , at n.py:7
  judged  0 calls, 0 of them at the level content
  skipped OA004 1: it does not report views
          a class whose views share storage with their bases declares it with __opassert_reports_views__ = True
  skipped OA004 2: meta
  skipped OA003 3: it does not report views
`
	var text strings.Builder
	must.Do(t, r.WriteSummary(&text, true))
	if diff := cmp.Diff(want, text.String()); diff != "" {
		t.Error(diff)
	}
}

// The results are the findings that a baseline does not have, each at its line, and the skips.
func TestResultsOfRun(t *testing.T) {
	found := func(op string, known bool, program *report.ReproProgram, site ...Frame) *OpFinding {
		return &OpFinding{Violation: &asserts.Violation{Op: op, Code: asserts.UndeclaredWrite}, Count: 2, Pids: []int{7}, Known: known, Program: program, Site: site}
	}
	r := &OpReport{
		Findings: []*OpFinding{
			found("a::known", true, nil), found("a::f", false, nil),
			found("a::g", false, &report.ReproProgram{File: "g.py"}, Frame{File: "main.py", Line: 1}, Frame{File: "train.py", Line: 42, Func: "step"}),
		},
		OpSkips: []asserts.Result{{Op: "a::s", Count: 4}},
	}
	var got []string
	for _, result := range r.Results() {
		got = append(got, fmt.Sprintf("%s %d %q %q %q %v", result.Op, result.Count, result.Program, result.Site.String(), result.Site.Func, strings.Contains(result.Report, "process 7")))
	}
	want := []string{`a::f 2 "" "" "" true`, `a::g 2 "g.py" "train.py:42" "step" true`, `a::s 4 "" "" "" false`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
