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
	if all := histories(c.Reports); len(all) > 0 {
		t.line("\nfindings, and the versions that have them:")
		for _, h := range all {
			t.line("  %s  %s  %s: %s", h.Code, h.Op, h.Subject, h.words())
			if h.Program != nil {
				t.line("    program %v", h.Program)
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
		Runs     []comparedRun  `json:"runs"`
		Findings []history      `json:"findings"`
		Changes  []engineChange `json:"changes"`
	}{c.runs(), histories(c.Reports), c.Changes()}, " ")
}

//go:embed compare.html
var comparePage string

var compareTemplate = sync.OnceValue(func() *template.Template { return template.Must(template.New("compare").Parse(comparePage)) })

// WriteHTML writes the comparison as one self-contained page.
func (c *Comparison) WriteHTML(w io.Writer) error {
	return compareTemplate().Execute(w, struct {
		Runs    []comparedRun
		Rows    []history
		Changes []engineChange
	}{c.runs(), histories(c.Reports), c.Changes()})
}

// WriteTable writes two tables in Markdown: the engines with the numbers of findings that appeared
// and were mended in each, and the status of each finding with each engine.
func (c *Comparison) WriteTable(w io.Writer) error {
	t := textWriter{w: w}
	all := histories(c.Reports)
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
		stands := slicesx.Join(h.Stands, " | ", func(s standing) string { return string(s) })
		t.line("| %v | %s | %s | %s |", h.Code, printable.Code(h.Op), printable.Cell(h.Subject), stands)
	}
	return t.err
}

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
				s := own[op.Op].stands(f)
				if (s == standsHolds || s == standsUnjudged) && f.Recipe != "" && !slices.Contains(all[op.Op], f.Recipe) {
					all[op.Op] = append(all[op.Op], f.Recipe)
				}
			}
		}
	}
	return all
}
