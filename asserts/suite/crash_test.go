package suite

import (
	"slices"
	"strings"
	"testing"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/internal/work"
	"github.com/opassert/opassert/asserts/suite/report"
)

// What ends a worker because it asks for much is left out of the crashes, and
// listed in every report.
func TestUnfinishedCasesAreTold(t *testing.T) {
	op := &report.OpResult{Op: "aten::f", Cases: 5, Ran: 5, Left: "after 3 cases that take too long"}
	slow, large := &ending{Crash: report.Crash{Cause: report.Hang}, cost: work.WordCostly}, &ending{Crash: report.Crash{Cause: report.OutOfMemory}, cost: work.WordVaried}
	for _, c := range []*ending{slow, slow, large} {
		if !c.expected() {
			t.Errorf("%+v counts against its op", c)
		}
		op.Leave(&c.Crash)
	}
	r := &report.Report{Ops: []*report.OpResult{op}}
	var got []string
	for _, result := range r.Results() {
		if result.Status == asserts.Skipped {
			got = append(got, strings.Repeat("x", result.Count)+" "+result.Reason)
		}
	}
	want := []string{
		"x a case was not finished: it asks for more memory than a case may take",
		"xx a case was not finished: it asks for many elements or a large number, and takes longer than such a case may",
		" the cases that follow were not run: the op was left after 3 cases that take too long",
	}
	slices.Sort(want)
	if slices.Sort(got); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	var text strings.Builder
	if err := r.WriteText(&text); err != nil || op.Cases != 8 {
		t.Fatal(err, op.Cases)
	}
	for _, line := range []string{"cut     2: a case was not finished: it asks for many", "cut     1: the cases that follow"} {
		if !strings.Contains(text.String(), line) {
			t.Errorf("no %q in\n%s", line, text.String())
		}
	}
}

// An op is left after its own crashes, and late after those of the library itself.
func TestForeignCrashes(t *testing.T) {
	own, foreign := report.Crash{Alone: true}, report.Crash{Alone: true, Foreign: true}
	for _, tt := range []struct {
		own, foreign int
		want         string
	}{{2, 9, ""}, {3, 9, "after 12 crashes"}, {0, maxForeign - 1, ""}, {1, maxForeign - 1, "after 40 crashes"}} {
		op := &report.OpResult{Crashes: slices.Concat(slices.Repeat([]report.Crash{own}, tt.own), slices.Repeat([]report.Crash{foreign}, tt.foreign))}
		if got := whyLeave(op, &foreign, 0); got != tt.want {
			t.Errorf("%d own crashes and %d others: %q, want %q", tt.own, tt.foreign, got, tt.want)
		}
	}
}

func TestSaid(t *testing.T) {
	for _, tt := range []struct {
		lines []string
		want  string
	}{
		{[]string{"one", "two"}, "two"},
		{[]string{"terminate called", "  what():  n != 8", "Exception raised from f"}, "  what():  n != 8"},
		{[]string{"  what():  first", "  what():  second"}, "  what():  second"},
	} {
		got := ""
		for _, line := range tt.lines {
			got = said(got, line)
		}
		if got != tt.want {
			t.Errorf("%q: %q, want %q", tt.lines, got, tt.want)
		}
	}
}
