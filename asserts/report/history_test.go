package report

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/internal/dev/must"
)

// A program names the engines in which its finding shows, and those in which the check holds.
func TestProgramsOfAComparison(t *testing.T) {
	shows := func(file string) *OpResult {
		op := ran("x", finds(asserts.InputImpl, 0, "self", "bad"))
		op.Findings[0].Program = &ReproProgram{File: file}
		return op
	}
	c := Comparison{Reports: []*Report{compared("1", shows("a")), compared("2", ran("x")), compared("3", shows("")), compared("4", shows("b")), compared("5")}}
	var got []string
	refused := errors.New("no more")
	err := c.Programs(func(p *ReproProgram, engine string, found, holds []string) error {
		got = append(got, p.File+" of "+engine+": "+strings.Join(found, ", ")+"; "+strings.Join(holds, ", "))
		if p.File == "b" {
			return refused
		}
		return nil
	})
	want := []string{"a of lib 1: lib 1, lib 3, lib 4; lib 2", "b of lib 4: lib 1, lib 3, lib 4; lib 2"}
	if diff := cmp.Diff(want, got); diff != "" || err != refused {
		t.Errorf("%v, -want +got:\n%s", err, diff)
	}
}

// The history of a finding has the first version with it, the last one before that without it, and
// the first one that no longer has it; unjudged checks count for neither.
func TestHistories(t *testing.T) {
	const found, holds, unjudged, absent = "found", "holds", "not judged", "no op"
	for _, tt := range []struct {
		stands []string
		want   string
	}{
		{[]string{found, found}, "in lib 1, the first one compared"},
		{[]string{holds, found}, "since lib 2, not in lib 1"},
		{[]string{holds, holds, found}, "since lib 3, not in lib 2"},
		{[]string{holds, unjudged, found}, "since lib 3, not in lib 1"},
		{[]string{unjudged, found}, "in lib 2; not judged before"},
		{[]string{absent, found}, "in lib 2, the first one that has the op"},
		{[]string{found, holds}, "in lib 1, the first one compared; mended in lib 2"},
		{[]string{holds, found, holds, holds}, "since lib 2, not in lib 1; mended in lib 3"},
		{[]string{found, holds, found}, "in lib 1, the first one compared"},
		{[]string{found, unjudged, holds}, "in lib 1, the first one compared; mended in lib 3"},
		{[]string{found, absent, unjudged}, "in lib 1, the first one compared"},
	} {
		var c Comparison
		for i, s := range tt.stands {
			op := ran("x")
			switch s {
			case found:
				op = ran("x", finds(asserts.InputImpl, 0, "self", "bad"))
			case unjudged:
				op.Devices = nil
			}
			version := string(rune('1' + i))
			if s == absent {
				c.Reports = append(c.Reports, compared(version))
				continue
			}
			c.Reports = append(c.Reports, compared(version, op))
		}
		all := histories(c.Reports)
		if len(all) != 1 {
			t.Fatalf("%v: %d histories", tt.stands, len(all))
		}
		var stands []string
		for _, s := range all[0].Stands {
			stands = append(stands, string(s))
		}
		if diff := cmp.Diff(tt.stands, stands); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
		if got := all[0].words(); got != tt.want {
			t.Errorf("%v: %s, want %s", tt.stands, got, tt.want)
		}
	}
}

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
		kind, stand := findingGone, standsHolds
		if tt.why != "" {
			kind, stand = findingUnseen, standsUnjudged
		}
		change, history := c.Changes()[0], histories(c.Reports)[0]
		if change.Kind != kind || change.Why != tt.why || history.Stands[1] != stand || (history.Mended != "") != (tt.why == "") {
			t.Errorf("%s: %+v, %+v, want %q", name, change, history, tt.why)
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
