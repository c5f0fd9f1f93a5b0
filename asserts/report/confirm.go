package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/opassert/opassert/internal/slicesx"
)

// A versionStatus is the status of a finding with one engine.
type versionStatus string

const (
	statusFound    versionStatus = "found"
	statusHolds    versionStatus = "holds"
	statusUnjudged versionStatus = "not judged"
	statusNoOp     versionStatus = "no op"
)

// Untried returns for each engine the calls with which others have findings that it does not have,
// by op: cases of ops that it has.
func (c *Comparison) Untried() []map[string][]string {
	return slicesx.Map(c.Reports, func(r *Report) map[string][]string { return c.untried(byName(r.Ops)) })
}

func (c *Comparison) untried(own map[string]*OpResult) map[string][]string {
	all := make(map[string][]string)
	for _, r := range c.Reports {
		for _, op := range r.Ops {
			for _, f := range op.Findings {
				s := own[op.Op].status(f)
				if (s == statusHolds || s == statusUnjudged) && f.Recipe != "" && !slices.Contains(all[op.Op], f.Recipe) {
					all[op.Op] = append(all[op.Op], f.Recipe)
				}
			}
		}
	}
	return all
}

// Await makes ops count as not judged, except for their findings, until a further run with calls of
// them is adopted.
func (r *Report) Await(calls map[string][]string) {
	for _, op := range r.Ops {
		if len(calls[op.Op]) > 0 {
			op.open = "the calls that show it elsewhere were not made"
		}
	}
}

// Adopt adds to a report the findings of a further run that it lacks, and returns a report of only
// these. These calls have no case number.
func (r *Report) Adopt(further *Report, calls map[string][]string) *Report {
	added := *further
	added.Ops = nil
	own := byName(r.Ops)
	for _, op := range further.Ops {
		mine := own[op.Op]
		if mine == nil {
			continue
		}
		mine.open = op.undecided(calls)
		fresh := *op
		fresh.Crashes, fresh.Findings = nil, slices.DeleteFunc(slices.Clone(op.Findings), mine.shows)
		for _, f := range fresh.Findings {
			f.Violation.Repro = ""
		}
		mine.Findings = append(mine.Findings, fresh.Findings...)
		added.Ops = append(added.Ops, &fresh)
	}
	return &added
}

// undecided returns why a run whose first cases are calls does not decide whether an op has the
// findings that these show elsewhere, or "": one of them did not end, or was not made unchanged and
// another case was killed or took too long.
func (r *OpResult) undecided(calls map[string][]string) string {
	base, _, _ := strings.Cut(r.Op, ".")
	first := len(calls[r.Op])
	if r.Op != base { // the name of all overloads in a file of cases
		first += len(calls[base])
	}
	matters := func(number int) bool { return number < first || len(r.Unfit) > 0 }
	ended := func(c Crash) bool {
		return c.Alone && (c.Case < first || matters(c.Case) && (c.Cause == Hang || c.Cause == killed))
	}
	switch i := slices.IndexFunc(r.Crashes, ended); {
	case r.Fault != "":
		return r.Fault
	case i >= 0:
		return fmt.Sprintf("case %d ended in %s", r.Crashes[i].Case, r.Crashes[i].Cause)
	case r.Left != "":
		return "the op was left " + r.Left
	case slices.ContainsFunc(r.Unended, matters):
		return "a case was not finished"
	}
	return ""
}

// status returns whether an op, which may be nil, has a finding.
func (r *OpResult) status(f *Finding) versionStatus {
	switch {
	case r == nil:
		return statusNoOp
	case r.shows(f):
		return statusFound
	case r.unjudged(f.Violation.Code) != "":
		return statusUnjudged
	}
	return statusHolds
}
