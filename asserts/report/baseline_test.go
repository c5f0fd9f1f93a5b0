package report

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/internal/dev/must"
)

func ran(name string, findings ...*Finding) *OpResult {
	r := &OpResult{Op: "aten::" + name, Schema: name + "(Tensor self) -> Tensor", Cases: 5, Ran: 5, Findings: findings}
	r.Devices = Devices{engine.CPU: judged()}
	return r
}

// judged is the tally of an op for which every check was judged, except those given.
func judged(not ...asserts.Code) (t Tally) {
	for c := range asserts.AllCodes.All() {
		if !slices.Contains(not, c) {
			t.Judged[c] = 5
		}
	}
	return t
}

func finds(code asserts.Code, index int, name, saw string) *Finding {
	return &Finding{Case: 3, Times: 1, Violation: &asserts.Violation{
		Code: code, Subject: asserts.Place{Index: index, Name: name, Element: -1}, Saw: saw, Repro: "-op x -case 3",
	}}
}

// The signal that ends a kernel which reads outside of its tensors differs between runs.
func TestBaselineKnowsCrashesOfOneFault(t *testing.T) {
	shown := func(causes ...string) *Report {
		op := &OpResult{Op: "aten::a", Ran: 1}
		for _, c := range causes {
			op.Crashes = append(op.Crashes, Crash{Cause: c, Alone: true})
		}
		return &Report{All: 1, Ops: []*OpResult{op}}
	}
	path := filepath.Join(t.TempDir(), "baseline")
	b := must.Get(NewBaseline(path))(t)
	b.Update(shown("SIGABRT"))
	f := must.Get(os.Create(path))(t)
	must.Do(t, b.Write(f))
	f.Close()
	b = must.Get(ReadBaseline(path))(t)
	for _, tt := range []struct {
		r           *Report
		found, gone int
	}{
		{shown("SIGABRT"), 0, 0},
		{shown("SIGSEGV", "SIGABRT"), 0, 0},
		{shown("SIGSEGV", "SIGFPE"), 1, 0},
		{shown("hang"), 1, 1},
		{shown(), 0, 1},
	} {
		b.Mark(tt.r)
		if n := tt.r.Findings(); n != tt.found || len(tt.r.Gone) != tt.gone {
			t.Errorf("%v: %d findings, gone %v", tt.r.Ops[0].Crashes, n, tt.r.Gone)
		}
	}
}

func TestReadBaselineRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "b.txt")
	for _, tt := range []struct{ text, want string }{
		{"", ":1:1: not a baseline: it is empty"},
		{"\n" + baselineMark + "\n", ":1:1: not a baseline: its first line does not begin with \"" + baselineMark + "\""},
		{"# another\n", ":1:1: not a baseline: its first line does not begin with \"" + baselineMark + "\""},
		{baselineMark + "\nOA007 aten::a\n", ":2:1: want a code, an op and a subject, such as OA007  aten::view  result"},
		{baselineMark + "\n\nOA999 aten::a self\n", ":3:1: unknown check \"OA999\"; a check is a code such as OA003, or a name such as fresh-impl"},
		{baselineMark + "\nOA009/stat aten::a self\n", ":2:1: unknown symptom \"OA009/stat\"; OA009 has restored, state"},
	} {
		must.Do(t, os.WriteFile(path, []byte(tt.text), 0o600))
		for name, read := range map[string]func(string) (*Baseline, error){"ReadBaseline": ReadBaseline, "NewBaseline": NewBaseline} {
			if b, err := read(path); b != nil || err == nil || err.Error() != path+tt.want {
				t.Errorf("%s of %q: %v, want %s", name, tt.text, err, tt.want)
			}
		}
	}
}

func TestReadBaseline(t *testing.T) {
	path := filepath.Join(t.TempDir(), "b.txt")
	text := baselineMark + "\n\n# a note\n" + baselineMark + "\n  OA007   aten::a   argument  self \ncrash aten::a out of memory\n"
	must.Do(t, os.WriteFile(path, []byte(text), 0o600))
	b := must.Get(ReadBaseline(path))(t)
	if diff := cmp.Diff([]baselineLine{{"OA007", "aten::a", "argument self"}, {"crash", "aten::a", "out of memory"}}, b.Lines); diff != "" {
		t.Error(diff)
	}
}

