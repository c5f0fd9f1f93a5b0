// Package plan decides which checks an op gets. A plan is plain data: the emitter prints it, the
// libtorch engine runs it, and `opassert plan` shows it.
package plan

import (
	"cmp"
	"fmt"
	"go/token"
	"path/filepath"
	"slices"
	"strings"

	"github.com/opassert/opassert/allowlist"
	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/internal/slicesx"
	"github.com/opassert/opassert/internal/yamlfile"
	"github.com/opassert/opassert/schema"
)

// A Plan is the checks of one op, in the order of its arguments and then of its returns.
type Plan struct {
	Op     *schema.Op
	Checks []PlannedCheck

	loose   []PlannedCheck // exceptions of symptoms, and of checks that no schema calls for and engines find
	data    asserts.Op     // without checks
	derived bool           // package asserts plans the same checks
}

// A PlannedCheck is one planned check.
type PlannedCheck struct {
	asserts.Check
	List   string // schema.Type.ListKind of the subject: none, tensorlist, opttensorlist or opttensor
	Waived *allowlist.Entry
	Noted  *allowlist.Entry // makes its violations notes

	symptom asserts.Symptom // that alone is waived or noted; "": each
}

// A Planner makes the plans of one preset under some allowlists.
type Planner struct {
	preset preset
	allow  []*allowlist.List
	at     allowlist.Where
}

// A preset is a set of rules that select the checks.
type preset struct {
	name       string
	allow      string                                        // the allowlist preset that always applies
	dropWaived bool                                          // a waived check is removed rather than marked
	checks     func(*schema.Op, *asserts.Op) []asserts.Check // nil: those that the schema calls for
}

// Presets returns the names of presets: "full", every check of the design, and for each known
// version of PyTorch the checks that its code generator emits.
func Presets() []string { return slicesx.Map(presets, func(p preset) string { return p.name }) }

var presets = []preset{
	{name: "full", allow: "opassert"},
	{name: "pytorch-1.13", allow: "pytorch-1.13", dropWaived: true, checks: pytorch(views113)},
	{name: "pytorch-2.6", allow: "pytorch-2.6", dropWaived: true, checks: pytorch(views26)},
	{name: "pytorch-2.15", allow: "pytorch-2.6", dropWaived: true, checks: pytorch(views26)}, // no change since
}

// NewPlanner makes a planner for a preset. The lists apply in addition to the preset's own; at is
// where the ops will run.
func NewPlanner(name string, lists []*allowlist.List, at allowlist.Where) (*Planner, error) {
	i := slices.IndexFunc(presets, func(p preset) bool { return p.name == name })
	if i < 0 {
		return nil, fmt.Errorf("unknown preset %q; the presets are %s", name, strings.Join(Presets(), ", "))
	}
	own, err := allowlist.Preset(presets[i].allow)
	return &Planner{presets[i], append([]*allowlist.List{own}, lists...), at}, err
}

// Allowing returns the planner with one more exception, from the comment of an op's kernel.
func (p *Planner) Allowing(op *schema.Op, check, reason string, at token.Position) (*Planner, error) {
	code, symptom, err := ParseCheck(check)
	switch {
	case err != nil:
		return nil, err
	case reason == "":
		return nil, fmt.Errorf("%s has no reason", symptom.Of(code))
	}
	e := &allowlist.Entry{Pos: at, Op: op.Name(), Reason: reason}
	if symptom == "" {
		e.Checks = asserts.CodesOf(code)
	} else {
		e.Symptoms = []asserts.Excuse{{Code: code, Symptom: symptom}}
	}
	list := &allowlist.List{Path: at.Filename, Entries: []*allowlist.Entry{e}}
	return &Planner{p.preset, append(slices.Clip(p.allow), list), p.at}, nil
}

// ParseCheck parses a check's code or name, or a symptom. For another text, the error suggests one, or one of the
// others.
func ParseCheck(text string, others ...string) (asserts.Code, asserts.Symptom, error) {
	code, symptom, err := asserts.ParseSymptom(text)
	if code == 0 {
		var names []string
		for c := range asserts.AllCodes.All() {
			names = append(names, c.String(), c.Name())
		}
		err = fmt.Errorf("unknown check %q%s", text, yamlfile.Suggest(text, append(names, others...)))
	}
	return code, symptom, err
}

// Plan makes the plan of one op.
func (p *Planner) Plan(op *schema.Op) Plan {
	plan := Plan{Op: op, data: newOp(op), derived: p.preset.checks == nil}
	lines := plan.data.Calls()
	if p.preset.checks != nil {
		lines = p.preset.checks(op, &plan.data)
	}
	exceptions := p.exceptions(op)
	plan.Checks = make([]PlannedCheck, 0, len(lines))
	for _, line := range lines {
		c := PlannedCheck{Check: line, Waived: p.excuse(exceptions, line.Code, false)}
		if c.Waived == nil {
			c.Noted = p.excuse(exceptions, line.Code, true)
		}
		if c.Waived != nil && p.preset.dropWaived {
			continue
		}
		c.List = listKind(plan.data.Subject(line.On))
		plan.Checks = append(plan.Checks, c)
	}
	plan.loose = p.loose(op, exceptions)
	return plan
}

