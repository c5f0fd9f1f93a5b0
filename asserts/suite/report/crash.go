package report

import (
	"slices"
	"strings"

	"github.com/opassert/opassert/asserts/suite/engine"
)

// A Crash is a case that ended its worker.
type Crash struct {
	Case   int      `json:"case"`
	Cause  string   `json:"cause"`            // "SIGSEGV", "hang", "out of memory"
	Alone  bool     `json:"alone"`            // it happens again in a process of its own
	Call   string   `json:"call,omitempty"`   // the smallest call that crashes so
	Recipe string   `json:"recipe,omitempty"` // the same as a case of a file of cases
	Device string   `json:"device,omitempty"` // where the op was called, "cpu" or "meta"; "" before it was
	Frames []string `json:"frames,omitempty"` // the op's own functions on the stack, innermost first
	Waived string   `json:"waived,omitempty"` // why an allowlist waives it
	Known  bool     `json:"known,omitempty"`  // a baseline has it
}

const (
	Hang        = "hang"
	OutOfMemory = "out of memory"
)

// corruptions are the causes of a kernel that reads or writes where it may not.
// Which of them it is depends on what lies there.
var corruptions = []string{"SIGSEGV", "SIGABRT", "SIGBUS"}

// SameCauses returns the causes that stand for the same fault as this one.
func SameCauses(cause string) []string {
	if slices.Contains(corruptions, cause) {
		return corruptions
	}
	return []string{cause}
}

// Counts reports whether the crash speaks against its op.
func (c *Crash) Counts() bool { return c.Alone && c.Waived == "" && !c.Known }

// AddCrash adds a crash, and reports whether it replaces the one on
// meta in the same case: the call on the CPU had broken the memory before.
func (r *OpResult) AddCrash(c *Crash) bool {
	last := len(r.Crashes) - 1
	instead := c.Device == engine.CPU && last >= 0 && r.Crashes[last].Device == engine.Meta && r.Crashes[last].Case == c.Case
	if instead {
		r.Crashes = r.Crashes[:last]
	}
	r.Crashes = append(r.Crashes, *c)
	return instead
}

// InPython reports whether a crash is in Python's own library. That is there for
// libraries that are linked to it, and no interpreter runs.
func (c *Crash) InPython() bool {
	return len(c.Frames) > 0 && strings.Contains(c.Frames[0], " (libpython3")
}
