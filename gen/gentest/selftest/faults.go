package selftest

import (
	"fmt"
	"slices"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/c10/faults"
	"github.com/opassert/opassert/gen/gentest/faulty"
)

// A FaultResult is what came of one planted fault.
type FaultResult struct {
	Fault faults.Fault
	Level asserts.Level
	Wrong string // what is wrong with the report, "" when it is as it should be
	Ran   Ran
}

// Faults runs every planted fault, at every level that a wrapper judges at, and
// those that only a call on meta shows against one.
func Faults() []FaultResult {
	var results []FaultResult
	for _, level := range levels {
		for _, f := range faults.All() {
			results = append(results, runFault(f, level))
		}
	}
	for _, f := range faults.All() {
		if !f.Code.OnCall() {
			results = append(results, runOnMeta(f))
		}
	}
	return results
}

// runOnMeta holds a fault's call against the same call on meta.
func runOnMeta(f faults.Fault) FaultResult {
	r := FaultResult{Fault: f, Level: asserts.Meta}
	i := slices.IndexFunc(faulty.Kernels, func(k asserts.Kernel) bool { return k.Op.Name == f.Op })
	if i < 0 {
		r.Wrong = fmt.Sprintf("no kernel for %s: %v", f.Op, errMissing)
		return r
	}
	r.Ran.Violations = f.OnMeta(faulty.Kernels[i]).Violations
	r.Wrong = wrong(f, r.Ran)
	return r
}

func runFault(f faults.Fault, level asserts.Level) FaultResult {
	r := FaultResult{Fault: f, Level: level}
	wrapper, err := lookup(faulty.Wrappers, f.Op)
	if err != nil {
		r.Wrong = err.Error()
		return r
	}
	r.Ran = call(level, wrapper, f.Args())
	if f.Code.Level() > level {
		r.Wrong = overheard(r.Ran)
	} else {
		r.Wrong = wrong(f, r.Ran)
	}
	return r
}

// overheard says what was reported below the level that can see it.
func overheard(ran Ran) string {
	if len(ran.Violations) > 0 {
		return "reported below its level, as " + titles(ran.Violations)
	}
	return ""
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
