package probe

import (
	"slices"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/internal/design"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
	"github.com/opassert/opassert/schema"
)

// Other arguments than those of a base may be what makes the op random.
var _ = add(Row{
	Name: "generator", How: "with a generator", At: Judged, Budget: some,
	When: func(c *Call) bool { return slices.ContainsFunc(generators(c.Op.Schema), c.Case.Omits) },
	Change: []Change{func(op *schema.Op, c *sample.Case) {
		for _, i := range generators(op) {
			if c.Omits(i) {
				c.Args[i] = design.ScalarValues("Generator", nil)[0]
			}
		}
	}},
	Fault: asserts.Fault{Code: asserts.NondeterministicResult},
})

func generators(op *schema.Op) (all []int) {
	for i, arg := range op.Func.Args {
		if design.Unwrap(arg.Type).Name == "Generator" {
			all = append(all, i)
		}
	}
	return all
}

func hasGenerator(c *Call) bool {
	return !c.leavesMemory() && slices.ContainsFunc(c.Case.Args,
		func(v sample.Value) bool { return v.Kind == sample.GeneratorValue })
}

func changed(c *sample.Case, change func(sample.Value) sample.Value) *sample.Case {
	like := c.Clone()
	for i, v := range like.Args {
		if v.Kind == sample.GeneratorValue {
			like.Args[i] = change(v)
		}
	}
	return like
}

var _ = add(Row{
	Name: "equal-generators", How: "with generators of the same seed", At: Returned, Budget: some,
	When: hasGenerator,
	Find: func(r *Row, c *Call) []asserts.Fault {
		then := c.Again(First)
		if then == nil {
			return nil
		}
		return c.Differing(c.Seen, then, r.Fault)
	},
	Fault: nondeterminism("seeded", "differ between two calls with generators of the same seed"),
})

var _ = add(Row{
	Name: "default-seed", How: "with another default seed beside its generator", At: Returned, Budget: some,
	When:  hasGenerator,
	Setup: otherSeed,
	Fault: nondeterminism("default-seed", "depend on the seed of the default generators, although the call has a "+
		"Generator argument"),
	Program: &Program{
		Seed: "byte", Fault: Follows,
		Says: "{x} depends on the seed of the default generator, although the call has a Generator argument",
	},
})

var _ = add(Row{
	Name: "same-generators", How: "with generators of other seeds", At: Returned, Budget: some,
	When: hasGenerator,
	Find: ignored,
	Fault: nondeterminism("same-generators", "are random without a Generator argument, and the same with generators "+
		"of two seeds"),
	Program:   new(Program),
	NoProgram: "many calls show it",
})

// ignored compares calls with generators of many seeds, and calls without one with as many seeds of
// the default generators: a call need not be random, and a result with few values may be the same by chance.
func ignored(r *Row, c *Call) []asserts.Fault {
	none := changed(c.Case, func(sample.Value) sample.Value { return sample.None() })
	last := c.call(none, First)
	var faults []asserts.Fault
	for n := range Often {
		of := c.call(changed(c.Case, func(v sample.Value) sample.Value { v.Int += int64(n + 1); return v }), First)
		then := c.call(none, Setup{Fill: firstFill, Seed: uint64(n + 1)})
		if last == nil || then == nil || !c.Same(c.Seen, of) || c.Same(last, then) {
			return nil
		}
		faults, last = c.Differing(last, then, r.Fault), then
	}
	return faults
}
