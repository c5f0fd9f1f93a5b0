package work

import (
	"fmt"
	"slices"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/compare"
	"github.com/opassert/opassert/asserts/suite/internal/design"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
	"github.com/opassert/opassert/internal/slicesx"
)

// undrawn is the skip of a check that random numbers come from the generator of a call.
var undrawn = asserts.Skip{
	Code: asserts.NondeterministicResult, Count: 1,
	Reason: fmt.Sprintf("no call with another generator was made: %d settings of the other arguments had one", mostSettings),
}

// withGenerator makes a call with generators that it omits, once for each setting, and returns it, or
// nil: other arguments than those of a base may be what makes the op random.
func (r *Runner) withGenerator(t *Target, c *sample.Case) *attempt {
	like, given := c.Clone(), false
	for i, arg := range t.operator.Schema.Func.Args {
		if design.Unwrap(arg.Type).Name == "Generator" && c.Omits(i) {
			like.Args[i], given = design.ScalarValues("Generator", nil)[0], true
		}
	}
	if !given || !t.operator.Added || !t.given.first(setting(like)) {
		return nil
	}
	for a := range r.again(t, like, asItIs) {
		return a
	}
	return nil
}

// generated returns the returns of a call with a generator that do not follow it: they differ
// between two calls with generators of one seed, or follow the default generators instead. It
// repeats the call once for each setting, up to a limit.
func (r *Runner) generated(t *Target, a *attempt) (faults []asserts.Fault, skips []asserts.Skip) {
	key := setting(a.c)
	switch {
	case !t.operator.Added || t.leavesMemory() || !hasGenerator(a.c) || t.generated[key]:
		return nil, nil
	case !t.generated.first(key):
		return nil, []asserts.Skip{undrawn}
	}
	first, all := a.calls[0].seen, r.seenAgain(t, a.c, firstTime, otherSeed)
	if all == nil {
		return nil, nil
	}
	if own := t.differing(first, all[0], unlikeGenerator); len(own) > 0 {
		return own, nil
	}
	if follows := t.differing(first, all[1], besideGenerator); len(follows) > 0 && r.repeats(t, a.c, firstTime, first) {
		return follows, nil
	}
	return r.ignored(t, a.c, first), nil
}

// ignored returns the returns that are the same with generators of many seeds, although each other
// seed of the default generators changes them if the call has none: a call need not be random, and
// a result with few values may be the same by chance.
func (r *Runner) ignored(t *Target, c *sample.Case, first *asserts.Seen) []asserts.Fault {
	none := changed(c, func(sample.Value) sample.Value { return sample.None() })
	last := r.seenAgain(t, none, firstTime)
	var random []compare.Difference
	for n := range often {
		of := r.seenAgain(t, changed(c, func(v sample.Value) sample.Value { v.Int += int64(n + 1); return v }), firstTime)
		then := r.seenAgain(t, none, callSetup{fill: firstFill, seed: uint64(n + 1)})
		if last == nil || of == nil || then == nil {
			return nil
		}
		follows, differ := compare.Differing(t.judged, first, of[0]), compare.Differing(t.judged, last[0], then[0])
		if n == 0 {
			random = differ
		}
		random = slices.DeleteFunc(random, func(d compare.Difference) bool {
			return slices.ContainsFunc(follows, d.Same) || !slices.ContainsFunc(differ, d.Same)
		})
		if last = then; len(random) == 0 {
			return nil
		}
	}
	return slicesx.Map(random, func(d compare.Difference) asserts.Fault { return about(d, ignoredGenerator) })
}

// changed returns a copy of a case with other values for its generators.
func changed(c *sample.Case, change func(sample.Value) sample.Value) *sample.Case {
	like := c.Clone()
	for i, v := range like.Args {
		if v.Kind == sample.GeneratorValue {
			like.Args[i] = change(v)
		}
	}
	return like
}

// hasGenerator reports whether a generator is an argument of a case.
func hasGenerator(c *sample.Case) bool {
	return slices.ContainsFunc(c.Args, func(v sample.Value) bool { return v.Kind == sample.GeneratorValue })
}

const useGenerator = "draw all random numbers from the Generator argument, and from the default generator only where it is None"

var (
	unlikeGenerator = asserts.Fault{
		Saw:    "differ between two calls with generators of the same seed",
		Fix:    useGenerator,
		Breaks: "a program that passes a seeded generator does not get the same numbers again",
	}
	besideGenerator = asserts.Fault{
		Saw:     "depend on the seed of the default generators, although the call has a Generator argument",
		Symptom: asserts.DefaultSeed,
		Fix:     useGenerator,
		Breaks:  "a program that passes a seeded generator does not get the same numbers again",
	}
	ignoredGenerator = asserts.Fault{
		Saw:     "are random without a Generator argument, and the same with generators of two seeds",
		Symptom: asserts.SameGenerators,
		Fix:     useGenerator,
		Breaks:  "a program that passes generators of different seeds gets the same numbers from each",
	}
)
