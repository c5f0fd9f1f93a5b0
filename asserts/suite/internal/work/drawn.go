package work

import (
	"fmt"

	"github.com/opassert/opassert/asserts"
)

// unseeded is the skip of a check that results do not depend on the seed.
var unseeded = asserts.Skip{
	Code: asserts.NondeterministicResult, Count: 1,
	Reason: fmt.Sprintf("no call with another seed was made: %d settings of the other arguments had one", mostSettings),
}

// drawn returns the returns of a call that differ with another seed, if the op is not declared
// random. It repeats the call once for each setting, up to a limit.
func (r *Runner) drawn(t *Target, a *attempt) (faults []asserts.Fault, skips []asserts.Skip) {
	key := setting(a.c)
	switch {
	case !t.operator.Added || !t.repeatable() || t.seeded[key]:
		return nil, nil
	case !t.seeded.first(key):
		return nil, []asserts.Skip{unseeded}
	}
	first, other := a.calls[0].seen, r.seenAgain(t, a.c, otherSeed)
	if other == nil || t.same(first, other[0]) || !r.repeats(t, a.c, firstTime, first) {
		return nil, nil
	}
	return t.differing(first, other[0], seeded), nil
}

var seeded = asserts.Fault{
	Saw:    "depend on the seed of the default generators",
	Fix:    "use PyTorch's generator, and register the op with the tag nondeterministic_seeded, or with a Generator argument",
	Breaks: "compilers merge calls with the same arguments, and recompute results for backward, with other numbers",
	Note:   "programs that are not compiled do without",
}
