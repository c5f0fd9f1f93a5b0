package work

import (
	"fmt"
	"slices"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/asserts/suite/compare"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/internal/probe"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
)

// judge judges an attempt by the op's checks, counts them in the result, and returns the violations.
func (r *Runner) judge(t *Target, a *attempt, result *report.CaseResult) []*report.Finding {
	result.Devices = make(report.Devices)
	var found []*report.Finding
	for i := range a.calls {
		c := &a.calls[i]
		var tally report.Tally
		if c.seen == nil {
			tally.Uncalled = map[string]int{c.why: 1}
			found = append(found, r.judgeFaults(t, a, t.brokenMeta(c), result, a.calls[0].on, c.on)...)
		} else {
			if own := r.judgeOn(t, c, &tally, result); i == 0 {
				found = own
			} else {
				found = append(report.AddNew(found, own), r.compare(t, a, c, &tally, result)...)
				found = report.AddNew(found, r.compareValues(t, a, c, &tally, result))
			}
		}
		result.Devices[c.on] = tally
	}
	result.Writes = compare.WritesOf(t.judged, a.calls[0].seen)
	found = append(found, r.judgeSharing(t, &a.calls[0], result)...)
	// prepended: a second note about a return, that it has no fake, is then left out
	found = append(found, r.judgeDevice(t, a, found, result)...)
	if a.fake != nil {
		found = append(found, r.judgeFake(t, a, result)...)
	}
	if a.rules != nil {
		found = append(found, r.judgeRules(t, a, result)...)
	}
	found = append(found, r.judgeMemory(t, a, found, result)...)
	call := r.probeCall(t, a.c, a.calls[0].seen)
	probed, skips := r.probe(t, probe.Returned, call)
	if t.operator.Function != nil { // whose memory is not watched
		more, _ := r.probe(t, probe.Repeated, call)
		probed = append(probed, more...)
	}
	result.Devices.Add(report.Devices{a.calls[0].on: {Skips: skips}})
	faults := append(markedReturns(t.judged, a.calls[0].seen), probed...)
	found = append(found, r.judgeFaults(t, a, faults, result, a.calls[0].on)...)
	a.calls[0].left = slices.Concat(r.queried, a.calls[0].left, r.left(), r.leftOtherwise(t, a.c))
	r.queried = nil
	for _, c := range a.calls {
		found = report.AddNew(found, r.judgeFaults(t, a, c.left, result, c.on))
	}
	return found
}

func (r *Runner) judgeOn(t *Target, c *deviceCall, tally *report.Tally, result *report.CaseResult) []*report.Finding {
	alone := *c.seen
	alone.Alone = true // a worker makes one call at a time
	_, alone.Made = r.Engine.(engine.ArgumentKeeper)
	if t.operator.Uncounted {
		alone.Results = uncounted(alone.Results)
	}
	verdict := asserts.Judge(t.judged, &alone, r.Policy)
	tally.AddVerdict(verdict)
	tally.AddSkips(t.outOfSight(c.seen))
	tally.AddSkips(verdict.Unheld(t.judged, &alone))
	found := slices.DeleteFunc(verdict.Violations, func(v *asserts.Violation) bool {
		reason := r.Engine.Harmless(t.judged, v)
		if reason == "" {
			return false
		}
		tally.Excuse(v.Code, reason)
		return true
	})
	return t.findings(found, result, c.on)
}

// judgeSharing returns notes of what the returns of an op that decomposes share with arguments.
func (r *Runner) judgeSharing(t *Target, c *deviceCall, result *report.CaseResult) []*report.Finding {
	if t.sharing == nil || c.seen.Autograd {
		return nil
	}
	found := asserts.Judge(t.sharing, c.seen, r.Policy).Violations
	for _, v := range found {
		v.Symptom = asserts.Decomposes
		v.Note = asserts.Decomposes.In(v.Code).Note
	}
	return t.findings(found, result, c.on)
}

func uncounted(all []asserts.Observation) []asserts.Observation {
	out := slices.Clone(all)
	for i := range out {
		out[i].ImplUses, out[i].StorageUses = asserts.NotCounted, asserts.NotCounted
	}
	return out
}

func (r *Runner) compare(t *Target, a *attempt, other *deviceCall, tally *report.Tally,
	result *report.CaseResult) []*report.Finding {
	first := &a.calls[0]
	verdict := compare.Twins(t.judged, first.seen, other.seen, string(other.on), r.Policy)
	tally.AddVerdict(verdict)
	found := t.findings(verdict.Violations, result, first.on, other.on)
	if probe.Repeatable(t.operator.Schema) {
		changes := func(real, twin *asserts.Seen) asserts.Verdict {
			return compare.Changes(t.judged, real, twin, string(other.on), r.Policy)
		}
		verdict = changes(first.seen, other.seen)
		settled := r.settled(t, a, verdict.Violations, changes)
		if n := len(verdict.Violations) - len(settled); n > 0 {
			tally.AddSkips([]asserts.Skip{{Code: asserts.MetaAlias, Reason: "writes not compared: " + undecided, Count: n}})
		}
		verdict.Violations = settled
		tally.AddVerdict(verdict)
		found = append(found, t.findings(verdict.Violations, result, first.on, other.on)...)
	}
	return found
}

// compareValues compares the elements that a call returned or wrote with those of the same call on
// the CPU, if a tolerance is set. What it does not compare is a skip.
func (r *Runner) compareValues(t *Target, a *attempt, other *deviceCall, tally *report.Tally,
	result *report.CaseResult) []*report.Finding {
	first := &a.calls[0]
	if r.Tolerance == 0 || other.on != engine.CPU {
		return nil
	}
	skip := func(reason string, n int) {
		if n > 0 {
			tally.AddSkips([]asserts.Skip{{Code: asserts.MetaAlias, Reason: "values not compared: " + reason, Count: n}})
		}
	}
	if !probe.Repeatable(t.operator.Schema) || probe.LeavesMemory(t.operator.Schema) {
		skip(undecided, 1)
		return nil
	}
	skip(notCopied, len(compare.Unknown(t.judged, first.seen, other.seen)))
	compared := func(real, twin *asserts.Seen) asserts.Verdict {
		return compare.Values(t.judged, real, twin, string(other.on), r.Tolerance, r.Policy)
	}
	verdict := compared(first.seen, other.seen)
	tally.AddSkips(verdict.Skips)
	settled := r.settled(t, a, verdict.Violations, compared)
	skip(undecided, len(verdict.Violations)-len(settled))
	return t.findings(settled, result, first.on, other.on)
}

func (r *Runner) finding(t *Target, c *sample.Case, f *report.Finding, number int) *report.Finding {
	v := f.Violation
	for _, o := range []*asserts.Observation{&v.Before, &v.After, &v.Other} {
		o.Content = nil
	}
	v.Repro = fmt.Sprintf("-op %s -case %d", t.Gen.Name, number) + report.SeedFlag(r.Seed)
	return &report.Finding{Violation: v, Case: number, Call: c.String(), Recipe: c.Recipe(), Devices: f.Devices, Times: 1}
}
