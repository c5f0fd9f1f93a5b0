package asserts

import (
	"fmt"
	"iter"
	"strings"
)

// Codes is a set of checks.
type Codes uint16

// AllCodes holds every check.
const AllCodes = Codes(1<<NumCodes - 2)

// CodesOf gives the set of the checks named.
func CodesOf(codes ...Code) Codes {
	var s Codes
	for _, c := range codes {
		s |= 1 << c
	}
	return s
}

// Has tells whether the set holds c.
func (s Codes) Has(c Code) bool { return s>>c&1 != 0 }

// All yields the set's codes in order.
func (s Codes) All() iter.Seq[Code] {
	return func(yield func(Code) bool) {
		for c := InputImpl; int(c) < NumCodes; c++ {
			if s.Has(c) && !yield(c) {
				return
			}
		}
	}
}

// String gives the codes with spaces between: "OA003 OA005".
func (s Codes) String() string {
	var names []string
	for c := range s.All() {
		names = append(names, c.String())
	}
	return strings.Join(names, " ")
}

// MarshalText is String, so that a set reads well in JSON.
func (s Codes) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (s *Codes) UnmarshalText(text []byte) error {
	*s = 0
	for _, name := range strings.Fields(string(text)) {
		c, ok := ParseCode(name)
		if !ok {
			return fmt.Errorf("unknown check %q", name)
		}
		*s |= CodesOf(c)
	}
	return nil
}
