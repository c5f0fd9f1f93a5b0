package suite

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/internal/dev/must"
	"github.com/opassert/opassert/schema"
)

// TestTallies sends results as a worker does: each arrives with its tallies, and equal ones are sent once.
func TestTallies(t *testing.T) {
	tally := func(n int) report.Devices {
		return report.Devices{engine.CPU: {
			Judged:   asserts.Counts{asserts.FreshStorage: n},
			Skips:    []asserts.Skip{{Code: asserts.InputStorage, Reason: "no storage", Count: n}},
			Uncalled: map[string]int{fmt.Sprint("reason ", n): 1},
		}}
	}
	if a := tally(1)[engine.CPU]; equal(a, report.Tally{Judged: a.Judged, Skips: a.Skips}) ||
		equal(a, report.Tally{Judged: a.Judged, Uncalled: a.Uncalled}) || equal(a, report.Tally{Skips: a.Skips, Uncalled: a.Uncalled}) {
		t.Error("tallies that differ are equal")
	}
	var results []report.CaseResult
	for n := range mostTallies + 2 {
		results = append(results, report.CaseResult{Case: n, Devices: tally(n)})
	}
	for n := range mostTallies + 2 {
		results = append(results, report.CaseResult{Case: len(results), Ran: true, Devices: tally(n)})
	}
	results = append(results, report.CaseResult{Case: len(results), Devices: report.Devices{engine.CPU: {}}}, report.CaseResult{Idle: true})
	var sent, received tallies
	full := 0
	for i := range results {
		text := must.Get(json.Marshal(sent.reply(&results[i])))(t)
		if strings.Contains(string(text), "reason") {
			full++
		}
		var r reply
		must.Do(t, json.Unmarshal(text, &r))
		ok := received.restore(r)
		if diff := cmp.Diff(&results[i], r.CaseResult); !ok || diff != "" {
			t.Errorf("result %d: %v, %v", i, ok, diff)
		}
	}
	if want := mostTallies + 2 + 2; full != want {
		t.Errorf("%d results were sent with their tallies, want %d", full, want)
	}
	if received.restore(reply{new(report.CaseResult), mostTallies + 1}) {
		t.Error("tallies that were not sent were found")
	}
}

// TestShownTallies shows the findings of a case whose tallies change after that: a later result does not refer to them.
func TestShownTallies(t *testing.T) {
	tallies := func(n int) *report.CaseResult {
		return &report.CaseResult{Devices: report.Devices{engine.CPU: {Judged: asserts.Counts{asserts.FreshStorage: n}}}}
	}
	s := perform(t, func(q request, n int) []string {
		shown := lineShown + " " + string(must.Get(json.Marshal(reply{CaseResult: tallies(1)}))(t))
		first := lineEnd + " " + string(must.Get(json.Marshal(reply{CaseResult: tallies(2)}))(t))
		return []string{startOf(0), shown, first, startOf(1), lineEnd + ` {"case": 1, "like": 1}`, lineEnd + " {}", lineDone}
	})
	op := engine.Operator{Schema: must.Get(schema.ParseDispatcher("ns::f(Tensor a) -> Tensor"))(t)}
	res := s.op(t.Context(), op)
	if n := res.Devices[engine.CPU].Judged[asserts.FreshStorage]; res.Fault != "" || n != 4 {
		t.Errorf("judged %d times, want 4; %s", n, res.Fault)
	}
}

// TestServedTallies is the same of a worker.
func TestServedTallies(t *testing.T) {
	var out bytes.Buffer
	s := server{connection: &connection{out: bufio.NewWriter(&out), pid: os.Getpid()}}
	result := report.CaseResult{Devices: report.Devices{engine.CPU: {}}}
	s.shown(&result)
	result.Devices.Add(report.Devices{engine.CPU: {Uncalled: map[string]int{"reason": 1}}})
	must.Do(t, s.end(&result))
	must.Do(t, s.end(&result))
	must.Do(t, s.out.Flush())
	lines := strings.Split(out.String(), "\n")
	if !strings.Contains(lines[1], "reason") || strings.Contains(lines[1], "like") || !strings.Contains(lines[2], `"like":1`) {
		t.Errorf("%q", lines)
	}
}
