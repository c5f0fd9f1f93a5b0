package report

import (
	"slices"
	"strings"

	"github.com/opassert/opassert/asserts/suite/engine"
)

// A Crash is a case that ended its worker.
type Crash struct {
	Case    int           `json:"case"`
	Cause   string        `json:"cause"`            // "SIGSEGV", "hang", "out of memory"
	Alone   bool          `json:"alone"`            // it happens again in a process of its own
	Call    string        `json:"call,omitempty"`   // the smallest call that crashes so
	Recipe  string        `json:"recipe,omitempty"` // the same as a case of a file of cases
	Foreign bool          `json:"-"`                // another's fault ended the process
	Device  engine.Device `json:"device,omitempty"` // where the op was called; "" before it was
	Twin    bool          `json:"-"`                // the op was called there with twins of the tensors of the case
	Said    string        `json:"said,omitempty"`   // the message with which the op ended it, or the error of a device that is lost
	Frames  []string      `json:"frames,omitempty"` // the op's own functions on the stack, innermost first
	Waived  string        `json:"waived,omitempty"` // why an allowlist waives it
	Known   bool          `json:"known,omitempty"`  // a baseline has it

	Program *Program `json:"program,omitempty"`
}

const (
	Hang        = "hang"
	OutOfMemory = "out of memory"
	killed      = "SIGKILL"     // by a user, or by the system where memory is short
	DeviceLost  = "device lost" // nothing works on it any more, in that process
)

// corruptions are the causes of a kernel that reads or writes out of bounds. Which
// of them it is depends on the contents of that memory.
var corruptions = []string{"SIGSEGV", "SIGABRT", "SIGBUS"}

// SameCauses returns the causes that stand for the same fault as this one.
func SameCauses(cause string) []string {
	if slices.Contains(corruptions, cause) {
		return corruptions
	}
	return []string{cause}
}

// Counts reports whether the crash counts against its op.
func (c *Crash) Counts() bool { return c.Alone && c.Waived == "" && !c.Known }

// InPython reports whether a crash is in Python's own library. That is there for
// libraries that are linked to it, and no interpreter runs.
func (c *Crash) InPython() bool {
	return len(c.Frames) > 0 && strings.Contains(c.Frames[0], " (libpython3")
}
