package work

import (
	"slices"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
	"github.com/opassert/opassert/asserts/suite/report"
	"github.com/opassert/opassert/internal/loop"
)

// A cache whose key does not include the contents of tensors returns the result of the first call to
// all later calls in the process, also to repeated ones. So a call is repeated in a process that
// has not run the op, and the results are compared.

// astray are the checks whose violations explain different results.
const astray asserts.Codes = 1<<asserts.OutOfBounds | 1<<asserts.UseAfterFree | 1<<asserts.UninitialisedResult | 1<<asserts.NondeterministicResult

// handOver reports the first call of an op of a library, or of a Go function, whose results are
// reproducible: it is repeated in another process.
func (r *Runner) handOver(t *Target, c *sample.Case, found []*report.Finding) {
	explains := func(f *report.Finding) bool { return astray.Has(f.Violation.Code) }
	switch {
	case t.Apart == nil || r.Level < asserts.Content || !t.operator.Added && t.operator.Function == nil:
		return
	case !t.repeatable() || t.leavesMemory() || slices.ContainsFunc(found, explains) || !slices.ContainsFunc(c.Tensors(), (*sample.TensorSpec).Usual):
		return
	}
	if seen := r.seenAgain(t, c, otherValue); seen != nil && r.repeats(t, c, otherValue, seen[0]) {
		t.Apart(&Calls{c, []int{otherValue.later}, SeenJSON{seen[0]}})
		t.Apart = nil
	}
}

// CallApart makes calls, and adds to a result how the last one differs from an earlier observation,
// if there is one.
func (r *Runner) CallApart(t *Target, calls *Calls, result *report.CaseResult) {
	before := calls.Last.Seen
	calls.Last.Seen = nil
	if all := r.seenAgain(t, calls.Case, loop.Map(calls.Turns, withValues)...); all != nil {
		calls.Last.Seen = all[len(all)-1]
	}
	switch last := calls.Last.Seen; {
	case last == nil:
		r.addJudged(t, &judgedCall{calls.Case, asserts.Verdict{Skips: []asserts.Skip{throwsApart}}}, result)
	case before != nil:
		faults := t.differing(last, before, earlierValues)
		r.addJudged(t, &judgedCall{calls.Case, asserts.JudgeFaults(t.judged, last, faults)}, result)
	}
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
	Fix:     "key a cache by everything that its entries depend on: not only sizes and dtype, but also the elements of tensors, or their identity and _version; or do not cache",
}
