package probe

import "github.com/opassert/opassert/asserts"

// Irreproducible is found where the call differs in memory that is filled equally, too.
var Irreproducible = add(Row{
	Name: "repetition", How: "in memory with the same contents", At: InMemory,
	Setup: First,
	Fault: asserts.Fault{
		Code: asserts.NondeterministicResult,
		Saw:  "differ between two calls with the same values and the same seed",
		Fix:  "make the result depend only on the arguments, not on addresses, time, threads or earlier calls; a random op needs a Generator argument or the tag nondeterministic_seeded",
	},
	Program: &Program{
		Heap: true, Fault: "seen[0] != seen[3] or seen[1] != seen[2]", Cpp: "seen[0] != seen[3] || seen[1] != seen[2]",
		Says: "{x} differs between calls with the same values and the same seed",
	},
})
