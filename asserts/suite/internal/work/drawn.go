package work

import (
	"fmt"

	"github.com/opassert/opassert/asserts"
)

// unseeded is the skip of a result that may follow the seed.
var unseeded = asserts.Skip{
	Code: asserts.NondeterministicResult, Count: 1,
	Reason: fmt.Sprintf("no call with another seed was made: %d settings of the other arguments had one", mostSettings),
}

// drawn returns the returns of a call that are others with another seed, of an op that does
// not say that it is random. It asks once for each setting, of a few.
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
	Saw:    "follow the seed of the default generators",
	Fix:    "draw from PyTorch's generator, and register the op with the tag nondeterministic_seeded, or let it take a Generator",
	Breaks: "compilers take two calls with the same arguments for one, and compute a result anew for backward with other numbers",
	Note:   "programs that are not compiled do without",
}
