package probe

import "github.com/opassert/opassert/asserts"

var _ = add(Row{
	Name: "seed", How: "with another seed", At: Returned, Budget: some,
	When:  (*Call).Repeatable,
	Setup: otherSeed,
	Fault: asserts.Fault{
		Code: asserts.NondeterministicResult, Symptom: asserts.Seed,
		Saw:    "depend on the seed of the default generators",
		Breaks: "compilers merge calls with the same arguments, and recompute results for backward, with other numbers",
		Fix:    "use PyTorch's generator, and register the op with the tag nondeterministic_seeded, or with a Generator argument",
	},
	NoProgram: "the program of its code repeats the call with one seed",
})
