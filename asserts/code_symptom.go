package asserts

import "regexp"

// A Symptom distinguishes violations of one check: each has a program and a remedy of its own.
type Symptom string

const (
	Neighbours     Symptom = "neighbours"      // a result depends on bytes beside an argument in its storage
	Threads        Symptom = "threads"         // on the number of threads
	Races          Symptom = "races"           // differs between two calls with two threads
	DefaultSeed    Symptom = "default-seed"    // on the seed of the default generators, although a Generator is an argument
	SameGenerators Symptom = "same-generators" // is the same with Generators of two seeds
	EarlierCall    Symptom = "earlier-call"    // on the contents of the arguments of an earlier call
	EarlierValues  Symptom = "earlier-values"  // on the values of an earlier call with different tensors
	FirstCall      Symptom = "first-call"      // on whether there was an earlier call
	ReturnedBefore Symptom = "returned-before" // the previous call returned it too
	Restored       Symptom = "restored"        // an argument was written during the call, and restored
	NoFake         Symptom = "no-fake"         // an op has a kernel alone
	Overlapping    Symptom = "overlapping"     // two StorageImpls lie in the same memory
	Overreleased   Symptom = "overreleased"    // a reference was released more often than taken
	OldOut         Symptom = "old-out"         // elements of an argument for a result are not written
	OtherContents  Symptom = "other-contents"  // elements, or numbers, differ between two calls
	SymbolicSizes  Symptom = "symbolic-sizes"  // a fake raises if sizes are symbols
	SizeGuard      Symptom = "size-guard"      // a fake sets a condition that it does not need
	Backward       Symptom = "backward"        // a formula raises although the kernel returns
	WithoutTensor  Symptom = "without-tensor"  // it raises without an optional tensor
	FakeRaises     Symptom = "fake-raises"     // a fake raises where the kernel returns
	FakeElsewhere  Symptom = "gpu-fake"        // a fake returns tensors on another device than a GPU
	OtherDevice    Symptom = "other-device"    // a return is not on the device of the arguments
	RefusedThere   Symptom = "refuses"         // a call throws on a device alone
	State          Symptom = "state"           // a call changes the process besides its tensors
	Unwritten      Symptom = "unwritten"       // no call writes what the schema lets it write
	LostStrided    Symptom = "lost-strided"    // a write is lost where a tensor is transposed
	LostResized    Symptom = "lost-resized"    // where the sizes of a tensor for a result are others
	LostCopy       Symptom = "lost-copy"       // since it goes to a copy
	LostDType      Symptom = "lost-dtype"      // where a tensor has some dtypes
	DirectDefault  Symptom = "default"         // a function has a default that the schema lacks
	Seed           Symptom = "seed"            // a result depends on the seed of the default generators
	Seeded         Symptom = "seeded"          // it is not the same with generators of one seed
	AfterThrow     Symptom = "after-throw"     // or after a call that threw
	LongerCall     Symptom = "longer-call"     // or after a call with longer tensors
	Inference      Symptom = "inference"       // a return is an inference tensor
	Leaf           Symptom = "leaf"            // a return requires grad
	Decomposes     Symptom = "decomposes"      // an op that decomposes returns what shares with an argument
	Vmap           Symptom = "vmap"            // a rule for vmap raises, or returns something else than separate calls
)

// noted are the symptoms that are notes, each with the reason: they fail loudly where a program does
// something more, or no schema promises otherwise. All others are errors, unless they show only in calls
// that are not ordinary: see [Violation.Only].
var noted = []struct {
	code    Code
	symptom Symptom
	reason  string
}{
	{UndeclaredWrite, State, "no schema declares what is in no tensor: compilers may drop or reorder the call"},
	{MetaAlias, NoFake, "only torch.compile and torch.export need it: they fail at the op"},
	{MetaAlias, FakeElsewhere, "a kernel for GPUs may be meant to return tensors there"},
	{MetaAlias, OtherDevice, "no schema states a return's device: fakes and compilers assume that of the arguments"},
	{MetaAlias, RefusedThere, "the schema does not list the arguments that a kernel accepts"},
	{SchemaLint, Unwritten, "the op may write it for other arguments"},
	{SchemaLint, LostResized, "the op may have nothing to write to such a tensor"},
	{SchemaLint, DirectDefault, "the function may also be called directly"},
	{AutogradKernel, Inference, "an op for inference alone may want that"},
	{AutogradKernel, Leaf, "an op that makes parameters may want that"},
	{AutogradKernel, "limited", "a formula may be meant to limit gradients"},
	{AutogradKernel, "second-derivative", "programs without second derivatives do not need it"},
	{AutogradKernel, "trains", "not promised: compilers call the kernel with tensors that do not require grad"},
	{AutogradKernel, "promoted", "only its dtype differs: a batch of 0-dim tensors has a dimension, and is promoted"},
	{AutogradKernel, "autocast", "programs without autocast, or that are not compiled, need none"},
	{AutogradKernel, "dispatch", "the class may be for other arguments"},
	{AutogradKernel, "composite", "no gradient is silently wrong"},
	{NondeterministicResult, Threads, "the rounding of floating-point sums depends on the order of their terms"},
	{NondeterministicResult, Seed, "programs that are not compiled do without"},
	{NondeterministicResult, Races, unpromised},
	{NondeterministicResult, "", unpromised},
}

const unpromised = "no schema promises that results are reproducible"

// Note returns the reason why a symptom is a note and no error, or "".
func (s Symptom) Note(c Code) string {
	for _, n := range noted {
		if n.code == c && n.symptom == s {
			return n.reason
		}
	}
	return ""
}

// elsewhere are the checks whose violations are notes if they show only in calls that are not ordinary.
const elsewhere Codes = 1<<MetaAlias | 1<<SchemaLint | 1<<AutogradKernel | 1<<NondeterministicResult

// Limit makes an error a note if only some calls show it: "where dtypes differ".
func (v *Violation) Limit(only string) {
	if only != "" && v.Note == "" && elsewhere.Has(v.Code) {
		v.Only, v.Note = only, "ordinary calls do not show it"
	}
}

// Of returns the name of the symptom of a check, as reports and allowlists write it: "OA021/threads".
func (s Symptom) Of(c Code) string {
	if s == "" {
		return c.String()
	}
	return c.String() + "/" + string(s)
}

// Detail returns what was seen, if the sentence does not say it.
func (v *Violation) Detail() string {
	if v.Code == UndeclaredWrite && v.Symptom == "" {
		return v.Saw
	}
	return ""
}

// Sentence returns what is wrong, with its subject: "the kernel writes argument x, and the schema does not declare it".
func (v *Violation) Sentence() string {
	if v.Only != "" {
		return "only " + v.Only + ": " + v.sentence()
	}
	return v.sentence()
}

func (v *Violation) sentence() string {
	if v.Detail() != "" {
		return "the kernel writes " + v.Subject.String() + ", and the schema does not declare it"
	}
	on := v.Subject.Name + v.Subject.element()
	switch {
	case v.Subject == Process || on == "" || v.Symptom == NoFake || names(v.Saw, on):
		return v.Saw
	case v.Subject.Return && on == "result":
		return v.Saw
	}
	return v.Subject.String() + ": " + v.Saw
}

// names reports whether a text has a name as a word.
func names(text, name string) bool {
	return regexp.MustCompile(`(^|\W)` + regexp.QuoteMeta(name) + `(\W|$)`).MatchString(text)
}
