package work

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/internal/probe"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
)

// judgeThrownFaults judges a call that threw by its illegal memory accesses. A written argument is compared separately.
func (r *Runner) judgeThrownFaults(t *Target, c *sample.Case, err error) {
	message, isThrown := engine.Message(err)
	faults := r.outsideAccesses(t)
	if isThrown && len(faults) == 0 && r.watcher() != nil && !dispatched(message) {
		call := r.probeCall(t, c, new(asserts.Seen))
		call.Threw = message
		if ok, _ := t.due(probe.Guard, call); ok {
			r.seenAgain(t, c, probe.Guard.Setup)
			faults = r.outsideAccesses(t)
		}
	}
	if isThrown && len(faults) > 0 {
		t.thrown(c, asserts.JudgeFaults(t.judged, new(asserts.Seen), faults), message)
	}
}

func (r *Runner) outsideAccesses(t *Target) []asserts.Fault {
	return slices.DeleteFunc(r.touched(t).faults, func(f asserts.Fault) bool { return !slices.Contains(onMemory, f.Code) })
}

// onMemory are the checks whose violations a watcher finds.
var onMemory = []asserts.Code{asserts.OutOfBounds, asserts.UseAfterFree}

// elsewhere are the checks whose violation shows a tensor that is not where it is declared: hence illegal accesses.
const elsewhere asserts.Codes = 1<<asserts.InputImpl | 1<<asserts.InputStorage | 1<<asserts.WithinStorage

// judgeMemory counts the checks on memory, and returns the faults, except for tensors with another violation.
func (r *Runner) judgeMemory(t *Target, a *attempt, found []*report.Finding,
	result *report.CaseResult) []*report.Finding {
	if r.watcher() == nil {
		return nil
	}
	on, again := a.calls[0].on, r.repeat(t, a)
	if again.made && len(again.faults) == 0 {
		if !probe.HasLarge(a.c) {
			t.steady = &attempt{c: a.c.Clone(), calls: a.calls} // the case may become another one
		}
		again.faults, _ = r.probe(t, probe.Repeated, r.probeCall(t, a.c, a.calls[0].seen)) // each call asks
	}
	tally := result.Devices[on]
	count := func(code asserts.Code, why string) {
		if why == "" {
			tally.Judged[code]++
		} else {
			tally.AddSkips([]asserts.Skip{{Code: code, Reason: why, Count: 1}})
		}
	}
	unrepeated := ""
	switch {
	case !again.made:
		unrepeated = "the call cannot be repeated, or threw"
	case again.unknown:
		unrepeated = notCopied
	}
	for _, code := range onMemory {
		count(code, a.memory.unwatched)
	}
	count(asserts.UninitialisedResult, cmp.Or(unrepeated, a.memory.unfilled, again.left))
	count(asserts.NondeterministicResult, unrepeated)
	result.Devices[on] = tally
	if slices.ContainsFunc(found, func(f *report.Finding) bool { return elsewhere.Has(f.Violation.Code) }) {
		return nil
	}
	faults := slices.Concat(a.memory.faults, again.faults)
	return slices.DeleteFunc(r.judgeFaults(t, a, faults, result, on), func(f *report.Finding) bool {
		return slices.ContainsFunc(found, func(g *report.Finding) bool {
			return g.Violation.Note == "" && g.Violation.Subject.Name == f.Violation.Subject.Name
		})
	})
}

func (t *Target) thrown(c *sample.Case, verdict asserts.Verdict, message string) {
	for _, v := range verdict.Violations {
		threw := map[bool]string{false: "threw", true: "failed"}[v.Plain]
		v.Saw += fmt.Sprintf(", and then it %s: %s", threw, sample.Clip(message))
	}
	t.threw = append(t.threw, &judgedCall{c: c, verdict: verdict})
}
