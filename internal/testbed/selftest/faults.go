package selftest

import (
	"errors"
	"fmt"
	"go/token"
	"slices"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/internal/slicesx"
	"github.com/opassert/opassert/internal/testbed/faults"
	"github.com/opassert/opassert/internal/testbed/gentest/faulty"
	"github.com/opassert/opassert/schema"
)

// A FaultResult is the outcome of one planted fault.
type FaultResult struct {
	Fault faults.Planted
	Level asserts.Level
	Wrong string // what is wrong with the report, or ""
	Ran   CallOutcome

	Findings []schema.LintFinding // instead of Outcome, if the fault is a schema
}

// Faults runs every planted fault at every level that a wrapper judges at, those that
// only a comparison with meta shows, and those in schemas.
func Faults() []FaultResult {
	var results []FaultResult
	for _, level := range levels {
		for _, f := range faults.Calls() {
			results = append(results, runFault(f, level))
		}
	}
	for _, f := range faults.All() {
		switch {
		case f.Schema != "":
			results = append(results, lint(f))
		case !f.Code.OnCall():
			results = append(results, runOnMeta(f))
		}
	}
	return results
}

func runOnMeta(f faults.Planted) FaultResult {
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

func lint(f faults.Planted) FaultResult {
	r := FaultResult{Fault: f, Level: f.Code.Level()}
	op, err := schema.ParseDispatcher(f.Schema)
	healthy, twinErr := schema.ParseDispatcher(f.Healthy)
	if err := errors.Join(err, twinErr); err != nil {
		r.Wrong = err.Error()
		return r
	}
	r.Findings = schema.LintOp(op)
	switch twin := schema.LintOp(healthy); {
	case len(r.Findings) != 1:
		r.Wrong = fmt.Sprintf("reported %d times: %v", len(r.Findings), r.Findings)
	case subjectAt(op, r.Findings[0].Pos) != f.Subject:
		r.Wrong = fmt.Sprintf("reported on %q, not on %s", subjectAt(op, r.Findings[0].Pos), f.Subject)
	case len(twin) > 0:
		r.Wrong = fmt.Sprintf("a false positive on %s: %s", f.Healthy, twin[0].Message)
	}
	return r
}

func subjectAt(op *schema.Op, pos token.Position) string {
	for _, a := range op.Func.Args {
		if a.Pos == pos {
			return a.Name
		}
	}
	for i, r := range op.Func.Returns {
		switch {
		case r.Pos == pos && len(op.Func.Returns) == 1:
			return "result"
		case r.Pos == pos:
			return fmt.Sprint("result", i)
		}
	}
	return ""
}

func runFault(f faults.Planted, level asserts.Level) FaultResult {
	r := FaultResult{Fault: f, Level: level}
	wrapper, err := lookup(faulty.Wrappers, f.Op)
	if err != nil {
		r.Wrong = err.Error()
		return r
	}
	r.Ran = call(level, wrapper, f.Args())
	switch {
	case f.Code.Level() <= level:
		r.Wrong = wrong(f, r.Ran)
	case len(r.Ran.Violations) > 0:
		r.Wrong = "reported below its level, as " + titles(r.Ran.Violations)
	}
	return r
}

func wrong(f faults.Planted, ran CallOutcome) string {
	switch {
	case ran.Panic != nil:
		return fmt.Sprintf("the call panicked: %v", ran.Panic)
	case len(ran.Violations) == 0:
		return "not reported"
	case len(ran.Violations) > 1:
		return fmt.Sprintf("reported %d times, as %s: name the more specific check in after, in the row of the other one, "+
			"which then does not report the same", len(ran.Violations), titles(ran.Violations))
	}
	v := ran.Violations[0]
	got := fmt.Sprintf("%v on %s[%d] against %q", v.Code, v.Subject.Name, v.Subject.Element, v.Against.Name)
	if want := fmt.Sprintf("%v on %s[%d] against %q", f.Code, f.Subject, f.Element, f.Against); got != want {
		return fmt.Sprintf("reported as %s, not as %s", got, want)
	}
	return ""
}

func titles(vs []*asserts.Violation) string {
	return slicesx.Join(vs, "; ", (*asserts.Violation).Title)
}
