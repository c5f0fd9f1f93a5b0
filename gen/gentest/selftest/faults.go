package selftest

import (
	"fmt"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/c10/faults"
	"github.com/opassert/opassert/gen/gentest/faulty"
)

// A FaultResult is what came of one planted fault.
type FaultResult struct {
	Fault faults.Fault
	Wrong string // what is wrong with the report, "" when it is as it should be
	Ran   Ran
}

// Faults runs every planted fault.
func Faults() []FaultResult {
	var results []FaultResult
	for _, f := range faults.All() {
		results = append(results, runFault(f))
	}
	return results
}

func runFault(f faults.Fault) FaultResult {
	wrapper, err := lookup(faulty.Wrappers, f.Op)
	if err != nil {
		return FaultResult{Fault: f, Wrong: err.Error()}
	}
	ran := call(wrapper, f.Args())
	return FaultResult{f, wrong(f, ran), ran}
}

// wrong says how a report differs from what the fault calls for.
func wrong(f faults.Fault, ran Ran) string {
	switch {
	case ran.Panic != nil:
		return fmt.Sprintf("the call panicked: %v", ran.Panic)
	case len(ran.Violations) == 0:
		return "not reported"
	case len(ran.Violations) > 1:
		return fmt.Sprintf("reported %d times, as %s", len(ran.Violations), titles(ran.Violations))
	}
	v := ran.Violations[0]
	got := fmt.Sprintf("%v on %s[%d] against %q", v.Code, v.Subject.Name, v.Subject.Element, v.Against.Name)
	want := fmt.Sprintf("%v on %s[%d] against %q", f.Code, f.Subject, f.Element, f.Against)
	if got != want {
		return fmt.Sprintf("reported as %s, not as %s", got, want)
	}
	return ""
}

func titles(vs []*asserts.Violation) string {
	text := ""
	for i, v := range vs {
		if i > 0 {
			text += "; "
		}
		text += v.Title()
	}
	return text
}
