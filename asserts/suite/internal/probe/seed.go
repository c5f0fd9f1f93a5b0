package probe

var _ = add(Row{
	Name: "seed", How: "with another seed", At: Returned, Budget: some,
	When:      (*Call).Repeatable,
	Setup:     otherSeed,
	Fault:     nondeterminism("seed", "depend on the seed of the default generators"),
	NoProgram: "the program of its code repeats the call with one seed",
})
