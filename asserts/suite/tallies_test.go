package suite

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/internal/dev/must"
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
		got, ok := received.result(r)
		if diff := cmp.Diff(&results[i], got); !ok || diff != "" {
			t.Errorf("result %d: %v, %v", i, ok, diff)
		}
	}
	if want := mostTallies + 2 + 2; full != want {
		t.Errorf("%d results were sent with their tallies, want %d", full, want)
	}
	if _, ok := received.result(reply{new(report.CaseResult), mostTallies + 1}); ok {
		t.Error("tallies that were not sent were found")
	}
}
