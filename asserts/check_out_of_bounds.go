package asserts

// OutOfBounds is OA018. The engine that allocates the memory of tensors finds its
// violations.
const OutOfBounds Code = 18

var _ = add(check{
	code:    OutOfBounds,
	name:    "out-of-bounds",
	promise: Memory,
	rule:    "a kernel touches no memory beside the storages of its tensors",
	breaks:  "it reads values of other objects and corrupts them; the process ends at any later time, or never where it is tested",
	level:   Content,
	skips:   reliable,
})
