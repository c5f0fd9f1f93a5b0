package work

import (
	"slices"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
	"github.com/opassert/opassert/asserts/suite/report"
)

// threw judges a call that threw by what is seen of its arguments.
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

// addThrown adds what a call that threw had done wrong before, and counts what of it
// could not be judged.
func (r *Runner) addThrown(t *Target, w *thrownCall, result *report.Case) {
	on := r.Engine.Devices()[0]
	result.Devices.Add(report.Devices{on: {Skips: w.verdict.Skips}})
	for _, f := range t.findings(w.verdict.Violations, result, on) {
		if !slices.ContainsFunc(result.Found, f.SameFault) {
			result.Found = append(result.Found, r.finding(t, w.c, f, result.Case))
		}
	}
}
