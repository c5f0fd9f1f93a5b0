package asserts

import (
	"fmt"

	"github.com/opassert/opassert/internal/usual"
)

// A Code names one check. Codes are stable and never reused. Each check has a file of its own, check_NAME.go.
type Code uint8

// numCodes is the capacity of [Codes] and [Counts].
const numCodes = 64

// String returns the code as reports print it: "OA001".
func (c Code) String() string {
	return string([]byte{'O', 'A', '0' + byte(c/100), '0' + byte(c/10%10), '0' + byte(c%10)})
}

// Name returns the check's name: "input-impl".
func (c Code) Name() string { return c.check().name }

// Rule returns the check's rule in one sentence.
func (c Code) Rule() string { return c.check().rule }

// Breaks returns the consequence of a broken rule for a user.
func (c Code) Breaks() string { return c.check().breaks }

// BreaksPlain returns the same for a library without autograd, functionalization and compilers: see [Seen].
func (c Code) BreaksPlain() string { return goWords.Replace(c.check().breaks) }

// Level returns the least level at which the check is judged.
func (c Code) Level() Level { return c.check().level }

// About returns the kinds of subject of the check.
func (c Code) About() About { return c.check().about }

// InPython returns the fix for a __torch_dispatch__ that answers calls; "" if it is the same as for a kernel.
func (c Code) InPython() string { return c.check().inPython }

// OnCall reports whether the check is judged on a single call, without another call to compare with.
func (c Code) OnCall() bool { return c.check().judges != nil }

// InRuns reports whether the check is judged only in runs of many ops, such as those of opassert
// check and package optest; [Seen] tells on which calls.
func (c Code) InRuns() bool { return c.check().when != nil }

// Through reports whether the check is judged, in a run of many ops, on calls that begin at autograd, or below it.
func (c Code) Through(autograd bool) bool {
	if when := c.check().when; when != nil {
		return when(&Seen{Alone: true, Autograd: autograd})
	}
	return !autograd
}

// Skips returns the traits of tensors for which the check is unreliable, as rows of [Aware].
func (c Code) Skips() []Row { return c.check().skips }

// ParseCode reads a code ("OA001") or a name ("input-impl").
func ParseCode(s string) (Code, bool) {
	for c := range AllCodes.All() {
		if s == c.String() || s == c.Name() {
			return c, true
		}
	}
	return 0, false
}

// Usual returns the facts about a subject that leave the check nothing to report.
func (c Code) Usual() usual.Facts { return c.check().usual }

// MarshalText returns the text of String.
func (c Code) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText parses a code or a check's name.
func (c *Code) UnmarshalText(text []byte) error {
	code, ok := ParseCode(string(text))
	if !ok && string(text) != Code(0).String() {
		return fmt.Errorf("unknown check %q", text)
	}
	*c = code
	return nil
}
