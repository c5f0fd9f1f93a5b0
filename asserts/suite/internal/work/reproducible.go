package work

import (
	"slices"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/internal/probe"
)

// undecided is the reason for not comparing values: not every op that uses random numbers is declared so.
const undecided = "they are random, or old contents of the memory"

// settled returns those violations of a comparison with the CPU whose values are reproducible: both calls are repeated,
// with another seed and in memory with other contents, and values that differ from those before are left out.
func (r *Runner) settled(t *Target, a *attempt, found []*asserts.Violation,
	compared func(real, twin *asserts.Seen) asserts.Verdict) []*asserts.Violation {
	if len(found) == 0 {
		return nil
	}
	for _, how := range []probe.Setup{probe.OtherDraw, probe.OtherDraw.OnCPU()} {
		i := slices.IndexFunc(a.calls, func(c deviceCall) bool { return !how.Twin || c.on == engine.CPU })
		again := r.seenAgain(t, a.c, how)
		if again == nil {
			continue
		}
		own := compared(a.calls[i].seen, again[0]).Violations
		found = slices.DeleteFunc(found, func(v *asserts.Violation) bool {
			return slices.ContainsFunc(own, func(w *asserts.Violation) bool { return w.Subject == v.Subject })
		})
	}
	return found
}
