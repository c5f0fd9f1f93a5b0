package work

import (
	"slices"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/internal/probe"
)

// undecided is the reason for not comparing values: not every op that uses random numbers is
// declared so.
const undecided = "they are random, or old contents of the memory"

// settled returns those violations of a comparison with the CPU whose values are reproducible: both
// calls are repeated, with another seed and in memory with other contents, and values that differ
// from those before are left out.
func (r *Runner) settled(t *Target, a *attempt, found []*asserts.Violation, compared func(real, twin *asserts.Seen) asserts.Verdict) []*asserts.Violation {
	if len(found) == 0 {
		return nil
	}
	for _, again := range r.madeAgain(t, a) {
		i := slices.IndexFunc(a.calls, func(c deviceCall) bool { return c.on == again.on })
		own := compared(a.calls[i].seen, again.seen).Violations
		found = slices.DeleteFunc(found, func(v *asserts.Violation) bool {
			return slices.ContainsFunc(own, func(w *asserts.Violation) bool { return w.Subject == v.Subject })
		})
	}
	return found
}

// madeAgain repeats the first call of an attempt, and that on the CPU, with other random numbers in
// other memory, and returns those that succeed.
func (r *Runner) madeAgain(t *Target, a *attempt) (all []deviceCall) {
	if seen := r.seenAgain(t, a.c, probe.OtherDraw); seen != nil {
		all = append(all, deviceCall{on: a.calls[0].on, seen: seen[0]})
	}
	if seen := r.seenAgain(t, a.c, probe.OtherDraw.OnCPU()); seen != nil {
		all = append(all, deviceCall{on: engine.CPU, seen: seen[0]})
	}
	return all
}
