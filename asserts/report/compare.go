package report

import (
	"cmp"
	_ "embed"
	"html/template"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/internal/printable"
	"github.com/opassert/opassert/internal/slicesx"
)

// A Comparison holds the reports of one command on several engines, such as versions of a library,
// in their order.
type Comparison struct{ Reports []*Report }

// An engineChange is a difference between one engine and the next.
type engineChange struct {
	Kind    changeKind    `json:"kind"`
	From    string        `json:"from"` // the engines
	To      string        `json:"to"`
	Op      string        `json:"op"`
	Code    asserts.Code  `json:"code,omitempty"`    // of a finding
	Subject string        `json:"subject,omitempty"` // of a finding
	Saw     string        `json:"saw,omitempty"`     // on the engine that shows it
	Why     string        `json:"why,omitempty"`     // why it is unknown whether a finding is gone
	Repro   string        `json:"repro,omitempty"`   // on the engine that shows it
	Program *ReproProgram `json:"program,omitempty"`
	Schemas []string      `json:"schemas,omitempty"` // of both, if they differ
}

type changeKind string

const (
	findingNew    changeKind = "finding new"
	findingGone   changeKind = "finding gone"   // its check was made, and held
	findingUnseen changeKind = "finding unseen" // its check was not made, so it may still exist
	crashNew      changeKind = "crash new"
	crashGone     changeKind = "crash gone"
	opNew         changeKind = "op new"
	opGone        changeKind = "op gone"
)

var changeKinds = []changeKind{findingNew, findingGone, findingUnseen, crashNew, crashGone, opGone, opNew}

// Findings counts the findings and the crashes of all runs.
func (c *Comparison) Findings() int {
	n := 0
	for _, r := range c.Reports {
		n += r.Findings()
	}
	return n
}

// Changes returns the changes from each engine to the next, by kind and op.
func (c *Comparison) Changes() []engineChange {
	all := []engineChange{}
	for i := 1; i < len(c.Reports); i++ {
		all = append(all, changes(c.Reports[i-1], c.Reports[i])...)
	}
	return all
}

func changes(from, to *Report) []engineChange {
	old, now := byName(from.Ops), byName(to.Ops)
	all := append(from.only(now, opGone, findingGone, crashGone), to.only(old, opNew, findingNew, crashNew)...)
	for i := range all {
		all[i].From, all[i].To = from.Engine, to.Engine
		if a, b := old[all[i].Op], now[all[i].Op]; a != nil && b != nil && a.Schema != b.Schema {
			all[i].Schemas = []string{a.Schema, b.Schema}
		}
	}
	slices.SortStableFunc(all, func(a, b engineChange) int {
		return cmp.Or(cmp.Compare(slices.Index(changeKinds, a.Kind), slices.Index(changeKinds, b.Kind)), cmp.Compare(a.Op, b.Op))
	})
	return all
}

// only returns the changes from another report with the ops others. For an op that is gone, that is
// the only change.
func (r *Report) only(others map[string]*OpResult, op, finding, crash changeKind) (all []engineChange) {
	for _, own := range r.Ops {
		other := others[own.Op]
		if other == nil {
			if all = append(all, engineChange{Kind: op, Op: own.Op}); op == opGone {
				continue
			}
			other = new(OpResult)
		}
		for _, f := range own.Findings {
			if other.shows(f) {
				continue
			}
			c := r.change(finding, own, f)
			if finding == findingGone {
				c.Why = other.unjudged(f.Violation.Code)
			}
			if c.Why != "" {
				c.Kind = findingUnseen
			}
			all = append(all, c)
		}
		if c := own.crash(); c != nil && other.crash() == nil {
			all = append(all, r.crashChange(crash, own, c))
		}
	}
	return all
}

func (r *Report) change(kind changeKind, op *OpResult, f *Finding) engineChange {
	return engineChange{
		Kind: kind, Op: op.Op, Code: f.Violation.Code, Subject: f.Violation.Subject.String(),
		Saw: f.Violation.Saw, Repro: r.violation(op, f).Repro, Program: f.Program,
	}
}

func (r *Report) crashChange(kind changeKind, op *OpResult, c *Crash) engineChange {
	return engineChange{Kind: kind, Op: op.Op, Saw: c.Cause, Repro: r.repro(op, *c), Program: c.Program}
}

// crash returns the first crash that counts against the op, or nil.
func (r *OpResult) crash() *Crash {
	if i := slices.IndexFunc(r.Crashes, func(c Crash) bool { return c.Counts() }); i >= 0 {
		return &r.Crashes[i]
	}
	return nil
}

// WriteText writes the numbers of each run, the changes between them, and the versions with each
// finding. New ops are only counted.
func (c *Comparison) WriteText(w io.Writer) error {
	t := textWriter{w: w}
	for _, r := range c.Reports {
		sum := r.Totals()
		t.line("%s: %d findings and %d crashes in %d calls; %d of %d ops ran", r.head(), sum.Findings, sum.Crashes, sum.Ran, sum.Reached, sum.Ops)
	}
	for i := 1; i < len(c.Reports); i++ {
		from, to := c.Reports[i-1], c.Reports[i]
		t.line("\nfrom %s to %s:", from.Engine, to.Engine)
		part := changes(from, to)
		if len(part) == 0 {
			t.line("  nothing changed")
		}
		added := 0
		for _, change := range part {
			if change.Kind == opNew {
				added++
				continue
			}
			change.write(&t)
		}
		if added > 0 {
			t.line("  %d ops are new", added)
		}
	}
	if all := c.findings(); len(all) > 0 {
		t.line("\nfindings, and the versions that have them:")
		for _, f := range all {
			t.line("  %s  %s  %s: %s", f.Code, f.Op, f.Subject, c.words(f.Stands))
			if f.Program != nil {
				t.line("    program %v", f.Program)
			}
		}
	}
	return t.err
}

