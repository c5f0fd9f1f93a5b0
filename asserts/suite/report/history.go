package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/internal/printable"
)

// A history is how one finding stands with each engine of a comparison, in their
// order.
type history struct {
	Code    asserts.Code `json:"code"`
	Op      string       `json:"op"`
	Subject string       `json:"subject"`
	Stands  []standing   `json:"stands"`            // with each engine
	Since   string       `json:"since"`             // the first engine that has it
	Without string       `json:"without,omitempty"` // the last one before that whose check holds
	Mended  string       `json:"mended,omitempty"`  // the first one after all that have it whose check holds
	Program *Program     `json:"program,omitempty"` // of the last one that has it
}

// A standing reports whether an engine has a finding.
type standing string

const (
	standsFound    standing = "found"
	standsHolds    standing = "holds"
	standsUnjudged standing = "not judged"
	standsNoOp     standing = "no op"
)

// histories returns the history of every finding of any engine, by op.
func (c *Comparison) histories() []history {
	all := []history{}
	var ops []map[string]*OpResult
	for _, r := range c.Reports {
		ops = append(ops, byName(r.Ops))
	}
	for i, r := range c.Reports {
		for _, op := range r.Ops {
			for _, f := range op.Findings {
				earlier := func(ops map[string]*OpResult) bool { return ops[op.Op].stands(f) == standsFound }
				if !slices.ContainsFunc(ops[:i], earlier) {
					all = append(all, c.history(ops, op.Op, f))
				}
			}
		}
	}
	slices.SortStableFunc(all, func(a, b history) int {
		return cmp.Or(cmp.Compare(a.Op, b.Op), cmp.Compare(a.Code, b.Code), cmp.Compare(a.Subject, b.Subject))
	})
	return all
}

func (c *Comparison) history(ops []map[string]*OpResult, op string, f *Finding) history {
	h := history{Code: f.Violation.Code, Op: op, Subject: f.Violation.Subject.String()}
	for i, on := range ops {
		s := on[op].stands(f)
		h.Stands = append(h.Stands, s)
		switch {
		case s == standsFound:
			h.Since, h.Mended, h.Program = cmp.Or(h.Since, c.Reports[i].Engine), "", on[op].same(f).Program
		case s == standsHolds && h.Since == "":
			h.Without = c.Reports[i].Engine
		case s == standsHolds:
			h.Mended = cmp.Or(h.Mended, c.Reports[i].Engine)
		}
	}
	return h
}

// words returns the first engine that has a finding, the last one that has not, and
// the first one that has it no more.
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

// WriteTable writes two tables in Markdown: the engines with how many findings appeared
// and were mended in each, and how each finding stands with each of them.
func (c *Comparison) WriteTable(w io.Writer) error {
	t := textWriter{w: w}
	all := c.histories()
	count := func(is func(history) bool) (n int) {
		for _, h := range all {
			if is(h) {
				n++
			}
		}
		return n
	}
	t.line("| engine | ops that ran | cases | findings | appeared | mended | crashes |")
	t.line("|---|---|---|---|---|---|---|")
	engines := make([]string, len(c.Reports))
	for i, r := range c.runs() {
		engines[i] = printable.Cell(r.Engine)
		appeared := count(func(h history) bool { return h.Since == r.Engine && h.Without != "" })
		mended := count(func(h history) bool { return h.Mended == r.Engine })
		t.line("| %s | %d of %d | %d | %d | %d | %d | %d |", engines[i], r.Ran, r.Ops, r.Cases, r.Findings, appeared, mended, r.Crashes)
	}
	t.line("\n| check | op | about | %s |", strings.Join(engines, " | "))
	t.line("|---|---|---|%s", strings.Repeat("---|", len(engines)))
	for _, h := range all {
		stands := make([]string, len(h.Stands))
		for i, s := range h.Stands {
			stands[i] = string(s)
		}
		t.line("| %v | %s | %s | %s |", h.Code, printable.Code(h.Op), printable.Cell(h.Subject), strings.Join(stands, " | "))
	}
	return t.err
}

// Untried returns for each engine the calls with which others have findings that it has
// not, by op: cases of ops that it has.
func (c *Comparison) Untried() []map[string][]string {
	var all []map[string][]string
	for _, r := range c.Reports {
		all = append(all, c.untried(byName(r.Ops)))
	}
	return all
}

func (c *Comparison) untried(own map[string]*OpResult) map[string][]string {
	all := make(map[string][]string)
	for _, r := range c.Reports {
		for _, op := range r.Ops {
			for _, f := range op.Findings {
				s := own[op.Op].stands(f)
				if (s == standsHolds || s == standsUnjudged) && f.Recipe != "" && !slices.Contains(all[op.Op], f.Recipe) {
					all[op.Op] = append(all[op.Op], f.Recipe)
				}
			}
		}
	}
	return all
}

// Await has ops count as not judged, their findings aside, until a further run with calls
// of them is adopted.
func (r *Report) Await(calls map[string][]string) {
	for _, op := range r.Ops {
		if len(calls[op.Op]) > 0 {
			op.open = "the calls that show it elsewhere were not made"
		}
	}
}

// Adopt adds to a report what a further run with calls found and it did not, and
// returns a report of that alone. No number of a case makes these calls.
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

// undecided returns why a run whose first cases are calls does not decide whether an op
// shows what they show elsewhere, or "": one of them did not end, or was not made as it
// is written and any other case was killed or took too long.
func (r *OpResult) undecided(calls map[string][]string) string {
	base, _, _ := strings.Cut(r.Op, ".")
	first := len(calls[r.Op])
	if r.Op != base { // which names all overloads in a file of cases
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
