package work

import (
	"slices"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
	"github.com/opassert/opassert/asserts/suite/report"
)

// threwAstray judges a call that threw by the memory that it touched and may not. An
// argument that it wrote is compared by itself.
func (r *Runner) threwAstray(t *Target, c *sample.Case, err error) {
	message, isThrown := engine.Message(err)
	faults := slices.DeleteFunc(r.touched(t), func(f asserts.Fault) bool { return !slices.Contains(onMemory, f.Code) })
	if isThrown && len(faults) > 0 {
		t.thrown(c, asserts.JudgeFaults(t.judged, new(asserts.Seen), faults, r.Policy), message)
	}
}

// onMemory are the checks that a watcher finds broken, onRepetition those that the same
// call once more shows.
var (
	onMemory     = []asserts.Code{asserts.OutOfBounds, asserts.UseAfterFree}
	onRepetition = []asserts.Code{asserts.UninitialisedResult, asserts.NondeterministicResult}
)

// elsewhere are the checks that show that a tensor is not where it is said to be: what
// else touches that memory is their doing.
const elsewhere asserts.Codes = 1<<asserts.InputImpl | 1<<asserts.InputStorage | 1<<asserts.WithinStorage

// judgeMemory counts the checks on memory, and returns what is wrong, except what was
// found already.
func (r *Runner) judgeMemory(t *Target, a *attempt, found []*report.Finding, result *report.Case) []*report.Finding {
	if r.watcher() == nil {
		return nil
	}
	on, again := a.calls[0].on, r.repeat(t, a)
	tally := result.Devices[on]
	for _, code := range onMemory {
		tally.Judged[code]++
	}
	for _, code := range onRepetition {
		if again.made {
			tally.Judged[code]++
		} else {
			tally.AddSkips([]asserts.Skip{{Code: code, Reason: "the call is not one to repeat, or threw", Count: 1}})
		}
	}
	result.Devices[on] = tally
	if slices.ContainsFunc(found, func(f *report.Finding) bool { return elsewhere.Has(f.Violation.Code) }) {
		return nil
	}
	faults := slices.Concat(a.memory, again.faults)
	return slices.DeleteFunc(r.judgeFaults(t, a, faults, result, on), func(f *report.Finding) bool {
		return slices.ContainsFunc(found, func(g *report.Finding) bool { return g.Violation.Subject.Name == f.Violation.Subject.Name })
	})
}
