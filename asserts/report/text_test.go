package report

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/internal/dev/must"
)

// What a call changed stands beside it where a line has room, and else in a line of its own.
func TestShowJoins(t *testing.T) {
	v := finds(asserts.UndeclaredWrite, 0, "x", "8 of 8 bytes changed").Violation
	v.Op = "ns::f"
	for call, want := range map[string][][2]string{
		"ns::f(x=float32[2])": {{"call", "f(x=float32[2]): 8 of 8 bytes changed"}},
		"":                    {{"saw", "8 of 8 bytes changed"}},
		"ns::f(" + strings.Repeat("x", 80) + ")": {
			{"call", "f(" + strings.Repeat("x", 80) + ")"}, {"saw", "8 of 8 bytes changed"},
		},
	} {
		if diff := cmp.Diff(want, Show(v, call).Lines); diff != "" {
			t.Errorf("%q (-want +got)\n%s", call, diff)
		}
	}
}

// A text that is longer than its lines is cut, unless what is left is one word that ends the last.
func TestFolded(t *testing.T) {
	long := strings.TrimSpace(strings.Repeat("word ", 60))
	for _, tt := range []struct {
		text  string
		most  int
		lines int
		cut   bool
	}{
		{"a word", 2, 1, false}, {long, 4, 4, false}, {long, 2, 2, true}, {long, 1, 1, true},
		{strings.Repeat("a", 92) + " the-end", 2, 2, false}, {strings.Repeat("a", 88) + " end.", 1, 1, false},
	} {
		var b bytes.Buffer
		(&textWriter{w: &b}).folded("  x ", tt.text, 4, tt.most)
		got := strings.TrimSuffix(b.String(), "\n")
		lines := strings.Split(got, "\n")
		if len(lines) != tt.lines || strings.HasSuffix(got, " ...") != tt.cut {
			t.Errorf("%d words in at most %d lines:\n%s", len(strings.Fields(tt.text)), tt.most, got)
		}
		for _, line := range lines {
			if len(line) > width {
				t.Errorf("%d columns: %s", len(line), line)
			}
		}
	}
}

// A note that three ops share stands once; two ops each have theirs.
func TestSharedNotes(t *testing.T) {
	noted := func(name string) *OpResult {
		f := finds(asserts.MetaAlias, 0, "x", "it has no fake")
		f.Violation.Note = "not promised"
		op := ran(name)
		on(op, f, engine.CPU)
		return op
	}
	two := &Report{Ops: []*OpResult{noted("a"), noted("b")}}
	if blocks, shared := two.blocks(); len(blocks) != 2 || len(shared) != 0 {
		t.Errorf("of two ops %d blocks, %d shared notes", len(blocks), len(shared))
	}
	twice := noted("c")
	on(twice, finds(asserts.MetaAlias, 1, "x", "it has no fake"), engine.CPU).Violation.Note = "not promised"
	if _, shared := (&Report{Ops: []*OpResult{noted("a"), twice}}).blocks(); len(shared) != 0 {
		t.Errorf("two ops, of which one has it twice, share %v", shared)
	}
	three := &Report{Ops: append(two.Ops, noted("c"))}
	blocks, shared := three.blocks()
	if len(blocks) != 0 || len(shared) != 1 || !strings.HasSuffix(shared[0].Says, ": 3 ops") {
		t.Errorf("of three ops %d blocks, shared %v", len(blocks), shared)
	}
	broken := noted("d")
	on(broken, finds(asserts.MetaAlias, 0, "x", "it has no fake"), engine.CPU)
	blocks, _ = (&Report{Ops: append(three.Ops, broken)}).blocks()
	if len(blocks) != 1 || len(blocks[0].found) != 1 || blocks[0].errors != 1 {
		t.Errorf("an error in the words of a shared note: %d blocks", len(blocks))
	}
	differ := &Report{}
	for _, saw := range []string{"one", "two", "three"} {
		op := ran(saw)
		on(op, finds(asserts.MetaAlias, 0, "x", saw), engine.CPU).Violation.Note = "not promised"
		differ.Ops = append(differ.Ops, op)
	}
	if _, shared := differ.blocks(); len(shared) != 0 {
		t.Errorf("three notes that differ are shared as %v", shared)
	}
}

