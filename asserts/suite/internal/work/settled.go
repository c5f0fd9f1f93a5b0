package work

import (
	"slices"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/engine"
)

// undecided is the reason why values are not compared: no schema says so of every op that draws random numbers.
const undecided = "they are random, or what the memory held"

// settled returns which violations, of a comparison with the CPU, are of values that the kernels return and
// write each time: both calls are made again, with another seed and in memory that held other bytes, and
// values that differ from those of the call before are left out.
func (r *Runner) settled(t *Target, a *attempt, found []*asserts.Violation, compared func(real, twin *asserts.Seen) asserts.Verdict) []*asserts.Violation {
	if len(found) == 0 {
		return nil
	}
	for _, again := range r.madeAgain(t, a) {
		i := slices.IndexFunc(a.calls, func(c call) bool { return c.on == again.on })
		own := compared(a.calls[i].seen, again.seen).Violations
		found = slices.DeleteFunc(found, func(v *asserts.Violation) bool {
			return slices.ContainsFunc(own, func(w *asserts.Violation) bool { return w.Subject == v.Subject })
		})
	}
	return found
}

// madeAgain makes the first call of an attempt, and that on the CPU, with other random numbers in other
// memory, and returns those that return.
func (r *Runner) madeAgain(t *Target, a *attempt) (all []call) {
	if seen := r.seenAgain(t, a.c, otherDraw); seen != nil {
		all = append(all, call{on: a.calls[0].on, seen: seen[0]})
	}
	if seen := r.seenAgain(t, a.c, otherDraw.onCPU()); seen != nil {
		all = append(all, call{on: engine.CPU, seen: seen[0]})
	}
	return all
}
