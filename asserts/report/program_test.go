package report

import (
	"strings"
	"testing"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/internal/dev/must"
)

// The report has the outcome of the program for each finding and crash.
func TestProgramsAreReported(t *testing.T) {
	shown := &ReproProgram{File: "p/shown.py", Reproduced: true}
	gone := &ReproProgram{File: "p/gone.py", Why: "the fault is not there"}
	none := &ReproProgram{Why: "it has no literal"}
	for _, tt := range []struct {
		findings, crashes []*ReproProgram
		lines             []string
	}{
		{[]*ReproProgram{nil}, []*ReproProgram{nil}, nil},
		{[]*ReproProgram{shown}, nil, []string{"program p/shown.py: reproduced without opassert", "1 error in 1 of 1 op; 1 of 1 program reproduced it without opassert. 1 call of"}},
		{nil, []*ReproProgram{gone, nil}, []string{"program p/gone.py: not reproduced: the fault is not there", "2 crashes in 1 of 1 op; 0 of 1 program reproduced it without opassert. 1 call of"}},
		{[]*ReproProgram{shown, none}, []*ReproProgram{shown}, []string{
			"program p/shown.py: reproduced without opassert", // the crash is the worst
			"program p/shown.py: reproduced without opassert", "program none: it has no literal",
			"2 errors, 1 crash in 1 of 1 op; 2 of 3 programs reproduced it without opassert. 1 call of",
		}},
	} {
		op := &OpResult{Op: "x::f", Schema: "f(Tensor x) -> Tensor", Ran: 1}
		for _, p := range tt.findings {
			op.Findings = append(op.Findings, &Finding{Violation: &asserts.Violation{Code: asserts.FreshImpl, Op: op.Op}, Call: "x::f()", Program: p})
		}
		for i, p := range tt.crashes {
			op.Crashes = append(op.Crashes, Crash{Case: i, Cause: "SIGSEGV", Alone: true, Program: p})
		}
		var b strings.Builder
		must.Do(t, (&Report{Ops: []*OpResult{op}}).WriteText(&b, Brief))
		var got []string
		for line := range strings.Lines(b.String()) {
			if strings.HasPrefix(line, "        program") || strings.Contains(line, "reproduced it") {
				got = append(got, strings.TrimSpace(line))
			}
		}
		if strings.Join(got, "\n") != strings.Join(tt.lines, "\n") {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(tt.lines, "\n"))
		}
	}
}

// A page has the text of each program behind a button that copies it; results have its file.
func TestProgramsOnPageAndInResults(t *testing.T) {
	op := &OpResult{Op: "x::f", Schema: "f(Tensor x) -> Tensor", Ran: 1}
	for _, p := range []*ReproProgram{nil, {Why: "it has no literal"}, {File: "p/f.py", Text: "if a < b:\n"}} {
		op.Findings = append(op.Findings, &Finding{Violation: &asserts.Violation{Code: asserts.FreshImpl, Op: op.Op}, Call: "x::f()", Program: p})
		op.Crashes = append(op.Crashes, Crash{Cause: "SIGSEGV", Alone: true, Program: p})
	}
	r := &Report{Ops: []*OpResult{op}}
	var page strings.Builder
	must.Do(t, r.WriteHTML(&page))
	want := "<p>p/f.py <button class=\"copy\" type=\"button\">Copy</button></p>\n<pre>if a &lt; b:\n</pre>\n</details>"
	if n := strings.Count(page.String(), want); n != 2 || strings.Count(page.String(), "class=\"copy\"") != 2 {
		t.Errorf("%d of 2 times %s in\n%s", n, want, page.String())
	}
	op.Crashes = nil
	var files []string
	for _, result := range r.Results() {
		files = append(files, result.Program)
	}
	if got := strings.Join(files, " "); got != "  p/f.py" {
		t.Errorf("results have %q", got)
	}
}
