package work

import (
	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/internal/probe"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
)

// left returns changes of state besides tensors since its last call. They name a call since then that was not judged.
func (r *Runner) left() []asserts.Fault {
	e, ok := r.Engine.(engine.StateRestorer)
	if !ok {
		return nil
	}
	faults, unjudged := e.RestoreState(), r.unjudged
	r.unjudged = nil
	for i := range faults {
		if unjudged != nil {
			faults[i].Saw += "; an earlier call may have left it: " + sample.Clip(unjudged.String())
		}
	}
	return faults
}

// leftOtherwise returns the changes of state by a call with settings that no kernel is likely to choose, once for each
// op of a library: what sets a setting to its usual value is seen there alone.
func (r *Runner) leftOtherwise(t *Target, c *sample.Case) []asserts.Fault {
	e, ok := r.Engine.(engine.StateRestorer)
	if !ok || t.otherwise || !t.operator.Added || e.OtherSettings(true) != nil {
		return nil
	}
	t.otherwise = true
	r.seenAgain(t, c, probe.First)
	faults := e.RestoreState()
	e.OtherSettings(false)
	return faults
}

// rulesOf returns the calls of an op's rules with the arguments of a case, if calls begin at
// autograd. Cases whose tensors differ only in contents share them.
func (r *Runner) rulesOf(t *Target, c *sample.Case) *fakeCall {
	e, ok := r.Engine.(engine.RuleCaller)
	if !ok || !e.HasRules(t.judged) {
		return nil
	}
	return r.sharedCall(t, c, engine.Rules, "formula or rules", func(args []any) *fakeCall {
		faults, why := e.Rules(t.judged, args)
		return &fakeCall{faults: faults, why: why}
	})
}

// judgeRules counts the calls of an attempt's rules, and returns their faults.
func (r *Runner) judgeRules(t *Target, a *attempt, result *report.CaseResult) []*report.Finding {
	var tally report.Tally
	if a.rules.why != "" {
		tally.Uncalled = map[string]int{a.rules.why: 1}
	} else {
		tally.Judged[asserts.AutogradKernel] = 1
	}
	result.Devices[engine.Rules] = tally
	return r.judgeFaults(t, a, a.rules.faults, result, a.calls[0].on, engine.Rules)
}

// judgeFaults makes findings of the faults that the engine found.
func (r *Runner) judgeFaults(t *Target, a *attempt, faults []asserts.Fault, result *report.CaseResult,
	on ...engine.Device) []*report.Finding {
	return t.findings(asserts.JudgeFaults(t.judged, a.calls[0].seen, faults).Violations, result, on...)
}
