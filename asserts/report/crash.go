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
	Alone   bool          `json:"alone"`            // it is confirmed in a process of its own
	Call    string        `json:"call,omitempty"`   // the smallest call with this crash
	Recipe  string        `json:"recipe,omitempty"` // the same as a case of a file of cases
	Foreign bool          `json:"-"`                // another's fault ended the process
	Device  engine.Device `json:"device,omitempty"` // where the op was called; "" if it was not
	Twin    bool          `json:"-"`                // the op was called there with twins of the case's tensors
	// the message with which the op ended it, or the error of a lost device
	Said   string   `json:"said,omitempty"`
	Frames []string `json:"frames,omitempty"` // the op's own functions on the stack, innermost first
	Waived string   `json:"waived,omitempty"` // why an allowlist waives it
	Known  bool     `json:"known,omitempty"`  // listed in a baseline

	Program *ReproProgram `json:"program,omitempty"`
}

const (
	Hang        = "hang"
	OutOfMemory = "out of memory"
	DeviceLost  = "device lost" // it no longer works in that process
)

// corruptions are the causes for a kernel that reads or writes out of bounds: which, depends on that memory.
var corruptions = []string{"SIGSEGV", "SIGABRT", "SIGBUS"}

// SameCauses returns the causes that the same fault can have.
func SameCauses(cause string) []string {
	if slices.Contains(corruptions, cause) {
		return corruptions
	}
	return []string{cause}
}

// Counts reports whether the crash counts against its op.
func (c *Crash) Counts() bool { return c.Alone && c.Waived == "" && !c.Known }

// BlameOp drops the excuses of an op's crashes if each call ended its worker: nothing shows that another's fault did.
func (r *OpResult) BlameOp() {
	if len(r.Crashes) < r.Cases {
		return
	}
	for i := range r.Crashes {
		if c := &r.Crashes[i]; c.Foreign {
			c.Foreign, c.Waived = false, ""
		}
	}
}

// InPython reports whether a crash is in Python's library, loaded for libraries linked to it, without an interpreter.
func (c *Crash) InPython() bool {
	return len(c.Frames) > 0 && strings.Contains(c.Frames[0], " (libpython3")
}
