package probe

// Irreproducible is found where the call differs in memory that is filled equally, too.
var Irreproducible = add(Row{
	Name: "repetition", How: "in memory with the same contents", At: InMemory,
	Setup: First,
	Fault: nondeterminism("", "differ between two calls with the same values and the same seed"),
	Program: &Program{
		Heap: true, Fault: "seen[0] != seen[3] or seen[1] != seen[2]", Cpp: "seen[0] != seen[3] || seen[1] != seen[2]",
		Says: "{x} differs between calls with the same values and the same seed",
	},
})
