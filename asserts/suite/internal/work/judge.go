package work

import (
	"fmt"
	"slices"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
	"github.com/opassert/opassert/asserts/suite/report"
)

// judge holds an attempt against the op's checks; it returns the violations and
// counts into the result.
func (r *Runner) judge(t *Target, a *attempt, result *report.Case) []*asserts.Violation {
	result.CPU = new(report.Tally)
	found := r.judgeOn(t, a, a.cpu, engine.CPU, result.CPU, result)
	if a.meta == nil {
		return found
	}
	result.Meta = new(report.Tally)
	for _, v := range r.judgeOn(t, a, a.meta, engine.Meta, result.Meta, result) {
		if !slices.ContainsFunc(found, func(w *asserts.Violation) bool { return report.SameFault(v, w) }) {
			found = append(found, v)
		}
	}
	verdict := asserts.JudgeMeta(t.judged, a.cpu, a.meta, r.Policy)
	result.Meta.Add(&report.Tally{Judged: verdict.Judged, Skips: verdict.Skips})
	for _, v := range verdict.Violations {
		v.Device = "cpu, meta"
	}
	return append(found, t.unwaived(verdict.Violations, result)...)
}

func (r *Runner) judgeOn(t *Target, a *attempt, seen *asserts.Seen, device string, count *report.Tally, result *report.Case) []*asserts.Violation {
	alone := *seen
	alone.Alone = true // a worker makes one call at a time
	_, alone.Made = r.Engine.(keeper)
	verdict := asserts.Judge(t.judged, &alone, r.Policy)
	count.Judged = verdict.Judged
	count.Skips = verdict.Skips
	count.Add(&report.Tally{Skips: t.outOfSight(seen)})
	for _, v := range verdict.Violations {
		v.Device = device
	}
	found := slices.DeleteFunc(verdict.Violations, func(v *asserts.Violation) bool {
		reason := r.Engine.Harmless(t.judged, v)
		if reason == "" {
			return false
		}
		count.Excuse(v.Code, reason)
		return true
	})
	return t.unwaived(found, result)
}

// unwaived leaves out what an allowlist waives, and counts it. Every check is
// judged, those waived too: one that is quiet because another names the
// culprit stays so where that other is waived.
func (t *Target) unwaived(found []*asserts.Violation, result *report.Case) []*asserts.Violation {
	return slices.DeleteFunc(found, func(v *asserts.Violation) bool {
		i := slices.IndexFunc(t.waived, func(e asserts.Excuse) bool { return e.Code == v.Code })
		if i >= 0 {
			result.Waived = report.AddSkip(result.Waived, asserts.Skip{Code: v.Code, Reason: t.waived[i].Reason, Count: 1})
		}
		return i >= 0
	})
}

func (r *Runner) finding(t *Target, c *sample.Case, v *asserts.Violation, number int) *report.Finding {
	for _, o := range []*asserts.Observation{&v.Before, &v.After, &v.Other} {
		o.Content = nil
	}
	v.Repro = fmt.Sprintf("-op %s -case %d", t.Gen.Name, number) + report.SeedFlag(r.Seed)
	return &report.Finding{Violation: v, Case: number, Call: c.String(), Recipe: c.Recipe(), Device: v.Device, Times: 1}
}
