package suite

import (
	"slices"

	"github.com/opassert/opassert/allowlist"
	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/gen/plan"
)

// A target is an op made ready to be run.
type target struct {
	operator Operator
	gen      *generator
	judged   *asserts.Op // without what is waived
	waived   *asserts.Op // with it; nil if nothing is
	entries  map[asserts.Check]*allowlist.Entry
}

func newTarget(e Engine, operator Operator, planner *plan.Planner, book *recipeBook, level asserts.Level) *target {
	p := planner.Plan(operator.Schema)
	t := &target{operator: operator, gen: newGenerator(operator.Schema, book), entries: make(map[asserts.Check]*allowlist.Entry)}
	judged := p.Asserts(level)
	judged.Checks = slices.DeleteFunc(judged.Checks, operator.unseen)
	all := judged
	all.Checks = slices.Clone(judged.Checks)
	for _, c := range p.Checks {
		if c.Waived != nil && c.Code.Level() <= level {
			t.entries[c.Check] = c.Waived
			all.Checks = append(all.Checks, c.Check)
		}
	}
	t.judged = e.Subjects(&judged)
	if len(t.entries) > 0 {
		t.waived = e.Subjects(&all)
	}
	return t
}

// unseen tells whether a check is one that the engine cannot show broken.
func (o Operator) unseen(c asserts.Check) bool {
	return slices.ContainsFunc(o.Unseen, func(u Unseen) bool { return u.Code == c.Code && u.On == c.On })
}

// entry gives the allowlist entry that excuses a violation, or nil.
func (t *target) entry(v *asserts.Violation) *allowlist.Entry {
	for check, e := range t.entries {
		if check.Code == v.Code && check.On == v.Subject.Name {
			return e
		}
	}
	return nil
}
