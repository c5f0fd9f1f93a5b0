// Package plan decides which checks an op gets. A plan is plain data: the
// emitter writes it down, the libtorch engine runs it, and `opassert plan`
// shows it.
package plan

import (
	"github.com/opassert/opassert/allowlist"
	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/schema"
)

// A Plan is the checks of one op, in the order of its arguments and then of
// its returns.
type Plan struct {
	Op      *schema.Op
	Args    []asserts.Subject // the arguments that hold tensors
	Results []asserts.Subject // the returns that hold tensors
	Checks  []Check
}

// A Check is one planned check.
type Check struct {
	asserts.Check
	List   string // schema.Type.ListKind of the subject: none, tensorlist, opttensorlist or opttensor
	Waived *allowlist.Entry
}

// A Planner makes the plans of one preset under some allowlists.
type Planner struct {
	preset preset
	allow  []*allowlist.List
	at     allowlist.Where
}

// A preset is a set of rules for what is checked.
type preset struct {
	name       string
	allow      string // the allowlist preset that is always in force
	dropWaived bool   // a waived check is left out rather than marked
	checks     func(*subjects) []Check
}

// Presets gives the names that NewPlanner takes: "full", every check of the
// design, and for each version of PyTorch known here the checks that its code
// generator emits.
func Presets() []string {
	var names []string
	for _, p := range presets {
		names = append(names, p.name)
	}
	return names
}

var presets = []preset{
	{name: "full", allow: "opassert", checks: full},
	{name: "pytorch-1.13", allow: "pytorch-1.13", dropWaived: true, checks: pytorch(views113)},
	{name: "pytorch-2.6", allow: "pytorch-2.6", dropWaived: true, checks: pytorch(views26)},
}

// NewPlanner makes a planner for a preset. The lists apply besides the
// preset's own; at says where the ops will run.
func NewPlanner(name string, lists []*allowlist.List, at allowlist.Where) (*Planner, error) {
	for _, p := range presets {
		if p.name != name {
			continue
		}
		own, err := allowlist.Preset(p.allow)
		if err != nil {
			return nil, err
		}
		return &Planner{p, append([]*allowlist.List{own}, lists...), at}, nil
	}
	return nil, &UnknownPreset{name}
}

// Plan makes the plan of one op.
func (p *Planner) Plan(op *schema.Op) Plan {
	s := newSubjects(op)
	plan := Plan{Op: op, Args: s.args, Results: s.results}
	exceptions := p.exceptions(op)
	for _, c := range p.preset.checks(s) {
		c.Waived = p.excuse(exceptions, c.Code)
		if c.Waived != nil && p.preset.dropWaived {
			continue
		}
		plan.Checks = append(plan.Checks, c)
	}
	return plan
}

func (p *Planner) exceptions(op *schema.Op) []*allowlist.Entry {
	var entries []*allowlist.Entry
	for _, list := range p.allow {
		entries = append(entries, list.About(op.Func.Name)...)
	}
	return entries
}

func (p *Planner) excuse(exceptions []*allowlist.Entry, code asserts.Code) *allowlist.Entry {
	for _, e := range exceptions {
		if e.Excuses(code, p.at) {
			return e
		}
	}
	return nil
}

// Asserts gives the op as the run time takes it, with the checks up to the
// level that are not waived.
func (p Plan) Asserts(level asserts.Level) asserts.Op {
	op := asserts.Op{
		Name:    p.QualifiedName(),
		Schema:  p.Op.Func.String(),
		Args:    p.Args,
		Results: p.Results,
	}
	for _, c := range p.Checks {
		if c.Waived == nil && c.Code.Level() <= level {
			op.Checks = append(op.Checks, c.Check)
		}
	}
	return op
}

// QualifiedName is the op's name with its namespace: "aten::add.Tensor".
func (p Plan) QualifiedName() string {
	return p.Op.Namespace + "::" + p.Op.Func.Name.String()
}
