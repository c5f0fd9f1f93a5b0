package asserts

import (
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/opassert/opassert/internal/slicesx"
)

// Codes is a set of checks.
type Codes uint64

// AllCodes holds every check, future ones included.
const AllCodes Codes = 1<<numCodes - 2

// CodesOf returns the set of the checks named.
func CodesOf(codes ...Code) Codes {
	var s Codes
	for _, c := range codes {
		s |= 1 << c
	}
	return s
}

// Has reports whether the set holds c.
func (s Codes) Has(c Code) bool { return s>>c&1 != 0 }

// All yields the set's codes in order, those of checks that exist.
func (s Codes) All() iter.Seq[Code] {
	return func(yield func(Code) bool) {
		for c := range Code(numCodes) {
			if s.Has(c) && checks[c] != nil && !yield(c) {
				return
			}
		}
	}
}

// String returns the codes with spaces between: "OA003 OA005".
func (s Codes) String() string {
	return slicesx.Join(slices.Collect(s.All()), " ", Code.String)
}

// MarshalText returns the text of String.
func (s Codes) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText parses the text of MarshalText.
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

// Counts holds a number for each check, by its code.
type Counts [numCodes]int

// MarshalJSON writes the numbers that are not zero, by code.
func (n Counts) MarshalJSON() ([]byte, error) {
	byCode := make(map[Code]int)
	for c := range AllCodes.All() {
		if n[c] != 0 {
			byCode[c] = n[c]
		}
	}
	return json.Marshal(byCode)
}

// UnmarshalJSON reads the JSON of MarshalJSON.
func (n *Counts) UnmarshalJSON(text []byte) error {
	var byCode map[Code]int
	if err := json.Unmarshal(text, &byCode); err != nil {
		return err
	}
	*n = Counts{}
	for c, count := range byCode {
		n[c] = count
	}
	return nil
}
