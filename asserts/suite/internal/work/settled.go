package work

import (
	"slices"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/engine"
)

// undecided is why values are not compared: no schema says so of every op that draws random numbers.
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
func (r *Runner) madeAgain(t *Target, a *attempt) []call {
	m := maker{engine: r.Engine, room: &r.room}
	defer m.release()
	c, args, err := r.arguments(&m, a.c, otherDraw)
	if err != nil {
		return nil
	}
	all := r.calls(t, &m, c, args)
	all[0].seen = r.called(t, args)
	for i := range all[1:] {
		if twin := &all[i+1]; twin.on == engine.CPU {
			r.callTwins(t, twin)
		}
	}
	return slices.DeleteFunc(all, func(c call) bool { return c.seen == nil })
}
