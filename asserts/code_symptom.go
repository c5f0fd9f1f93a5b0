package asserts

import (
	"regexp"
	"strings"
)

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
	OtherContents  Symptom = "other-contents"  // elements, or numbers, differ between two calls
	SymbolicSizes  Symptom = "symbolic-sizes"  // a fake raises if sizes are symbols
	SizeGuard      Symptom = "size-guard"      // a fake sets a condition that it does not need
	Backward       Symptom = "backward"        // a formula raises although the kernel returns
	WithoutTensor  Symptom = "without-tensor"  // it raises without an optional tensor
	Vmap           Symptom = "vmap"            // a rule for vmap raises, or returns something else than separate calls
)

// Of returns the name of the symptom of a check, as reports and allowlists write it: "OA021/threads".
func (s Symptom) Of(c Code) string {
	if s == "" {
		return c.String()
	}
	return c.String() + "/" + string(s)
}

// Detail returns what was seen, if the sentence does not say it.
func (v *Violation) Detail() string {
	if v.Code == UndeclaredWrite && v.Symptom == "" && v.Subject != Process {
		return v.Saw
	}
	return ""
}

// ofBytes matches evidence about bytes of a tensor that it does not name.
var ofBytes = regexp.MustCompile(`^(\S+ of \d+ bytes|\d+ elements) `)

// Sentence returns what is wrong, with its subject: "the kernel writes argument x, and the schema does not declare it".
func (v *Violation) Sentence() string {
	if v.Detail() != "" {
		return "the kernel writes " + v.Subject.String() + ", and the schema does not declare it"
	}
	on := v.Subject.Name + v.Subject.element()
	switch {
	case v.Subject == Process || on == "" || v.Symptom == NoFake || names(v.Saw, on):
		return v.Saw
	case ofBytes.MatchString(v.Saw):
		return ofBytes.ReplaceAllString(v.Saw, "$1 of "+strings.ReplaceAll(v.Subject.String(), "$", "$$")+" ")
	case v.Subject.Return && on == "result":
		return v.Saw
	}
	return v.Subject.String() + ": " + v.Saw
}

// names reports whether a text has a name as a word.
func names(text, name string) bool {
	return regexp.MustCompile(`(^|\W)` + regexp.QuoteMeta(name) + `(\W|$)`).MatchString(text)
}
