package suite

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/internal/dev/must"
)

// follows is the note on an op whose results depend on its process.
const follows = "note OA021 () result: bytes of result differ between two processes with the same values and the same seed, " +
	"but not because of the previous call"

// Results that depend on the values of an earlier call are found, in a run of all cases and in a run of a
// single one. So are results of the first call that differ from the second one's. Ops with other state are healthy; undecided
// ops are skipped.
func TestControl(t *testing.T) {
	const stale = "OA021 (earlier-values) result: 34 of 36 bytes of result depend on the values of an earlier call: they differ between two new processes, one of which makes a call with other values first, the other one the same call"
	const throws = "the call throws in a process that has not run the op"
	for name, want := range map[string]string{
		"first_call_wins":           stale,
		"first_of_a_size_wins_":     strings.NewReplacer(" result:", " argument self:", "of result", "of argument self").Replace(stale),
		"remembers_values":          "",
		"counts_in_vain":            "",
		"counts":                    "",
		"warms_up":                  "OA021 (first-call) result: 3 of 36 bytes of result differ between the first call of the op in a new process and the same call after it",
		"follows_its_process":       follows,
		"throws_in_its_first_call":  "skip: " + throws,
		"crashes_in_its_first_call": "unfinished: it ended a process that had not run the op: SIGSEGV",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := remembers(t, name, 0, 6); got != want {
				t.Errorf("found %q, want %q", got, want)
			}
			if name == "counts" { // its first case can't be reproduced
				want = "skip: " + unshared.Reason
			}
			if got := remembers(t, name, 0, 1); got != want {
				t.Errorf("in the first case alone found %q, want %q", got, want)
			}
		})
	}
}

// remembers runs cases of an op, and returns what is reported about its earlier calls.
func remembers(t *testing.T, name string, from, to int) string {
	ops := must.Get(newFakeEngine().Operators())(t)
	ops = slices.DeleteFunc(ops, func(o engine.Operator) bool { return o.Schema.Func.Name.String() != name })
	run := Run{Operators: ops, From: from, To: to, Workers: 1, Timeout: caseTime, Worker: func() *exec.Cmd { return exec.Command(os.Args[0]) }}
	r := must.Get(run.Do(context.Background()))(t)[0]
	var said []string
	for _, f := range r.Findings {
		level := ""
		if f.Violation.Note != "" {
			level = "note "
		}
		v := f.Violation
		said = append(said, fmt.Sprintf("%s%v (%s) %v: %s", level, v.Code, v.Symptom, v.Subject, v.Saw))
	}
	for _, s := range r.Devices.Sum().Skips {
		if s.Code == asserts.NondeterministicResult && !strings.HasPrefix(s.Reason, "not repeated after a call with other values, in another process: ") {
			said = append(said, slices.Repeat([]string{"skip: " + s.Reason}, s.Count)...)
		}
	}
	for why := range r.Unfinished {
		said = append(said, "unfinished: "+why)
	}
	if r.Fault != "" || len(r.Crashes) > 0 {
		said = append(said, summary(r))
	}
	return strings.Join(said, "; ")
}

// The reason for different results is looked for in one call of an op with other values, and in three others. Those
// after them are skips.
func TestUnexplainedIsBounded(t *testing.T) {
	want := follows + "; skip: " + unfollowed.Reason
	if got := remembers(t, "follows_its_process", 0, 100); got != want {
		t.Errorf("found %q, want %q", got, want)
	}
}

// An op of which no call is repeated is a skip, except PyTorch's own.
func TestUnrepeatedIsCounted(t *testing.T) {
	for _, tt := range []struct {
		op   engine.Operator
		want int
	}{
		{engine.Operator{Added: true}, 1}, {engine.Operator{Function: &engine.GoFunction{}}, 1}, {engine.Operator{}, 0},
	} {
		var tally report.Tally
		tally.Judged[asserts.UndeclaredWrite] = 1
		res := report.OpResult{Devices: report.Devices{"cpu": tally}}
		must.Do(t, new(supervisor).apart(context.Background(), tt.op, &res))
		if got := len(res.Devices["cpu"].Skips); got != tt.want {
			t.Errorf("%+v: %d skips, want %d", tt.op, got, tt.want)
		}
	}
}
