package asserts

// UninitialisedResult is OA020. A run that repeats calls finds its violations.
const UninitialisedResult Code = 20

var _ = add(checkRow{
	code:   UninitialisedResult,
	name:   "uninitialised-result",
	rule:   "no element of a return, or of a written argument, depends on what its memory held before the call",
	breaks: "the result depends on what was freed last: right in a test, where memory is new, and wrong in a program",
	level:  Content,
	skips:  reliable,
})