// The text of a call names its device; a finding that needs no call has none.
func TestCallOnDevice(t *testing.T) {
	r := &Report{}
	for _, tt := range []struct {
		symptom asserts.Symptom
		device  engine.Device
		want    string
	}{
		{"", "lpu", "a(self=float32[2]) on lpu"}, {"", engine.CPU, "a(self=float32[2])"}, {asserts.NoFake, "lpu", ""},
	} {
		op, f := ran("a"), finds(asserts.MetaAlias, 0, "x", "it is wrong")
		on(op, f, tt.device).Violation.Symptom = tt.symptom
		if got := r.show(op, f).line("call"); got != tt.want {
			t.Errorf("symptom %q on %s: call %q, want %q", tt.symptom, tt.device, got, tt.want)
		}
		if f.Call = "none: the schema alone"; r.show(op, f).line("call") != "" {
			t.Errorf("the schema alone: call %q", r.show(op, f).line("call"))
		}
		if f.Violation.Repro = ""; r.violation(op, f).Repro != "" {
			t.Errorf("the schema alone: repro %q", r.violation(op, f).Repro)
		}
	}
}

// again returns the command of an error, or of a note if there is none, and never that of a known finding.
func TestAgain(t *testing.T) {
	finding := func(repro, note string, known bool) *Finding {
		f := finds(asserts.UndeclaredAlias, 0, "x", "it is shared")
		f.Violation.Repro, f.Violation.Note, f.Known = repro, note, known
		return f
	}
	known, noted := finding("known", "", true), finding("noted", "a reason", false)
	for _, tt := range []struct {
		findings []*Finding
		want     string
	}{
		{[]*Finding{noted, known}, "noted"}, {[]*Finding{known, noted}, "noted"}, {[]*Finding{known}, ""},
		{[]*Finding{noted, finding("error", "", false)}, "error"}, {nil, ""},
	} {
		if got := (&Report{}).again(ran("a", tt.findings...)); !strings.HasSuffix(got, tt.want) || tt.want == "" && got != "" {
			t.Errorf("%v: %q, want %q", tt.findings, got, tt.want)
		}
	}
}

// A list is cut where that leaves out more than one; libraries that were not loaded are not cut.
func TestLongLists(t *testing.T) {
	if got := few([]string{"a", "b", "c"}, 1, "; ") + ", " + few([]string{"a", "b"}, 1, "; "); got != "a; and 2 more, a; b" {
		t.Error(got)
	}
	var b strings.Builder
	must.Do(t, (&Report{Ops: []*OpResult{ran("a")}, Left: []string{"a.so: absent", "b.so: absent"}}).WriteText(&b, Brief))
	if !strings.Contains(b.String(), "not loaded  a.so: absent\nnot loaded  b.so: absent\n") {
		t.Error(b.String())
	}
}

// A finding has its own place where that is not its op's.
func TestPlaceOfFinding(t *testing.T) {
	op, f := ran("a"), finds(asserts.MetaAlias, 0, "x", "it is wrong")
	op.Site = asserts.Site{File: "a.cpp", Line: 1}
	for file, want := range map[string]string{"a.cpp": "", "b.py": "b.py:1"} {
		f.Violation.Site = asserts.Site{File: file, Line: 1}
		if got := (&Report{}).show(op, f).line("at"); got != want {
			t.Errorf("in %s: at %q, want %q", file, got, want)
		}
	}
}

// A check that some call was judged by is not among those that none was.
func TestNotJudged(t *testing.T) {
	op := ran("a")
	tally := judged(asserts.FreshStorage)
	tally.Skips = []asserts.Skip{{Code: asserts.FreshImpl, Count: 2}, {Code: asserts.FreshStorage, Count: 3}}
	op.Devices = Devices{engine.CPU: tally}
	if got := (&Report{Ops: []*OpResult{op}}).notJudged(); len(got) != 1 || !strings.HasPrefix(got[0], "OA005 in 3 calls") {
		t.Errorf("%q", got)
	}
}

