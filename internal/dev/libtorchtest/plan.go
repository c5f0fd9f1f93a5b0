package libtorchtest

import (
	"testing"

	"github.com/opassert/opassert/allowlist"
	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/gen/plan"
	"github.com/opassert/opassert/internal/dev/must"
	"github.com/opassert/opassert/schema"
)

// Planned returns an op with every check that its schema calls for.
func Planned(t testing.TB, op *schema.Op) *asserts.Op {
	t.Helper()
	planner := must.Get(plan.NewPlanner("full", nil, allowlist.Where{}))(t)
	all := planner.Plan(op).Asserts(asserts.Meta)
	return asserts.WithParts(&all)
}
