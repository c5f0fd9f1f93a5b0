package work

import (
	"slices"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/asserts/suite/internal/probe"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
)

// A cache whose key does not include everything that its entries depend on returns the result of an earlier call to
// later ones in the process, also to repeated ones. So calls are repeated in a process that has not run the op. Tensors
// of the next call lie where those of the last one were, which a key of addresses takes for the same.

// explaining are the checks whose violations explain different results.
const explaining asserts.Codes = 1<<asserts.OutOfBounds | 1<<asserts.UseAfterFree |
	1<<asserts.UninitialisedResult | 1<<asserts.NondeterministicResult

// queueForOtherProcess reports calls of an op of a library, or of a Go function, whose results are
// reproducible: they are repeated in another process. It returns skips of those that are not.
func (r *Runner) queueForOtherProcess(t *Target, a *attempt, found []*report.Finding) []asserts.Skip {
	explains := func(f *report.Finding) bool { return explaining.Has(f.Violation.Code) }
	// OA014 alone is judged
	if t.Apart == nil || r.Level < asserts.Content || !t.operator.Own() || a.calls[0].seen.Autograd ||
		!probe.Repeatable(t.operator.Schema) || probe.LeavesMemory(t.operator.Schema) ||
		slices.ContainsFunc(found, explains) {
		return nil
	}
	if asked := t.budget(probe.EarlierValues).asked; len(asked) < probe.EarlierValues.Budget &&
		slices.ContainsFunc(a.c.Tensors(), (*sample.TensorSpec).Usual) {
		then := probe.OtherValue.InReused()
		r.seenAgain(t, a.c, probe.First.InReused())
		if seen := r.seenAgain(t, a.c, then); seen != nil && r.probeCall(t, a.c, seen[0]).Repeats(then, seen[0]) {
			t.Apart(&Calls{Made: []Call{{a.c, 0}, {a.c, probe.OtherValue.ValueSeed}}, Last: SeenJSON{seen[0]}})
			asked[a.c.Key()] = true
		}
	}
	pairs, left := t.pairs.with(t, a)
	for _, pair := range pairs {
		t.Apart(pair)
	}
	return left
}

// CallApart makes calls, and adds to a result how the last one differs from an earlier observation, if there is one.
func (r *Runner) CallApart(t *Target, calls *Calls, result *report.CaseResult) {
	before := calls.Last.Seen
	calls.Last.Seen = nil
	for _, call := range calls.Made {
		seen := r.seenAgain(t, call.Case, probe.WithValues(call.Turn).InReused())
		if seen == nil {
			break
		}
		calls.Last.Seen = seen[0]
	}
	last := calls.Made[len(calls.Made)-1]
	switch seen := calls.Last.Seen; {
	case before == nil:
	case seen == nil:
		r.addJudged(t, &judgedCall{last.Case, asserts.Verdict{Skips: []asserts.Skip{throwsApart}}}, result)
	default:
		fault, first := probe.EarlierValues.Fault, calls.Made[0].Case
		other := first.Key() != last.Case.Key()
		switch {
		case len(calls.Made) == 1:
			fault = probe.FirstCall.Fault
		case other:
			fault.Saw = "depend on an earlier call: they differ between two new processes, one of which calls " +
				first.String() + " first, the other one the same call"
		}
		r.addJudged(t, &judgedCall{last.Case, asserts.JudgeFaults(t.judged, seen,
			r.probeCall(t, last.Case, seen).Differing(seen, before, fault))}, result)
		if other {
			for _, f := range result.Found {
				f.Earlier, f.Violation.Repro = first.Recipe(), "-op "+t.Gen.Name+report.SeedFlag(r.Seed)
			}
		}
	}
}

// throwsApart is the skip of a call that returns only in the process that ran the cases.
var throwsApart = asserts.Skip{
	Code: asserts.NondeterministicResult, Count: 1,
	Reason: "the call throws in a process that has not run the op",
}
