package suite

import (
	"slices"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/gen/plan"
)

// A target is an op made ready to be run.
type target struct {
	operator Operator
	gen      *generator
	judged   *asserts.Op     // without what is waived
	waived   *asserts.Op     // with it; nil if nothing is
	excused  []asserts.Check // what is waived
}

func newTarget(e Engine, operator Operator, planner *plan.Planner, book *recipeBook, level asserts.Level) *target {
	p := planner.Plan(operator.Schema)
	t := &target{operator: operator, gen: newGenerator(operator.Schema, book)}
	judged := p.Asserts(level)
	judged.Checks = slices.DeleteFunc(judged.Checks, operator.unseen)
	all := judged
	all.Checks = slices.Clone(judged.Checks)
	for _, c := range p.Checks {
		if c.Waived != nil && c.Code.Level() <= level {
			t.excused = append(t.excused, c.Check)
			all.Checks = append(all.Checks, c.Check)
		}
	}
	t.judged = e.Subjects(&judged)
	if len(t.excused) > 0 {
		t.waived = e.Subjects(&all)
	}
	return t
}

// unseen tells whether a check is one that the engine cannot show broken.
func (o Operator) unseen(c asserts.Check) bool {
	return slices.ContainsFunc(o.Unseen, func(u Unseen) bool { return u.Code == c.Code && u.On == c.On })
}

// waives tells whether an allowlist entry excuses a violation.
func (t *target) waives(v *asserts.Violation) bool {
	return slices.ContainsFunc(t.excused, func(c asserts.Check) bool { return c.Code == v.Code && c.On == v.Subject.Name })
}
