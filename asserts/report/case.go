package report

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/compare"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/internal/slicesx"
)

// A CaseResult is the result of one case.
type CaseResult struct {
	Case    int      `json:"case"`
	Tried   []string `json:"tried,omitempty"` // value classes: "self: const:NaN"
	Idle    bool     `json:"idle,omitempty"`  // it only queries the kernel, or there was nothing to call
	Ran     bool     `json:"ran,omitempty"`
	Error   string   `json:"error,omitempty"`   // of the closest attempt, if none ran
	Close   int      `json:"close,omitempty"`   // how close it came, or Unmade
	Closest string   `json:"closest,omitempty"` // the attempt, as a case of a file of cases
	Unfit   string   `json:"unfit,omitempty"`   // why the case of a recipe did not run unchanged
	Later   int      `json:"later,omitempty"`   // number of cases that -n all would run after this one
	Devices Devices  `json:"devices,omitempty"`
	// kinds of tensors that the library does not have, with the number of tensors of the case
	Lacks  map[string]int  `json:"lacks,omitempty"`
	Waived []asserts.Skip  `json:"waived,omitempty"` // violations that an allowlist waives
	Origin *Origin         `json:"origin,omitempty"` // of the recipe or the class
	Beyond string          `json:"beyond,omitempty"` // why no arguments avoid the error
	Found  []*Finding      `json:"found,omitempty"`
	Writes []compare.Write `json:"writes,omitempty"` // of the call on the first device
}

// An Origin is the base, and the variant of a class, with which a call first worked.
type Origin struct{ Base, Way int }

// Unmade is the Close of a case none of whose attempts could be made: the error is not the kernel's.
const Unmade = -1

// A Finding is a violation, and the case that shows it.
type Finding struct {
	Violation *asserts.Violation `json:"violation"`
	Case      int                `json:"case"`
	Call      string             `json:"call"`              // the smallest call that shows it
	Recipe    string             `json:"recipe"`            // the same as a case of a file of cases
	Earlier   string             `json:"earlier,omitempty"` // the call made before it, as a case, if that is another one
	Devices   []engine.Device    `json:"devices"`           // of the call; of both calls if they are compared
	Times     int                `json:"times"`             // number of cases that show it
	Known     bool               `json:"known,omitempty"`   // listed in a baseline
	Program   *ReproProgram      `json:"program,omitempty"`
}

// SameFault reports whether two findings are about one rule and one subject. Two that other calls show alone, each with
// another effect, are not the same: sizes that differ, and dtypes.
func (f *Finding) SameFault(g *Finding) bool {
	v, w := f.Violation, g.Violation
	other := v.Only != "" && w.Only != "" && v.Only != w.Only && v.Breaks != w.Breaks
	return v.Code == w.Code && v.Subject.Return == w.Subject.Return && v.Subject.Index == w.Subject.Index && !other
}

// Outweighs reports whether a finding shows more of a fault than another one does: an error more
// than a note, bytes that changed more than bytes that were restored.
func (f *Finding) Outweighs(g *Finding) bool { return weight(f.Violation) > weight(g.Violation) }

func weight(v *asserts.Violation) int {
	switch {
	case v.Note != "":
		return 0
	case v.Symptom == asserts.Restored:
		return 1
	}
	return 2
}

// AddNew adds findings, except those of faults that were found before.
func AddNew(found, more []*Finding) []*Finding {
	for _, f := range more {
		if !slices.ContainsFunc(found, f.SameFault) {
			found = append(found, f)
		}
	}
	return found
}

// WriteCases writes calls of ops, by op name, as a file of cases.
func WriteCases(w io.Writer, calls map[string][]string) error {
	var b strings.Builder
	if len(calls) == 0 {
		b.WriteString("[]\n")
	}
	for _, op := range slices.Sorted(maps.Keys(calls)) {
		fmt.Fprintf(&b, "- ops: [%q]\n  cases:\n", op)
		for _, call := range calls[op] {
			fmt.Fprintf(&b, "    - %s\n", call)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// On returns the devices of a finding as text.
func (f *Finding) On() string {
	return slicesx.Join(f.Devices, ", ", func(d engine.Device) string { return string(d) })
}
