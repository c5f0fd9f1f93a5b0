package asserts

// NondeterministicResult is OA021. A run that repeats calls finds its violations; a difference
// without another cause is a note, as schemas do not promise determinism otherwise.
const NondeterministicResult Code = 21

var _ = add(checkRow{
	code: NondeterministicResult,
	name: "nondeterministic-result",
	rule: "the same call with the same seed returns the same bytes, unless the op has the tag nondeterministic_seeded " +
		"or a Generator",
	breaks: "runs cannot be repeated, and checkpointing, which recomputes values in backward, gets others",
	level:  Content,
	skips:  reliable,
})