func (c *engineChange) write(t *textWriter) {
	words := []string{"  " + string(c.Kind)}
	if c.Code != 0 {
		words = append(words, c.Code.String())
	}
	words = append(words, c.Op)
	if c.Subject != "" {
		words = append(words, c.Subject)
	}
	t.line("%s", strings.Join(words, "  "))
	type line struct{ label, text string }
	lines := []line{{"saw", c.Saw}, {"unseen", c.Why}, {"repro", c.Repro}}
	if c.Program != nil {
		lines = append(lines, line{"program", c.Program.String()})
	}
	for i, schema := range c.Schemas {
		lines = append(lines, line{[]string{"schema", "now"}[i], schema})
	}
	for _, line := range lines {
		if line.text != "" {
			t.line("    %-7s %s", line.label, line.text)
		}
	}
}

// A comparedRun is one run in the JSON form of a comparison.
type comparedRun struct {
	Engine   string `json:"engine"`
	Level    string `json:"level"`
	Through  string `json:"through,omitempty"`
	Seed     uint64 `json:"seed"`
	Ops      int    `json:"ops"`
	Ran      int    `json:"ran"` // ops that ran at least once
	Cases    int    `json:"cases"`
	Findings int    `json:"findings"`
	Crashes  int    `json:"crashes"`
}

func (c *Comparison) runs() []comparedRun {
	var runs []comparedRun
	for _, r := range c.Reports {
		sum := r.Totals()
		runs = append(runs, comparedRun{r.Engine, r.Level.String(), r.Through, r.Seed, sum.Ops, sum.Reached, sum.Cases, sum.Findings, sum.Crashes})
	}
	return runs
}

// WriteJSON writes the numbers of each run, the findings with the versions that have them, and all
// changes as one object.
func (c *Comparison) WriteJSON(w io.Writer) error {
	return printable.JSON(w, struct {
		Runs     []comparedRun     `json:"runs"`
		Findings []comparedFinding `json:"findings"`
		Changes  []engineChange    `json:"changes"`
	}{c.runs(), c.findings(), c.Changes()}, " ")
}

//go:embed compare.html
var comparePage string

var compareTemplate = sync.OnceValue(func() *template.Template { return template.Must(template.New("compare").Parse(comparePage)) })

// WriteHTML writes the comparison as one self-contained page.
func (c *Comparison) WriteHTML(w io.Writer) error {
	return compareTemplate().Execute(w, struct {
		Runs    []comparedRun
		Rows    []comparedFinding
		Changes []engineChange
	}{c.runs(), c.findings(), c.Changes()})
}

// A comparedFinding is one finding, with its status on each engine of a comparison, in their order.
type comparedFinding struct {
	Code    asserts.Code    `json:"code"`
	Op      string          `json:"op"`
	Subject string          `json:"subject"`
	Stands  []versionStatus `json:"stands"`
	Program *ReproProgram   `json:"program,omitempty"` // of the last engine that has it
}

// findings returns every finding of the reports, by op.
func (c *Comparison) findings() []comparedFinding {
	all := []comparedFinding{}
	ops := slicesx.Map(c.Reports, func(r *Report) map[string]*OpResult { return byName(r.Ops) })
	for i, r := range c.Reports {
		for _, op := range r.Ops {
			for _, f := range op.Findings {
				found := func(ops map[string]*OpResult) bool { return ops[op.Op].status(f) == statusFound }
				if slices.ContainsFunc(ops[:i], found) {
					continue
				}
				one := comparedFinding{Code: f.Violation.Code, Op: op.Op, Subject: f.Violation.Subject.String()}
				for _, on := range ops {
					s := on[op.Op].status(f)
					if one.Stands = append(one.Stands, s); s == statusFound {
						one.Program = on[op.Op].same(f).Program
					}
				}
				all = append(all, one)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b comparedFinding) int {
		return cmp.Or(cmp.Compare(a.Op, b.Op), cmp.Compare(a.Code, b.Code), cmp.Compare(a.Subject, b.Subject))
	})
	return all
}

// words returns the engines by status, as in "found in lib 2, lib 3; holds in lib 1".
func (c *Comparison) words(of []versionStatus) string {
	var parts []string
	for _, status := range []versionStatus{statusFound, statusHolds, statusUnjudged, statusNoOp} {
		var engines []string
		for i, s := range of {
			if s == status {
				engines = append(engines, c.Reports[i].Engine)
			}
		}
		if len(engines) > 0 {
			parts = append(parts, string(status)+" in "+strings.Join(engines, ", "))
		}
	}
	return strings.Join(parts, "; ")
}
