package report

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/internal/dev/must"
)

// Checks that hold on one engine are tried with the calls that violate them on another; new
// findings are added once.
func TestUntriedAndAdopt(t *testing.T) {
	shows := func(recipe string) *Finding {
		f := finds(asserts.InputImpl, 0, "self", "bad")
		f.Recipe = recipe
		return f
	}
	lazy := ran("lazy")
	lazy.Devices = nil
	c := &Comparison{Reports: []*Report{
		compared("1", ran("x"), ran("both", shows("{a: 1}")), lazy),
		compared("2", ran("x", shows("{self: 2}")), ran("both", shows("{a: 2}")), ran("lazy", shows("{b: 1}")), ran("new", shows("{c: 1}"))),
		compared("3", ran("x", shows("{self: 2}"), finds(asserts.VersionBump, 0, "self", "without a recipe")), ran("new")),
		compared("4", ran("x", shows("{self: 4}"))),
	}}
	want := []map[string][]string{
		{"aten::x": {"{self: 2}", "{self: 4}"}, "aten::lazy": {"{b: 1}"}},
		{},
		{"aten::new": {"{c: 1}"}},
		{},
	}
	if diff := cmp.Diff(want, c.Untried()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	other := finds(asserts.FreshStorage, 0, "self", "bad")
	further := ran("both", shows("{a: 3}"), other)
	further.Crashes = []Crash{{Alone: true}}
	added := c.Reports[0].Adopt(compared("1", further, ran("unknown", shows("{}"))), nil)
	if len(added.Ops) != 1 || len(added.Ops[0].Findings) != 1 || added.Ops[0].Findings[0] != other || len(added.Ops[0].Crashes) != 0 {
		t.Errorf("added %+v", added.Ops)
	}
	both := c.Reports[0].Ops[1]
	if len(both.Findings) != 2 || both.Findings[1] != other || len(both.Crashes) != 0 || len(c.Reports[0].Ops) != 3 {
		t.Errorf("the report has %+v", both)
	}
	if v := c.Reports[0].violation(both, other); v.Repro != "" {
		t.Errorf("no number of a case makes the call again: %s", v.Repro)
	}
}

// Until the calls that show a finding elsewhere were made, it does not count as gone; nor after a
// run of them that was interrupted, killed or too slow.
func TestWhatDoesNotEndDecidesNothing(t *testing.T) {
	const first = 2 // cases are such calls: that of x::f, as a pattern matches x::f.out too, and its own
	calls := map[string][]string{"aten::f": {"{}"}, "aten::f.out": {"{self: 1}"}}
	crash := func(number int, alone bool, cause string) []Crash {
		return []Crash{{Case: number, Cause: cause, Alone: alone}}
	}
	refused := map[int]string{0: "this case never ran"}
	for name, tt := range map[string]struct {
		further *OpResult // nil: the run was interrupted before
		why     string
	}{
		"an interrupt":                    {nil, "the calls that show it elsewhere were not made"},
		"all ended":                       {&OpResult{}, ""},
		"a fault":                         {&OpResult{Fault: "no worker starts"}, "no worker starts"},
		"a call of theirs is killed":      {&OpResult{Crashes: crash(first-1, true, "SIGKILL")}, "case 1 ended in SIGKILL"},
		"another is killed":               {&OpResult{Crashes: crash(first, true, "SIGKILL")}, ""},
		"a call of theirs crashes":        {&OpResult{Crashes: crash(0, true, "SIGSEGV")}, "case 0 ended in SIGSEGV"},
		"a call that runs the next time":  {&OpResult{Crashes: crash(0, false, "SIGKILL")}, ""},
		"another, and theirs are refused": {&OpResult{Crashes: crash(first, true, "SIGKILL"), Unfit: refused}, "case 2 ended in SIGKILL"},
		"another hangs, theirs refused":   {&OpResult{Crashes: crash(first, true, Hang), Unfit: refused}, "case 2 ended in hang"},
		"another crashes, theirs refused": {&OpResult{Crashes: crash(first, true, "SIGSEGV"), Unfit: refused}, ""},
		"another is slow, theirs refused": {&OpResult{Unended: []int{first}, Unfit: refused}, "a case was not finished"},
		"the op is left":                  {&OpResult{Left: "after a call that hangs"}, "the op was left after a call that hangs"},
		"a call of theirs takes too long": {&OpResult{Unended: []int{7, 1}}, "a case was not finished"},
		"another takes too long":          {&OpResult{Unended: []int{first}}, ""},
	} {
		c := &Comparison{Reports: []*Report{
			compared("1", ran("f.out", finds(asserts.InputImpl, 0, "self", "bad"))), compared("2", ran("f.out"), ran("other")),
		}}
		mine := c.Reports[1]
		mine.Await(calls)
		if mine.Ops[1].open != "" {
			t.Errorf("an op without such calls is open: %s", mine.Ops[1].open)
		}
		further := compared("2")
		if tt.further != nil {
			tt.further.Op = "aten::f.out"
			further.Ops = append(further.Ops, tt.further)
		}
		mine.Adopt(further, calls)
		kind, stand := findingGone, statusHolds
		if tt.why != "" {
			kind, stand = findingUnseen, statusUnjudged
		}
		change, finding := c.Changes()[0], c.findings()[0]
		if change.Kind != kind || change.Why != tt.why || finding.Stands[1] != stand {
			t.Errorf("%s: %+v, %+v, want %q", name, change, finding, tt.why)
		}
	}
	if why := (&OpResult{Op: "aten::f", Crashes: crash(1, true, "SIGSEGV")}).undecided(calls); why != "" {
		t.Errorf("x::f has one such call, and is open: %s", why)
	}
}

// Calls are written as a file of cases.
func TestWriteCases(t *testing.T) {
	for want, calls := range map[string]map[string][]string{
		"[]\n": {},
		"- ops: [\"a::b\"]\n  cases:\n    - {x: \"1\"}\n    - {}\n- ops: [\"a::c\"]\n  cases:\n    - {}\n": {"a::c": {"{}"}, "a::b": {`{x: "1"}`, "{}"}},
	} {
		var b strings.Builder
		must.Do(t, WriteCases(&b, calls))
		if b.String() != want {
			t.Errorf("%s, want %s", b.String(), want)
		}
	}
}
