package work

import (
	"errors"
	"slices"
	"strings"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/internal/probe"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
)

// threw judges a call that threw by the observations of its arguments, and by what the engine found.
func (r *Runner) threw(t *Target, c *sample.Case, seen *asserts.Seen, err error) {
	thrown, isThrown := errors.AsType[*engine.Thrown](err)
	if !isThrown || dispatched(thrown.Message) {
		return
	}
	var verdict asserts.Verdict
	switch {
	case len(seen.After) == 0:
	case !c.Plain():
		for code := range t.unthrown.Codes().All() {
			skip := asserts.Skip{Code: code, Reason: "the call threw, and a tensor is not plain", Count: 1}
			verdict.Skips = append(verdict.Skips, skip)
		}
	default:
		seen.Number()
		_, seen.Made = r.Engine.(engine.ArgumentKeeper)
		seen.Alone = seen.Made
		verdict = asserts.Judge(t.unthrown, seen, r.Policy)
	}
	if len(verdict.Violations) == 0 {
		verdict.Violations = asserts.JudgeFaults(t.judged, seen, thrown.Left).Violations
	}
	if thrown.Skip != "" {
		skip := asserts.Skip{Code: asserts.KeptArgument, Reason: thrown.Skip, Count: 1}
		verdict.Skips = append(verdict.Skips, skip)
	}
	if len(verdict.Violations)+len(verdict.Skips) > 0 {
		t.thrown(c, verdict, thrown.Message)
	}
}

// leavesState repeats the last call with reproducible results after one that threw, and compares the results.
func (r *Runner) leavesState(t *Target, c *sample.Case, err error) {
	message, isThrown := engine.Message(err)
	if t.steady == nil || !isThrown || dispatched(message) {
		return
	}
	was := r.probeCall(t, t.steady.c, t.steady.calls[0].seen)
	was.Threw = message
	faults, skips := r.probe(t, probe.Thrown, was)
	verdict := asserts.JudgeFaults(t.judged, was.Seen, faults)
	verdict.Skips = append(verdict.Skips, skips...)
	t.threw = append(t.threw, &judgedCall{c: c, verdict: verdict})
	if len(faults) > 0 {
		t.steady = nil // it already has a fault
	}
}

// refuses adds one note for each op whose kernel for a device throws for arguments that the CPU and Meta accept.
func (r *Runner) refuses(t *Target, a *attempt, err error) {
	message, isThrown := engine.Message(err)
	unimplemented := dispatched(message) || strings.Contains(strings.ToLower(message), "not implemented")
	c := r.probeCall(t, a.c, new(asserts.Seen))
	if a.calls[0].on == engine.CPU || len(a.calls) == 1 || !isThrown || unimplemented {
		return
	}
	ok, skips := t.due(probe.Device, c)
	if !ok {
		t.threw = append(t.threw, &judgedCall{c: a.c, verdict: asserts.Verdict{Skips: skips}})
		return
	}
	for i := range a.calls[1:] {
		twin := &a.calls[i+1]
		r.callTwins(t, twin)
		if r.left(); twin.seen == nil {
			return
		}
	}
	c.Known[probe.Noted] = true
	fault := probe.Device.Fault
	fault.Saw += sample.Clip(message)
	t.threw = append(t.threw, &judgedCall{c: a.c, verdict: asserts.JudgeFaults(t.judged, c.Seen, []asserts.Fault{fault})})
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
