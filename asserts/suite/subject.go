package suite

import (
	"slices"

	"github.com/opassert/opassert/allowlist"
	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/gen/plan"
)

// unseen is why OA001 is not judged on an engine that passes copies.
const unseen = "not observable: the call passes copies of the handles"

// A target is an op made ready to be run.
type target struct {
	operator Operator
	gen      *generator
	judged   *asserts.Op // without what is waived
	waived   *asserts.Op // with it; nil if nothing is
	entries  map[asserts.Check]*allowlist.Entry
	hidden   int // OA001 lines that this engine cannot see broken
	meta     []asserts.Check
}

func newTarget(operator Operator, planner *plan.Planner, book *recipeBook, level asserts.Level) *target {
	p := planner.Plan(operator.Schema)
	t := &target{operator: operator, gen: newGenerator(operator.Schema, book), entries: make(map[asserts.Check]*allowlist.Entry)}
	judged := p.Asserts(level)
	if operator.Boxed {
		judged.Checks, t.hidden = withoutImpl(judged.Checks)
	}
	all := judged
	all.Checks = slices.Clone(judged.Checks)
	for _, c := range p.Checks {
		if c.Code == asserts.MetaAlias && c.Waived == nil {
			t.meta = append(t.meta, c.Check)
		}
		if c.Waived != nil && c.Code.Level() <= level {
			t.entries[c.Check] = c.Waived
			all.Checks = append(all.Checks, c.Check)
		}
	}
	t.judged = &judged
	if len(t.entries) > 0 {
		t.waived = &all
	}
	return t
}

func withoutImpl(checks []asserts.Check) (rest []asserts.Check, hidden int) {
	for _, c := range checks {
		if c.Code == asserts.InputImpl {
			hidden++
		} else {
			rest = append(rest, c)
		}
	}
	return rest, hidden
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
