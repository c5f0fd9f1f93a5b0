package report

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/internal/dev/must"
	"github.com/opassert/opassert/schema"
)

// Findings counts what counts against ops: no notes, and nothing known.
func TestFindings(t *testing.T) {
	if n := failing().Findings(); n != 7 {
		t.Errorf("%d findings and crashes", n)
	}
}

func TestUnreached(t *testing.T) {
	r := failing()
	r.Ops = append(r.Ops, &OpResult{Op: "aten::cannot", Cannot: "it is gone"})
	if diff := cmp.Diff([]string{"aten::failed", "aten::never", "ns::queue"}, r.Unreached()); diff != "" {
		t.Error(diff)
	}
}

func TestEmpty(t *testing.T) {
	never := &OpResult{Op: "aten::never", Error: "not today"}
	note := finds(asserts.MetaAlias, 0, "self", "no fake")
	note.Violation.Note = "it ends torch.compile"
	for _, tt := range []struct {
		ops  []*OpResult
		want string
	}{
		{nil, "there are no ops to run"},
		{[]*OpResult{never}, "aten::never never ran: not today"},
		{[]*OpResult{never, {Op: "aten::b"}}, "none of 2 ops ran; the first is aten::never: not today"},
		{[]*OpResult{{Op: "aten::a", Crashes: []Crash{{Cause: "hang"}}}}, "aten::a never ran: hang"},
		{[]*OpResult{{Op: "aten::a", Error: "unmade", close: Unmade, Crashes: []Crash{{Cause: "hang"}}}}, "aten::a never ran: hang"},
		{[]*OpResult{{Op: "aten::a", Error: "no", Crashes: []Crash{{Cause: "hang"}}}}, "aten::a never ran: no"},
		{[]*OpResult{{Op: "aten::a"}}, "aten::a never ran: no case was tried"},
		{[]*OpResult{never, {Ran: 1}}, ""},
		{[]*OpResult{never, {Crashes: []Crash{{Alone: true}}}}, ""},
		{[]*OpResult{{Op: "aten::a", Crashes: []Crash{{Cause: "SIGABRT", Alone: true, Waived: "known"}}}}, "aten::a never ran: SIGABRT"},
		{[]*OpResult{never, {Findings: []*Finding{finds(asserts.SchemaLint, 0, "self", "bad")}}}, ""},
		{[]*OpResult{{Op: "aten::a", Error: "no", Findings: []*Finding{note}}}, "aten::a never ran: no"},
	} {
		if got := (&Report{Ops: tt.ops}).Empty(); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}

// A fault of many ops is reported once.
func TestFaultsOnce(t *testing.T) {
	r := &Report{Ops: []*OpResult{{Fault: "a"}, {}, {Fault: "b"}, {Fault: "a"}, {Fault: "a", Library: true}}}
	if diff := cmp.Diff([]string{"a", "b"}, r.Faults()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"a"}, r.LibraryFaults()); diff != "" {
		t.Error(diff)
	}
}

// In a run of many ops, rare reasons are left out.
func TestUncalledOfManyOps(t *testing.T) {
	wrote := func(ops int) string {
		r := &Report{}
		for i := range ops {
			r.Ops = append(r.Ops, &OpResult{Op: fmt.Sprint("aten::", i)})
		}
		r.Ops[0].Devices = Devices{engine.Meta: {Uncalled: map[string]int{"rare": 20, "common": 21}}}
		r.Ops[0].Tried = Classes{"self": {"empty"}}
		var b strings.Builder
		must.Do(t, r.WriteText(&b, Verbose))
		return b.String()
	}
	const rare, common, classes = "not compared with meta 20: rare\n", "not compared with meta 21: common\n", "tried   aten::0 self: empty\n"
	for _, tt := range []struct {
		ops   int
		wants []string
		not   []string
	}{{5, []string{rare, common, classes}, nil}, {6, []string{rare, common}, []string{classes}}, {20, []string{common}, []string{rare, classes}}} {
		text := wrote(tt.ops)
		for _, want := range tt.wants {
			if !strings.Contains(text, want) {
				t.Errorf("%d ops: no %q in\n%s", tt.ops, want, text)
			}
		}
		for _, not := range tt.not {
			if strings.Contains(text, not) {
				t.Errorf("%d ops: %q in\n%s", tt.ops, not, text)
			}
		}
	}
}

