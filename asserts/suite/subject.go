package suite

import (
	"slices"

	"github.com/opassert/opassert/asserts"
)

// A Plan says what the calls of an op are held against.
type Plan struct {
	Op     asserts.Op    // with every check up to the run's level, waived ones included
	Waived asserts.Codes // the checks that an allowlist waives
}

// A target is an op made ready to be run.
type target struct {
	operator Operator
	gen      *generator
	judged   *asserts.Op
	waived   asserts.Codes
}

func newTarget(e Engine, operator Operator, p Plan, book *recipeBook) *target {
	p.Op.Checks = slices.DeleteFunc(slices.Clone(p.Op.Checks), operator.unseen)
	return &target{
		operator: operator, gen: newGenerator(operator.Schema, book),
		judged: e.Subjects(&p.Op), waived: p.Waived,
	}
}

// unseen reports whether a check is one that the engine cannot show broken.
func (o Operator) unseen(c asserts.Check) bool {
	return slices.ContainsFunc(o.Unseen, func(u Unseen) bool { return u.Code == c.Code && u.On == c.On })
}