// loose returns the exceptions of symptoms, and of checks that schemas do not call for. Of an op that decomposes
// that is OA007, too.
func (p *Planner) loose(op *schema.Op, exceptions []*allowlist.Entry) (all []PlannedCheck) {
	for code := range asserts.AllCodes.All() {
		if code.About() == 0 || code == asserts.UndeclaredAlias && op.IsComposite() {
			waived, noted := p.excuse(exceptions, code, false), p.excuse(exceptions, code, true)
			all = append(all, PlannedCheck{Check: asserts.Check{Code: code}, Waived: waived, Noted: noted})
		}
	}
	for _, e := range exceptions {
		for _, s := range e.Symptoms {
			c := PlannedCheck{Check: asserts.Check{Code: s.Code}, symptom: s.Symptom, Waived: e}
			if e.Note {
				c.Waived, c.Noted = nil, e
			}
			if e.Applies(p.at) {
				all = append(all, c)
			}
		}
	}
	return all
}

func (p *Planner) exceptions(op *schema.Op) []*allowlist.Entry {
	var entries []*allowlist.Entry
	for _, list := range p.allow {
		entries = append(entries, list.About(op)...)
	}
	return entries
}

// WaivedCrash returns the allowlist entry that allows an op to crash with the cause, or nil.
func (p *Planner) WaivedCrash(op *schema.Op, cause string) *allowlist.Entry {
	for _, e := range p.exceptions(op) {
		if e.ExcusesCrash(cause, p.at) {
			return e
		}
	}
	return nil
}

func (p *Planner) excuse(exceptions []*allowlist.Entry, code asserts.Code, note bool) *allowlist.Entry {
	for _, e := range exceptions {
		if e.Note == note && e.Excuses(code, p.at) {
			return e
		}
	}
	return nil
}

// Subject returns the subject of a reference, nil for none.
func (p Plan) Subject(r asserts.Ref) *asserts.Subject { return p.data.Subject(r) }

// WithoutResults returns the plan for a kernel that does not return the arguments that it writes,
// although its op does. No check compares an argument with a result.
func (p Plan) WithoutResults() Plan {
	p.data.Results = nil
	p.Checks = slices.DeleteFunc(slices.Clone(p.Checks), func(c PlannedCheck) bool { return c.On < 0 })
	return p
}

// QualifiedName returns the op's name with its namespace: "aten::add.Tensor".
func (p Plan) QualifiedName() string { return p.data.Name }

// Asserts returns the op for the run time, with the checks up to the level, including waived ones,
// and which are waived.
func (p Plan) Asserts(level asserts.Level) asserts.Op {
	op := p.data
	op.Checks = []asserts.Check{}
	for _, c := range p.Checks {
		if c.Code.Level() <= level {
			op.Checks = append(op.Checks, c.Check)
		}
	}
	for _, w := range p.Waivers() {
		if w.Symptom == "" {
			op.Waived = append(op.Waived, w.Code)
		}
	}
	op.Notes = p.excuses(func(c PlannedCheck) *allowlist.Entry { return c.Noted })
	return op
}

// Table returns the op for generated code, with the checks of a wrapper: Checks is nil if package
// asserts plans the same.
func (p Plan) Table() asserts.Op {
	op := p.Asserts(asserts.Content)
	if file := p.Op.Pos.Filename; file != "" {
		op.Declared = filepath.Base(file)
	}
	op.Waived = slices.DeleteFunc(op.Waived, func(c asserts.Code) bool { return !c.OnCall() })
	elsewhere := func(e asserts.Excuse) bool { return !e.Code.OnCall() }
	op.Notes = slices.DeleteFunc(op.Notes, elsewhere)
	op.Excused = slices.DeleteFunc(p.Waivers(), func(e asserts.Excuse) bool { return e.Symptom == "" || elsewhere(e) })
	if p.derived {
		op.Checks = nil
	}
	return op
}

// Codes returns the checks that a wrapper makes.
func (p Plan) Codes() asserts.Codes {
	var codes asserts.Codes
	for _, c := range p.Checks {
		if c.Waived == nil && c.Code.OnCall() && !c.Code.InRuns() {
			codes |= asserts.CodesOf(c.Code)
		}
	}
	return codes
}

// Waivers returns the waived checks and symptoms, in order of their codes.
func (p Plan) Waivers() []asserts.Excuse {
	return p.excuses(func(c PlannedCheck) *allowlist.Entry { return c.Waived })
}

func (p Plan) excuses(by func(PlannedCheck) *allowlist.Entry) []asserts.Excuse {
	var excuses []asserts.Excuse
	for _, c := range slices.Concat(p.Checks, p.loose) {
		covers := func(x asserts.Excuse) bool { return x.Covers(c.Code, c.symptom) }
		if e := by(c); e != nil && !slices.ContainsFunc(excuses, covers) {
			excuses = append(excuses, asserts.Excuse{Code: c.Code, Symptom: c.symptom, Reason: e.Reason})
		}
	}
	slices.SortStableFunc(excuses, func(a, b asserts.Excuse) int { return cmp.Compare(a.Code, b.Code) })
	return excuses
}
