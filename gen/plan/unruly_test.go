package plan

import (
	"testing"

	"github.com/opassert/opassert/schema"
)

// A plan is made for any op, even one that the parser would refuse.
func TestFullOfUnruly(t *testing.T) {
	tests := []struct {
		name   string
		schema string
		change func(*schema.Function)
	}{
		{
			"a fresh return before a written one", "f(Tensor(a!) out) -> (Tensor, Tensor)",
			func(f *schema.Function) { f.Returns[1].Alias = f.Args[0].Alias },
		},
		{
			"a view of nothing", "f(Tensor(a) self) -> Tensor(a)",
			func(f *schema.Function) { f.Args[0].Alias = nil },
		},
		{
			"a written return without its argument", "f(Tensor(a!) self) -> Tensor(a!)",
			func(f *schema.Function) { f.Args[0].Alias = nil },
		},
	}
	p := planner(t, "full")
	var plans []Plan
	for _, tt := range tests {
		op := parse(t, tt.schema)
		tt.change(&op.Func)
		plans = append(plans, p.Plan(op))
	}
	byCheck(t, "unruly", plans)
}
