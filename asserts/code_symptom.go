package asserts

// A Symptom distinguishes violations of one check: each has a program and a remedy of its own.
type Symptom string

const (
	Neighbours     Symptom = "neighbours"      // a result depends on bytes beside an argument in its storage
	Threads        Symptom = "threads"         // on the number of threads
	Races          Symptom = "races"           // differs between two calls with two threads
	DefaultSeed    Symptom = "default seed"    // on the seed of the default generators, although a Generator is an argument
	SameGenerators Symptom = "same generators" // is the same with Generators of two seeds
	EarlierCall    Symptom = "earlier call"    // on the contents of the arguments of an earlier call
	EarlierValues  Symptom = "earlier values"  // on the values of an earlier call with different tensors
	FirstCall      Symptom = "first call"      // on whether there was an earlier call
	ReturnedBefore Symptom = "returned before" // the previous call returned it too
	Restored       Symptom = "restored"        // an argument was written during the call, and restored
	Overlapping    Symptom = "overlapping"     // two StorageImpls lie in the same memory
	Overreleased   Symptom = "overreleased"    // a reference was released more often than taken
	OtherContents  Symptom = "other contents"  // elements, or numbers, differ between two calls
	SymbolicSizes  Symptom = "symbolic sizes"  // a fake raises if sizes are symbols
	SizeGuard      Symptom = "size guard"      // a fake sets a condition that it does not need
	Backward       Symptom = "backward"        // a formula raises although the kernel returns
	WithoutTensor  Symptom = "without tensor"  // it raises without an optional tensor
	Vmap           Symptom = "vmap"            // a rule for vmap raises, or returns something else than separate calls
)
