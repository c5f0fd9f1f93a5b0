package work

import (
	"slices"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
)

// A cache whose key does not include everything that its entries depend on returns the result of an
// earlier call to later ones in the process, also to repeated ones. So calls are repeated in a
// process that has not run the op, and the results are compared. Tensors of the next call lie where those of
// the last one were, which a key of addresses takes for the same.

// astray are the checks whose violations explain different results.
const astray asserts.Codes = 1<<asserts.OutOfBounds | 1<<asserts.UseAfterFree | 1<<asserts.UninitialisedResult | 1<<asserts.NondeterministicResult

// handOver reports calls of an op of a library, or of a Go function, whose results are
// reproducible: they are repeated in another process. It returns skips of those that are not.
func (r *Runner) handOver(t *Target, a *attempt, found []*report.Finding) []asserts.Skip {
	explains := func(f *report.Finding) bool { return astray.Has(f.Violation.Code) }
	switch {
	case t.Apart == nil || r.Level < asserts.Content || !t.operator.Added && t.operator.Function == nil:
		return nil
	case a.calls[0].seen.Autograd: // OA014 alone is judged
		return nil
	case !t.repeatable() || t.leavesMemory() || slices.ContainsFunc(found, explains):
		return nil
	}
	if !t.handedOver && slices.ContainsFunc(a.c.Tensors(), (*sample.TensorSpec).Usual) {
		then := otherValue.inReused()
		r.seenAgain(t, a.c, firstTime.inReused())
		if seen := r.seenAgain(t, a.c, then); seen != nil && r.repeats(t, a.c, then, seen[0]) {
			t.Apart(&Calls{Made: []Call{{a.c, 0}, {a.c, otherValue.later}}, Last: SeenJSON{seen[0]}})
			t.handedOver = true
		}
	}
	pairs, left := t.pairs.with(t, a)
	for _, pair := range pairs {
		t.Apart(pair)
	}
	return left
}

// CallApart makes calls, and adds to a result how the last one differs from an earlier observation,
// if there is one.
func (r *Runner) CallApart(t *Target, calls *Calls, result *report.CaseResult) {
	before := calls.Last.Seen
	calls.Last.Seen = nil
	for _, call := range calls.Made {
		seen := r.seenAgain(t, call.Case, withValues(call.Turn).inReused())
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
		fault, first := earlierValues, calls.Made[0].Case
		other := first.Key() != last.Case.Key()
		switch {
		case len(calls.Made) == 1:
			fault = firstCall
		case other:
			fault.Saw = "depend on an earlier call: they differ between two new processes, one of which calls " + first.String() + " first, the other one the same call"
		}
		r.addJudged(t, &judgedCall{last.Case, asserts.JudgeFaults(t.judged, seen, t.differing(seen, before, fault))}, result)
		if other {
			for _, f := range result.Found {
				f.Earlier, f.Violation.Repro = first.Recipe(), "-op "+t.Gen.Name+report.SeedFlag(r.Seed)
			}
		}
	}
}

var firstCall = asserts.Fault{
	Saw:     "differ between the first call of the op in a new process and the same call after it",
	Symptom: asserts.FirstCall,
	Breaks:  "the first batch of a program is computed with other values than those after it",
	Fix:     "do what the first call does before anything is computed, or in each call",
	Note:    unpromised,
}

// throwsApart is the skip of a call that returns only in the process that ran the cases.
var throwsApart = asserts.Skip{
	Code: asserts.NondeterministicResult, Count: 1,
	Reason: "the call throws in a process that has not run the op",
}

var earlierValues = asserts.Fault{
	Saw:     "depend on the values of an earlier call: they differ between two new processes, one of which makes a call with other values first, the other one the same call",
	Symptom: asserts.EarlierValues,
	Breaks:  "all later batches of a program are computed with values of the first one",
	Fix:     "key a cache by everything that its entries depend on: not only sizes and dtype, but also the elements of tensors, or their identity and _version, and the other arguments, but not their address, at which there may be another tensor later; or do not cache",
}