// A kernel in Go has its function's name where the schema has no namespace, and commands need none.
func TestNamesOfGoKernels(t *testing.T) {
	for op, want := range map[string]string{"aten::abs": "kernels.Abs", "my::abs": "my::abs", "lib.ops.aten::abs": "kernels.Abs"} {
		r := ran(op)
		r.Op, r.Site = op, asserts.Site{File: "k.go", Line: 3, Func: "example.com/lib/kernels.Abs"}
		f := on(r, finds(asserts.FreshImpl, 0, "result", "it is kept"), engine.CPU)
		f.Violation.Op = op
		f.Call, f.Recipe, f.Violation.Repro = op+"(x)", "{x: t[2]}", "-op "+op+" -case 0"
		r.Crashes = []Crash{{Cause: "SIGSEGV", Alone: true, Call: op + "(x)"}}
		never := &OpResult{Op: op, Site: r.Site}
		all := &Report{Command: "opassert check", Ops: []*OpResult{r, never}}
		var b bytes.Buffer
		must.Do(t, all.WriteText(&b, Verbose))
		for _, result := range all.Results()[:2] {
			b.WriteString(result.Text + result.Report)
		}
		b.WriteString((&Report{Ops: []*OpResult{never}}).Empty() + (&Report{Ops: []*OpResult{never, never}}).Empty())
		text := b.String()
		own := op == "lib.ops.aten::abs" // packages of one module share it
		if !strings.HasPrefix(text, want+"   k.go:3\n") || strings.Contains(text, "aten") != own || strings.Count(text, want) < 9 {
			t.Errorf("%s is %s:\n%s", op, want, text)
		}
	}
}

// The page has findings as the text does, errors first, each with its call and its fix.
func TestPageSaysTheSame(t *testing.T) {
	op := &OpResult{Op: "t::f", Ran: 1}
	for _, note := range []string{"debatable", ""} {
		v := &asserts.Violation{Op: "t::f", Code: asserts.ViewStorage, Saw: "it does not", Note: note, Fix: "return a view"}
		op.Findings = append(op.Findings, &Finding{Violation: v, Call: "t::f(x=float32[2])", Times: 1})
	}
	var page strings.Builder
	must.Do(t, (&Report{Ops: []*OpResult{op}}).WriteHTML(&page))
	_, text, _ := strings.Cut(page.String(), `<section id="findings">`)
	const lines = `<span class="saw"><b>call</b>f(x=float32[2])</span><span class="saw"><b>fix</b>return a view</span>`
	first := strings.Index(text, `<span class="error">error OA004</span> <code>t::f</code> argument [0]: it does not `)
	second := strings.Index(text, `<span class="note">note OA004</span>`)
	if first < 0 || second < first || strings.Count(text, lines) != 2 {
		t.Errorf("error at %d, note at %d of\n%s", first, second, text[:min(len(text), 2000)])
	}
}

// What is to be copied from a finding is not folded.
func TestCopiedLines(t *testing.T) {
	long := strings.Repeat("word ", 40) + "end"
	s := Shown{Level: "error", Code: "OA009", Says: "x", Lines: [][2]string{{"program", long}, {"again", long}, {"call", long}}}
	text := s.Text("op", "at")
	for name, whole := range map[string]bool{"program": true, "again": true, "call": false} {
		if got := strings.Contains(text, fmt.Sprintf("\n        %-6s %s", name, long)); got != whole {
			t.Errorf("%s is in one line: %v\n%s", name, got, text)
		}
	}
}

func TestCount(t *testing.T) {
	for want, got := range map[string]string{"1 note": Count(1, "note"), "2 crashes": Count(2, "crash"), "2 gone": Count(2, "gone"), "0 errors": Count(0, "error")} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