// A line is gone if its op ran, its check was judged, and it is not shown.
func TestBaselineGone(t *testing.T) {
	idle := &OpResult{Op: "aten::idle"}
	unjudged := ran("unjudged")
	unjudged.Devices = Devices{engine.CPU: judged(asserts.InputImpl, asserts.SchemaLint)}
	r := &Report{Ops: []*OpResult{ran("fixed"), idle, unjudged, ran("shows", finds(asserts.InputImpl, 0, "self", "bad"))}}
	var b Baseline
	for _, op := range []string{"absent", "fixed", "idle", "shows", "unjudged"} {
		b.Lines = append(b.Lines, baselineLine{"OA001", "aten::" + op, "argument self"})
	}
	for _, f := range r.Ops[3].Findings {
		f.Violation.Op = "aten::shows"
	}
	b.Lines = append(b.Lines, baselineLine{"OA012", "aten::unjudged", "schema"})
	b.Lines = append(b.Lines, baselineLine{"crash", "aten::idle", "hang"}, baselineLine{"crash", "aten::unjudged", "hang"})
	b.Mark(r)
	want := []baselineLine{{"OA001", "aten::fixed", "argument self"}, {"OA012", "aten::unjudged", "schema"}, {"crash", "aten::unjudged", "hang"}}
	if diff := cmp.Diff(want, r.Gone); diff != "" {
		t.Error(diff)
	}
	b.Update(r)
	var left []string
	for _, l := range b.Lines {
		left = append(left, l.Op)
	}
	if diff := cmp.Diff([]string{"aten::absent", "aten::idle", "aten::idle", "aten::shows", "aten::unjudged"}, left); diff != "" {
		t.Errorf("updated (-want +got):\n%s", diff)
	}
}

// A line with a symptom is that of the symptom alone, and a line with the check alone is that of each.
func TestBaselineOfSymptoms(t *testing.T) {
	state := finds(asserts.UndeclaredWrite, 0, "self", "errno changed")
	state.Violation.Symptom, state.Violation.Op = "state", "aten::a"
	r := &Report{Ops: []*OpResult{ran("a", state)}}
	for code, known := range map[string]bool{"OA009": true, "OA009/state": true, "OA009/restored": false, "OA010": false} {
		b := Baseline{Lines: []baselineLine{{code, "aten::a", "argument self"}, {"OA009", "aten::b", "argument self"}, {"OA009", "aten::a", "argument x"}}}
		b.Mark(r)
		if state.Known != known || len(r.Gone) != map[bool]int{true: 1, false: 2}[known] {
			t.Errorf("%s: known %v, gone %v", code, state.Known, r.Gone)
		}
		b.Update(r)
		if diff := cmp.Diff([]baselineLine{{"OA009/state", "aten::a", "argument self"}, {"OA009", "aten::b", "argument self"}}, b.Lines); diff != "" {
			t.Errorf("%s, updated (-want +got):\n%s", code, diff)
		}
	}
}

// A baseline records no crash that does not count against an op.
func TestBaselineOfCrashes(t *testing.T) {
	op := &OpResult{Op: "aten::a", Ran: 1, Crashes: []Crash{{Cause: "SIGSEGV", Alone: true}, {Cause: "SIGFPE"}, {Cause: "hang", Alone: true, Waived: "it is slow"}}}
	var b Baseline
	b.Update(&Report{Ops: []*OpResult{op}})
	if diff := cmp.Diff([]baselineLine{{"crash", "aten::a", "SIGSEGV"}}, b.Lines); diff != "" {
		t.Error(diff)
	}
}

func TestBaselineAbsent(t *testing.T) {
	b := Baseline{Lines: []baselineLine{{"OA001", "aten::never", "argument self"}, {"OA001", "aten::gone", "argument self"}}}
	if diff := cmp.Diff(b.Lines[1:], b.Absent(operators(t))); diff != "" {
		t.Error(diff)
	}
}