// The first error of a writer is that of the report; nothing is written after it.
func TestWriteFails(t *testing.T) {
	w := &brokenWriter{left: 2}
	if err := clean().WriteText(w, Verbose); !errors.Is(err, errBroken) || w.left != -1 {
		t.Errorf("error %v, %d writes after it", err, -1-w.left)
	}
	w = &brokenWriter{}
	if err := failing().WriteText(w, Brief); !errors.Is(err, errBroken) || w.left != -1 {
		t.Errorf("findings: error %v, %d writes after it", err, -1-w.left)
	}
}

var errBroken = errors.New("broken")

// A brokenWriter fails after some writes.
type brokenWriter struct{ left int }

func (w *brokenWriter) Write(p []byte) (int, error) {
	if w.left--; w.left < 0 {
		return 0, errBroken
	}
	return len(p), nil
}

func TestFamilyName(t *testing.T) {
	for op, want := range map[string]string{
		"aten::add": "aten::add", "aten::add.Tensor": "aten::add", "aten::add_.Tensor": "aten::add", "aten::__iand__.Tensor": "aten::__iand__",
		"aten::view_copy.out": "aten::view", "aten::add_functional": "aten::add", "aten::_copy": "aten::_copy", "a.b::c": "a.b::c",
	} {
		if got := Family(op); got != want {
			t.Errorf("%s is of the family %s, want %s", op, got, want)
		}
	}
}

// The page's matrix has for each op the checks that held, were skipped and were violated on each
// device.
func TestPageRow(t *testing.T) {
	row := failing().Ops[0].pageRow()
	if row.Judged[engine.CPU][asserts.InputImpl] != 4 || row.Found[engine.CPU][asserts.UndeclaredAlias] != 2 || row.Found[engine.CPU][asserts.InputImpl] != 0 {
		t.Errorf("cpu: judged %v, found %v", row.Judged[engine.CPU], row.Found[engine.CPU])
	}
	if _, ok := row.Judged[engine.Meta]; ok || row.Ran != 4 || row.Why != "" {
		t.Errorf("nothing was judged on meta: %v", row)
	}
	op := tallied("a", asserts.InputImpl)
	op.Devices[engine.CPU] = Tally{Judged: op.Devices[engine.CPU].Judged, Skips: []asserts.Skip{{Code: asserts.FreshImpl, Reason: "a", Count: 2}, {Code: asserts.FreshImpl, Reason: "b", Count: 3}}}
	if n := op.pageRow().Skipped[engine.CPU][asserts.FreshImpl]; n != 5 {
		t.Errorf("%d skipped", n)
	}
	if diff := cmp.Diff(pageRow{Op: "aten::never", Cases: 9, Why: "not\ntoday"}, failing().Ops[9].pageRow()); diff != "" {
		t.Error(diff)
	}
	data := pageData{known: make(map[string]int)}
	got := []map[string]int{data.lists(Classes{"a": {"x", "y"}, "b": {"z"}}), data.lists(Classes{"c": {"x", "y"}})}
	if diff := cmp.Diff([]map[string]int{{"a": 0, "b": 1}, {"c": 0}}, got); diff != "" || len(data.Lists) != 2 {
		t.Errorf("%q, where (-want +got):\n%s", data.Lists, diff)
	}
}

func TestPageOfCrash(t *testing.T) {
	r := failing()
	var notes []string
	for _, c := range r.Ops[1].Crashes {
		notes = append(notes, r.pageCrash(r.Ops[1], c).Note)
	}
	want := []string{"", "not counted: waived: it is slow", "not counted: but not in a process of its own", "known"}
	if diff := cmp.Diff(want, notes); diff != "" {
		t.Error(diff)
	}
}

