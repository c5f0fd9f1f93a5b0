package asserts

import "fmt"

// A Code names one check. Codes are stable and never reused.
type Code uint8

const (
	InputImpl       Code = 1 + iota // OA001
	InputStorage                    // OA002
	FreshImpl                       // OA003
	ViewStorage                     // OA004
	FreshStorage                    // OA005
	ReturnedSelf                    // OA006
	UndeclaredAlias                 // OA007
	OutputAlias                     // OA008
	UndeclaredWrite                 // OA009
	VersionBump                     // OA010
	MetaAlias                       // OA011
	SchemaLint                      // OA012
)

// NumCodes is one more than the highest code, for tables indexed by Code.
const NumCodes = int(SchemaLint) + 1

var codes = [NumCodes]struct{ name, rule, breaks string }{
	InputImpl: {
		"input-impl",
		"an argument's TensorImpl is the same object after the call",
		"callers and autograd go on with a tensor that the op has left behind",
	},
	InputStorage: {
		"input-storage",
		"an argument's StorageImpl is the same object after the call",
		"views of the argument, and whoever else holds its storage, no longer see what it holds",
	},
	FreshImpl: {
		"fresh-impl",
		"a return without (a!) is a new TensorImpl that nobody else holds",
		"whoever else holds it sees, or makes, changes that autograd knows nothing of",
	},
	ViewStorage: {
		"view-storage",
		"a return that is a view shares its base's StorageImpl",
		"writes through the view never reach its base, nor its base's the view: silently wrong values and gradients",
	},
	FreshStorage: {
		"fresh-storage",
		"a return without an alias set has a StorageImpl that nobody else holds",
		"a later in-place write to the result changes a tensor that nobody knows to be related",
	},
	ReturnedSelf: {
		"returned-self",
		"a return marked (a!) is the very TensorImpl of the argument marked (a!)",
		"autograd attaches the history of the write to a tensor that was not written",
	},
	UndeclaredAlias: {
		"undeclared-alias",
		"a return shares nothing with an argument unless the schema gives them a common alias set",
		"an in-place write to the one silently changes the other; compilers take them to be independent",
	},
	OutputAlias: {
		"output-alias",
		"two returns share nothing unless the schema gives them a common alias set",
		"an in-place write to the one silently changes the other; compilers take them to be independent",
	},
	UndeclaredWrite: {
		"undeclared-write",
		"an argument without (a!) keeps its bytes and its metadata",
		"functionalization and compilers may drop or reorder this write; autograd may have saved the old value",
	},
	VersionBump: {
		"version-bump",
		"an argument that was written has a higher version afterwards",
		"autograd cannot see that a tensor saved for backward was overwritten: silently wrong gradients",
	},
	MetaAlias: {
		"meta-alias",
		"the call on Meta gives the alias graph, sizes, strides and dtype of the call on CPU",
		"compilers and fake tensors plan memory and views from the Meta call, which is not what runs",
	},
	SchemaLint: {
		"schema-lint",
		"a schema's name and its alias annotations agree",
		"readers and code generators draw different promises from the same schema",
	},
}

// String gives the code as reports print it: "OA001".
func (c Code) String() string { return fmt.Sprintf("OA%03d", uint8(c)) }

// Name gives the check's name: "input-impl".
func (c Code) Name() string { return codes[c.index()].name }

// Rule gives the check's rule in one sentence.
func (c Code) Rule() string { return codes[c.index()].rule }

// Breaks says what goes wrong for a user when the rule is broken.
func (c Code) Breaks() string { return codes[c.index()].breaks }

// index is 0, a row of empty strings, for a code that there is not.
func (c Code) index() int {
	if int(c) < NumCodes {
		return int(c)
	}
	return 0
}

// ParseCode reads a code ("OA001") or a name ("input-impl").
func ParseCode(s string) (Code, bool) {
	for c := InputImpl; int(c) < NumCodes; c++ {
		if s == c.String() || s == c.Name() {
			return c, true
		}
	}
	return 0, false
}

// MarshalText is String, so that a code reads well in JSON.
func (c Code) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText reads what MarshalText wrote, and a check's name.
func (c *Code) UnmarshalText(text []byte) error {
	code, ok := ParseCode(string(text))
	if !ok && string(text) != Code(0).String() {
		return fmt.Errorf("unknown check %q", text)
	}
	*c = code
	return nil
}

// A Level says how much of a tensor is observed. Each holds the one before.
type Level uint8

const (
	Off      Level = iota
	Identity       // pointers and counts: OA001 to OA008
	Contents       // bytes and metadata as well: OA009, OA010
	Meta           // the same call on the meta device: OA011
)

// Level gives the least level at which the check is judged.
func (c Code) Level() Level {
	switch c {
	case UndeclaredWrite, VersionBump:
		return Contents
	case MetaAlias:
		return Meta
	}
	return Identity
}

// levels spells the levels as OPASSERT does.
var levels = [...]string{Off: "off", Identity: "identity", Contents: "content", Meta: "meta"}

func (l Level) String() string {
	if int(l) < len(levels) {
		return levels[l]
	}
	return fmt.Sprintf("level %d", uint8(l))
}
