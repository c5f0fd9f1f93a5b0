package work

import (
	"fmt"
	"slices"
	"strings"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
)

// threw judges a call that threw by the observations of its arguments.
func (r *Runner) threw(t *Target, c *sample.Case, seen *asserts.Seen, err error) {
	message, isThrown := engine.Message(err)
	switch {
	case len(seen.After) == 0 || !isThrown || dispatched(message) || len(t.unthrown.Checks) == 0:
	case !c.Plain():
		t.thrown(c, asserts.Verdict{Skips: []asserts.Skip{{Code: asserts.UndeclaredWrite, Reason: "the call threw, and a tensor is not plain", Count: 1}}}, message)
	default:
		seen.Number()
		t.thrown(c, asserts.Judge(t.unthrown, seen, r.Policy), message)
	}
}

// unspoiled is the skip of a check that a call which threw does not leave a kernel's own state half
// changed.
var unspoiled = asserts.Skip{
	Code: asserts.NondeterministicResult, Count: 1,
	Reason: fmt.Sprintf("no call was repeated after one that threw: it was after %d others", mostRefused),
}

// spoils repeats the last call with reproducible results after another one that threw, and compares
// its results with those of before: a kernel that throws halfway may leave state of its own
// changed. It does so once for each error.
func (r *Runner) spoils(t *Target, c *sample.Case, err error) {
	message, isThrown := engine.Message(err)
	if t.steady == nil || !t.operator.Added || !isThrown || dispatched(message) {
		return
	}
	text := report.WithoutNumbers(message)
	if t.errors[text] {
		return
	}
	if len(t.errors) == mostRefused {
		t.threw = append(t.threw, &judgedCall{c: c, verdict: asserts.Verdict{Skips: []asserts.Skip{unspoiled}}})
		return
	}
	t.errors[text] = true
	was := t.steady.calls[0].seen
	for _, then := range r.seenAgain(t, t.steady.c, firstTime) {
		faults := t.differing(was, then, asserts.Fault{
			Saw:    fmt.Sprintf("of the result of %s are not those from before this call, which threw: %s", t.steady.c, sample.Clip(message)),
			Breaks: "a program that catches the error gets other results afterwards",
			Fix:    "restore the kernel's own state when it throws: with a guard in C++, in Python in a finally clause",
			Note:   unpromised,
		})
		if len(faults) > 0 && r.repeats(t, t.steady.c, firstTime, then) {
			t.threw = append(t.threw, &judgedCall{c: c, verdict: asserts.JudgeFaults(t.judged, was, faults)})
			t.steady = nil // it already has a fault
		}
	}
}

// mostTwinned is the maximum number of calls of an op that threw and are repeated on the CPU.
const mostTwinned = 200

// untwinned is the skip of a comparison of errors.
var untwinned = asserts.Skip{
	Code: asserts.MetaAlias, Count: 1,
	Reason: fmt.Sprintf("a call that threw was not repeated on cpu and meta: it was after %d others", mostTwinned),
}

// refuses adds one note for each op whose kernel for a device throws for arguments that the CPU and Meta accept.
func (r *Runner) refuses(t *Target, a *attempt, err error) {
	message, isThrown := engine.Message(err)
	unimplemented := dispatched(message) || strings.Contains(strings.ToLower(message), "not implemented")
	if a.calls[0].on == engine.CPU || len(a.calls) == 1 || !isThrown || unimplemented || t.refusal {
		return
	}
	if t.twinned == mostTwinned {
		t.threw = append(t.threw, &judgedCall{c: a.c, verdict: asserts.Verdict{Skips: []asserts.Skip{untwinned}}})
		return
	}
	t.twinned++
	for i := range a.calls[1:] {
		twin := &a.calls[i+1]
		r.callTwins(t, twin)
		if r.left(); twin.seen == nil {
			return
		}
	}
	t.refusal = true
	t.threw = append(t.threw, &judgedCall{c: a.c, verdict: asserts.JudgeFaults(t.judged, new(asserts.Seen), []asserts.Fault{{
		Code:   asserts.MetaAlias,
		Saw:    "the call throws, and returns on cpu and meta: " + sample.Clip(message),
		Breaks: "a program that runs on the CPU fails on the device",
		Fix:    "accept what the kernel for the CPU accepts, or document what the device does not",
		Note:   "the schema does not list the arguments that a kernel accepts",
	}})})
}

// addJudged adds the faults of another call, and counts the checks that could not be made on it.
func (r *Runner) addJudged(t *Target, w *judgedCall, result *report.CaseResult) {
	on := r.Engine.Devices()[0]
	result.Devices.Add(report.Devices{on: {Skips: w.verdict.Skips}})
	for _, f := range t.findings(w.verdict.Violations, result, on) {
		if !slices.ContainsFunc(result.Found, f.SameFault) {
			result.Found = append(result.Found, r.finding(t, w.c, f, result.Case))
		}
	}
}