// A lint finding is about the argument at its position, or the first.
func TestLintPlace(t *testing.T) {
	for text, want := range map[string]asserts.Place{
		"ns::f_(Tensor self, Tensor x) -> Tensor":     {Index: 0, Name: "self", Type: "Tensor", Element: asserts.NoElement},
		"ns::f(Tensor self, *, Tensor out) -> Tensor": {Index: 1, Name: "out", Type: "Tensor", Element: asserts.NoElement},
		"ns::f() -> Tensor(a)":                        {Element: asserts.NoElement},
	} {
		op := must.Get(schema.ParseDispatcher(text))(t)
		r := new(OpResult)
		if r.Lint(engine.Operator{Schema: op}, nil); len(r.Findings) == 0 {
			t.Errorf("%s: nothing found", text)
			continue
		}
		if diff := cmp.Diff(want, r.Findings[0].Violation.Subject); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", text, r.Findings[0].Violation.Saw, diff)
		}
	}
}

// An op of which an allowlist excuses what was found is not clean.
func TestSummary(t *testing.T) {
	excused := func(op string) *OpResult {
		return &OpResult{Op: op, Ran: 1, Waived: []asserts.Skip{{Code: asserts.ViewStorage, Count: 1, Reason: "known"}}}
	}
	noted := excused("aten::n")
	noted.Findings = []*Finding{{Violation: &asserts.Violation{Op: "aten::n", Note: "debatable"}, Times: 1}}
	for _, tt := range []struct {
		ops  []*OpResult
		want string
	}{
		{[]*OpResult{excused("aten::a")}, "nothing found in 1 op; 1 is excused. 1 call of "},
		{[]*OpResult{excused("aten::a"), {Op: "aten::b", Ran: 1}, excused("aten::c")}, "nothing found in 3 ops; 1 is clean; 2 are excused. 3 calls of "},
		{[]*OpResult{noted}, "1 note in 1 of 1 op. 1 call of "},
		{[]*OpResult{{Op: "aten::never"}}, "nothing found in 1 op. 0 calls of "},
	} {
		if got := (&Report{Ops: tt.ops}).summary(); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}

// The report of one op that never ran has the command that says why.
func TestNeverRanAgain(t *testing.T) {
	never := func(op string) *OpResult { return &OpResult{Op: op, Cases: 1, Error: "it refuses"} }
	ran := &OpResult{Op: "t::r", Ran: 1}
	for _, tt := range []struct {
		command string
		ops     []*OpResult
		want    bool
	}{
		{"opassert check", []*OpResult{ran, never("t::f")}, true},
		{"", []*OpResult{ran, never("t::f")}, false},
		{"opassert check", []*OpResult{never("t::f"), never("t::g")}, false},
	} {
		var text strings.Builder
		must.Do(t, (&Report{Command: tt.command, Ops: tt.ops}).WriteText(&text, Brief))
		again := strings.Contains(text.String(), "never ran   t::f: it refuses; opassert check -op t::f -explain\n")
		if again != tt.want || strings.Contains(text.String(), "-explain") != tt.want {
			t.Errorf("%q, %d ops:\n%s", tt.command, len(tt.ops), text.String())
		}
	}
}

// A crash has its device, unless that is the CPU, and its program.
func TestShownCrash(t *testing.T) {
	r, op := new(Report), &OpResult{Op: "t::f"}
	for device, want := range map[engine.Device]string{"": "SIGSEGV", engine.CPU: "SIGSEGV", "openreg": "SIGSEGV, on openreg"} {
		if got := r.showCrash(op, Crash{Cause: "SIGSEGV", Device: device}).Says; got != want {
			t.Errorf("%q on %q, want %q", got, device, want)
		}
	}
	c := Crash{Cause: "SIGSEGV", Program: &ReproProgram{File: "f.py", Reproduced: true}}
	if got := r.CrashText(op, c); !strings.Contains(got, "program f.py: reproduced without opassert") {
		t.Errorf("no program in\n%s", got)
	}
}

// Errors that differ in digits alone are one; other characters, those before the digits too, count.
func TestWithoutNumbers(t *testing.T) {
	if got := WithoutNumbers("f(1, -23): no"); got != "f(, -): no" {
		t.Errorf("%q", got)
	}
}
