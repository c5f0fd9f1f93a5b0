package asserts

// UseAfterFree is OA019. The engine that allocates the memory of tensors finds its violations.
const UseAfterFree Code = 19

var _ = add(checkRow{
	code:   UseAfterFree,
	name:   "use-after-free",
	rule:   "a kernel accesses no memory of a tensor whose last reference is gone",
	breaks: "another tensor may have the memory by then: its values are read as the old ones, or overwritten",
	level:  Content,
	skips:  reliable,
})
