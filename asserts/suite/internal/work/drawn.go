package work

import (
	"fmt"

	"github.com/opassert/opassert/asserts"
)

// drawn returns the returns of a call that are others with another seed, of an op that does
// not say that it is random. It asks once for each setting, of a few.
func (r *Runner) drawn(t *Target, a *attempt) (faults []asserts.Fault) {
	key := setting(a.c)
	if !t.operator.Added || !t.repeatable() || t.seeded[key] || len(t.seeded) == mostSettings {
		return nil
	}
	t.seeded[key] = true
	all := r.seenAgain(t, a.c, firstTime)
	r.Seed++
	all = append(all, r.seenAgain(t, a.c, firstTime)...)
	r.Seed--
	first := a.calls[0].seen
	if len(all) < 2 || !t.same(first, all[0]) {
		return nil
	}
	for _, d := range asserts.Differing(t.judged, first, all[1]) {
		faults = append(faults, asserts.Fault{
			Code: asserts.NondeterministicResult, Argument: d.Argument, Return: d.Return,
			Saw:    fmt.Sprintf("%d of %d bytes follow the seed of the default generator", d.Bytes, d.Of),
			Fix:    "register the op with the tag nondeterministic_seeded, or let it take a Generator",
			Breaks: "compilers take two calls with the same arguments for one, and compute a result anew for backward with other numbers",
			Note:   "programs that are not compiled do without",
		})
	}
	return faults
}
