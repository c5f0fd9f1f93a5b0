package cli

import (
	"flag"
	"fmt"
	"time"

	"github.com/opassert/opassert/gen"
	"github.com/opassert/opassert/gen/plan"
	"github.com/opassert/opassert/schema"
)

// A plannedOp is an op in the form of plan -json.
type plannedOp struct {
	Op     string         `json:"op"`
	Checks []plannedCheck `json:"checks"`
}

type plannedCheck struct {
	Code    string  `json:"code"`
	Check   string  `json:"check"`
	On      string  `json:"on"`
	List    string  `json:"list"`
	Against string  `json:"against,omitempty"`
	Waived  *waived `json:"waived,omitempty"`
	Note    *waived `json:"note,omitempty"`
}

type waived struct {
	Reason string `json:"reason"`
}

// planFlags are the flags of every command that makes plans.
type planFlags struct {
	schemaFlags
	preset *string
	allow  repeated
	on     string // the device of the tensors, "" where it is not known
}

func newPlanFlags(f *flag.FlagSet) *planFlags {
	p := &planFlags{schemaFlags: newSchemaFlags(f)}
	p.preset = f.String("preset", "full", "")
	f.Var(&p.allow, "allow", "")
	return p
}

func (p *planFlags) options(inv *invocation) gen.Options {
	c := p.config(inv)
	return gen.Options{
		Schema: *p.schema, Tags: c.Tags, Preset: *p.preset, Version: c.Version, Allow: p.allow, Device: p.on,
		Today: time.Now(), Base: c.Base, Strict: c.Strict,
	}
}

// planner makes the planner, and warns of expired allowlist entries.
func (p *planFlags) planner(inv *invocation, ops []*schema.Op) (*plan.Planner, error) {
	planner, expired, err := gen.NewPlanner(p.options(inv), ops)
	inv.printExpired(expired)
	return planner, err
}

func runPlan(inv *invocation) error {
	flags := newPlanFlags(inv.flags)
	asJSON := newJSONFlag(inv.flags)
	if err := inv.parse(0, 0); err != nil {
		return err
	}
	ops, err := flags.load(inv)
	if err != nil {
		return err
	}
	planner, err := flags.planner(inv, ops)
	if err != nil {
		return err
	}
	planned := make([]plannedOp, len(ops))
	for i, op := range ops {
		planned[i] = planOp(planner.Plan(op))
	}
	if *asJSON {
		return inv.json(planned)
	}
	for _, op := range planned {
		inv.line("%s", op.Op)
		for _, c := range op.Checks {
			inv.line("  %s", c)
		}
	}
	return nil
}

func planOp(p plan.Plan) plannedOp {
	op := plannedOp{Op: p.Op.Name(), Checks: make([]plannedCheck, 0, len(p.Checks))}
	for _, c := range p.Checks {
		check := plannedCheck{Code: c.Code.String(), Check: c.Code.Name(), On: p.Subject(c.On).Name, List: c.List}
		if against := p.Subject(c.Against); against != nil {
			check.Against = against.Name
		}
		if c.Waived != nil {
			check.Waived = &waived{c.Waived.Reason}
		}
		if c.Noted != nil {
			check.Note = &waived{c.Noted.Reason}
		}
		op.Checks = append(op.Checks, check)
	}
	return op
}

// String returns the check in one line: OA007 undeclared-alias result against self.
func (c plannedCheck) String() string {
	s := fmt.Sprintf("%s %-16s %s", c.Code, c.Check, c.On)
	if c.Against != "" {
		s += " against " + c.Against
	}
	if c.List != "none" {
		s += " (" + c.List + ")"
	}
	if c.Waived != nil {
		s += "  waived: " + c.Waived.Reason
	}
	if c.Note != nil {
		s += "  note: " + c.Note.Reason
	}
	return s
}
