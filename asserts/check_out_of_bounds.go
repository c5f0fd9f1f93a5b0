package asserts

// OutOfBounds is OA018. The engine that allocates the memory of tensors finds its violations.
const OutOfBounds Code = 18

var _ = add(checkRow{
	code:   OutOfBounds,
	name:   "out-of-bounds",
	rule:   "a kernel accesses no memory outside the storages of its tensors",
	breaks: "it reads or corrupts other objects; the process may crash much later, or never in tests",
	level:  Content,
	skips:  reliable,
})
