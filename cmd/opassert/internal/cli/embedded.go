package cli

import (
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite"
	"github.com/opassert/opassert/gen/gentest/selftest"
)

// embedded runs the embedded engine's kernels through their generated
// wrappers, on the sample calls that come with them. What it gives has the
// shape of a run on libtorch.
func (f *checkFlags) embedded() (*suite.Report, error) {
	level, err := parseLevel(*f.level)
	if err != nil {
		return nil, err
	}
	if level > asserts.Contents {
		return nil, usagef("the embedded engine is judged up to the level content")
	}
	begun := time.Now()
	report := &suite.Report{Engine: "embedded engine", Level: level, Command: "opassert check -engine c10"}
	before := asserts.Summarize()
	for _, r := range selftest.Samples(level, f.wants) {
		f.addSample(report, r)
	}
	if len(report.Ops) == 0 {
		return nil, fmt.Errorf("no op %v in the engine", f.ops)
	}
	countChecks(report.Ops[0], before, asserts.Summarize())
	report.Took = time.Since(begun)
	return report, nil
}

// addSample takes in one call; those of one op come one after the other.
func (f *checkFlags) addSample(report *suite.Report, r selftest.HealthyResult) {
	name := "aten::" + r.Sample.Op
	if n := len(report.Ops); n == 0 || report.Ops[n-1].Op != name {
		report.Ops = append(report.Ops, &suite.OpResult{Op: name, Below: true})
	}
	op := report.Ops[len(report.Ops)-1]
	number := op.Cases
	op.Cases++
	if *f.only >= 0 && *f.only != number {
		return
	}
	switch {
	case r.Ran.Panic != nil:
		op.Crashes = append(op.Crashes, suite.Crash{Case: number, Cause: fmt.Sprintf("panic: %v", r.Ran.Panic), Alone: true})
	case r.Ran.Err != nil:
		op.Error = r.Ran.Err.Error()
	default:
		op.Ran++
	}
	for _, v := range r.Ran.Violations {
		v.Repro = fmt.Sprintf("-op %s -case %d", name, number)
		op.Findings = append(op.Findings, &suite.Finding{Violation: v, Case: number, Call: r.Sample.Name, Device: "cpu", Times: 1})
	}
}

// wants says whether the patterns, if any, match an op of the embedded engine.
func (f *checkFlags) wants(op string) bool {
	for _, pattern := range f.ops {
		if ok, _ := path.Match(strings.TrimPrefix(pattern, "aten::"), op); ok {
			return true
		}
	}
	return len(f.ops) == 0
}

// countChecks books what was judged and skipped in between on one op: the
// totals are what is shown.
func countChecks(op *suite.OpResult, before, after asserts.Summary) {
	for c := range after.Checks {
		op.CPU.Judged[c] = int(after.Checks[c] - before.Checks[c])
	}
	earlier := map[asserts.Skip]int{}
	for _, s := range before.Skips {
		n := s.Count
		s.Count = 0
		earlier[s] = n
	}
	for _, s := range after.Skips {
		n := s.Count
		s.Count = 0
		if s.Count = n - earlier[s]; s.Count > 0 {
			op.CPU.Skips = append(op.CPU.Skips, s)
		}
	}
}
