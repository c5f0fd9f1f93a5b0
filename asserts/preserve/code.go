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

var codes = [NumCodes]struct{ name, rule string }{
	SameObject:     {"same-object", "while an impl lives, its interpreter gets the same object for it every time"},
	SharedDealloc:  {"shared-dealloc", "an object is not deallocated while its slot points at it and others hold the impl"},
	Hermetic:       {"hermetic", "a hermetic context is handed only objects made hermetically, and no slot points at one of these"},
	OneInterpreter: {"one-interpreter", "an object is handed out only in the interpreter that its slot is tagged with"},
	OneOwner:       {"one-owner", "of an object and its impl exactly one owns the other"},
	UseAfter:       {"use-after-dealloc", "a deallocated object is never used and no slot leads to it"},
	Leak:           {"leak", "no object and no impl outlives its last reference"},
	Finalizer:      {"finalizer", "a finalizer runs once, at deallocation, and never at preservation"},
	DoubleRelease:  {"double-release", "a reference is released once"},
}

// String gives the code as reports print it: "OA101".
func (c Code) String() string { return fmt.Sprintf("OA%03d", 100+int(c)) }

// Name gives the invariant's name: "same-object".
func (c Code) Name() string { return codes[c].name }

// Rule gives the invariant in one sentence.
func (c Code) Rule() string { return codes[c].rule }

// ParseCode reads a code ("OA101") or a name ("same-object").
func ParseCode(s string) (Code, bool) {
	for c := SameObject; int(c) < NumCodes; c++ {
		if s == c.String() || s == c.Name() {
			return c, true
		}
	}
	return 0, false
}

// MarshalText is String, so that a code reads well in JSON.
func (c Code) MarshalText() ([]byte, error) { return []byte(c.String()), nil }
