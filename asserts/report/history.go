package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/internal/slicesx"
)

// A history is the status of one finding with each engine of a comparison, in their order.
type history struct {
	Code    asserts.Code  `json:"code"`
	Op      string        `json:"op"`
	Subject string        `json:"subject"`
	Stands  []standing    `json:"stands"`            // with each engine
	Since   string        `json:"since"`             // the first engine that has it
	Without string        `json:"without,omitempty"` // the last one before that whose check holds
	Mended  string        `json:"mended,omitempty"`  // the first one after all that have it whose check holds
	Program *ReproProgram `json:"program,omitempty"` // of the last one that has it
}

// A standing reports whether an engine has a finding.
type standing string

const (
	standsFound    standing = "found"
	standsHolds    standing = "holds"
	standsUnjudged standing = "not judged"
	standsNoOp     standing = "no op"
)

// histories returns the history of every finding of the reports, by op.
func histories(reports []*Report) []history {
	all := []history{}
	ops := slicesx.Map(reports, func(r *Report) map[string]*OpResult { return byName(r.Ops) })
	for i, r := range reports {
		for _, op := range r.Ops {
			for _, f := range op.Findings {
				earlier := func(ops map[string]*OpResult) bool { return ops[op.Op].stands(f) == standsFound }
				if !slices.ContainsFunc(ops[:i], earlier) {
					all = append(all, newHistory(reports, ops, op.Op, f))
				}
			}
		}
	}
	slices.SortStableFunc(all, func(a, b history) int {
		return cmp.Or(cmp.Compare(a.Op, b.Op), cmp.Compare(a.Code, b.Code), cmp.Compare(a.Subject, b.Subject))
	})
	return all
}

func newHistory(reports []*Report, ops []map[string]*OpResult, op string, f *Finding) history {
	h := history{Code: f.Violation.Code, Op: op, Subject: f.Violation.Subject.String()}
	for i, on := range ops {
		s := on[op].stands(f)
		h.Stands = append(h.Stands, s)
		switch {
		case s == standsFound:
			h.Since, h.Mended, h.Program = cmp.Or(h.Since, reports[i].Engine), "", on[op].same(f).Program
		case s == standsHolds && h.Since == "":
			h.Without = reports[i].Engine
		case s == standsHolds:
			h.Mended = cmp.Or(h.Mended, reports[i].Engine)
		}
	}
	return h
}

// Programs calls a function with each program of a finding, its engine, the engines that have the
// finding, and those whose check holds.
func (c *Comparison) Programs(with func(p *ReproProgram, engine string, found, holds []string) error) error {
	ops := slicesx.Map(c.Reports, func(r *Report) map[string]*OpResult { return byName(r.Ops) })
	for _, r := range c.Reports {
		for _, op := range r.Ops {
			for _, f := range op.Findings {
				if f.Program.path() == "" {
					continue
				}
				engines := make(map[standing][]string)
				for i, on := range ops {
					s := on[op.Op].stands(f)
					engines[s] = append(engines[s], c.Reports[i].Engine)
				}
				if err := with(f.Program, r.Engine, engines[standsFound], engines[standsHolds]); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// words returns the first engine that has a finding, the last one before that does not, and the
// first one that no longer has it.
func (h *history) words() string {
	words := "in " + h.Since + ", the first one that has the op"
	switch at := slices.Index(h.Stands, standsFound); {
	case h.Without != "":
		words = "since " + h.Since + ", not in " + h.Without
	case at == 0:
		words = "in " + h.Since + ", the first one compared"
	case h.Stands[at-1] == standsUnjudged:
		words = "in " + h.Since + "; not judged before"
	}
	if h.Mended != "" {
		words += "; mended in " + h.Mended
	}
	return words
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

// stands reports whether an op, which may be nil, has a finding.
func (r *OpResult) stands(f *Finding) standing {
	switch {
	case r == nil:
		return standsNoOp
	case r.shows(f):
		return standsFound
	case r.unjudged(f.Violation.Code) != "":
		return standsUnjudged
	}
	return standsHolds
}
