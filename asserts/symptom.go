package asserts

// A Symptom is the kind of a violation, among those of its check: each has a program and a remedy of
// its own.
type Symptom string

const (
	Usual          Symptom = ""
	Neighbours     Symptom = "neighbours"      // a result follows bytes beside an argument in its storage
	Threads        Symptom = "threads"         // it follows the number of threads
	EarlierCall    Symptom = "earlier call"    // it follows the contents of the arguments of an earlier call
	ReturnedBefore Symptom = "returned before" // the call before returned it too
	Restored       Symptom = "restored"        // an argument was written, and is as it was after the call
	Overlapping    Symptom = "overlapping"     // two StorageImpls lie in the same memory
	Overreleased   Symptom = "overreleased"    // a reference was released once too often
	OtherContents  Symptom = "other contents"  // elements, or numbers, differ between two calls
	SymbolicSizes  Symptom = "symbolic sizes"  // a fake raises where sizes are symbols
	SizeGuard      Symptom = "size guard"      // a fake sets a condition that other sizes do not meet
	Backward       Symptom = "backward"        // a formula raises where the kernel returns
	WithoutTensor  Symptom = "without tensor"  // it does so without an optional tensor
)
