package asserts

// UseAfterFree is OA019. The engine that allocates the memory of tensors finds its
// violations.
const UseAfterFree Code = 19

var _ = add(check{
	code:    UseAfterFree,
	name:    "use-after-free",
	promise: Memory,
	rule:    "a kernel touches no memory of a tensor whose last reference is gone",
	breaks:  "another tensor may have the memory by then: it is read as if it were the old one, or overwritten",
	level:   Content,
	skips:   reliable,
})
