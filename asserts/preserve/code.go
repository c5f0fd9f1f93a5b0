package preserve

import "fmt"

// A Code names one invariant. Codes are stable and never reused.
type Code uint8

const (
	SameObject     Code = 1 + iota // OA101
	SharedDealloc                  // OA102
	Hermetic                       // OA103
	OneInterpreter                 // OA104
	OneOwner                       // OA105
	UseAfter                       // OA106
	Leak                           // OA107
	Finalizer                      // OA108
	DoubleRelease                  // OA109
)

// NumCodes is one more than the highest code, for tables indexed by Code.
const NumCodes = int(DoubleRelease) + 1

var codes = [NumCodes]struct{ name, rule, breaks, fix string }{
	SameObject: {
		"same-object", "while an impl lives, its interpreter gets the same object for it every time",
		"attributes and weak references of the first object are out of reach, and identity tests fail",
		"check the slot before making an object, and keep the object in it",
	},
	SharedDealloc: {
		"shared-dealloc", "an object is not deallocated while its slot points at it and others hold the impl",
		"the next user of the impl's object gets freed memory, or another object there",
		"preserve an object in its slot while the impl is shared, wherever it is released",
	},
	Hermetic: {
		"hermetic", "a hermetic context gets only objects made hermetically, and no slot points at one of these",
		"the context deallocates its objects unconditionally, so that the slots of shared impls dangle",
		"pass tensors to the kernel as arguments, not as globals, closures or caches; or use a PyTorch whose storages " +
			"remember where they were made (pytorch/pytorch#109039, in 2.2 and later)",
	},
	OneInterpreter: {
		"one-interpreter", "an object is returned only in the interpreter that its slot is tagged with",
		"the object's type and reference count belong to another interpreter, whose lock is not held",
		"release and use an object in the interpreter that made it; give others a copy of the storage",
	},
	OneOwner: {
		"one-owner", "of an object and its impl exactly one owns the other",
		"both leak if each owns the other; if neither does, one is freed while the other points at it",
		"flip both sides in one step: the slot's ownership bit and the object's reference to the impl",
	},
	UseAfter: {
		"use-after-dealloc", "a deallocated object is never used and no slot leads to it",
		"the memory may hold another object by now",
		"clear the slot when its object is deallocated, and keep the object while something refers to it",
	},
	Leak: {
		"leak", "no object and no impl outlives its last reference",
		"the impl's memory is never given back",
		"release the handle, or let it become unreachable",
	},
	Finalizer: {
		"finalizer", "a finalizer runs once, at deallocation, and never at preservation",
		"the object is returned again after its finalizer ran",
		"run the finalizer after the decision to deallocate, and only if it did not run before",
	},
	DoubleRelease: {
		"double-release", "a reference is released once",
		"the count falls below the number of references, so that others dangle",
		"release each reference once, where it was taken",
	},
}

// String returns the code as reports print it: "OA101".
func (c Code) String() string { return fmt.Sprintf("OA%03d", 100+int(c)) }

// Name returns the invariant's name: "same-object".
func (c Code) Name() string { return codes[c].name }

// Rule returns the invariant in one sentence.
func (c Code) Rule() string { return codes[c].rule }

// Breaks returns the consequence of a broken invariant.
func (c Code) Breaks() string { return codes[c].breaks }

// Fix returns how to keep the invariant.
func (c Code) Fix() string { return codes[c].fix }

// ParseCode reads a code ("OA101") or a name ("same-object").
func ParseCode(s string) (Code, bool) {
	for c := SameObject; int(c) < NumCodes; c++ {
		if s == c.String() || s == c.Name() {
			return c, true
		}
	}
	return 0, false
}

// MarshalText returns the text of String.
func (c Code) MarshalText() ([]byte, error) { return []byte(c.String()), nil }
