package plan

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opassert/opassert/schema"
)

// A plan is made for any op, also for one that the parser would refuse.
func TestFullOfUnruly(t *testing.T) {
	tests := []struct {
		name   string
		schema string
		change func(*schema.Function)
		want   []string
	}{
		{
			"a fresh return before a written one", "f(Tensor(a!) out) -> (Tensor, Tensor)",
			func(f *schema.Function) { f.Returns[1].Alias = f.Args[0].Alias },
			[]string{
				"OA001 out", "OA002 out", "OA010 out",
				"OA003 result0", "OA005 result0", "OA007 result0 / out", "OA008 result0 / result1", "OA011 result0",
				"OA006 result1 / out", "OA011 result1",
			},
		},
		{
			"a view of nothing", "f(Tensor(a) self) -> Tensor(a)",
			func(f *schema.Function) { f.Args[0].Alias = nil },
			[]string{"OA001 self", "OA002 self", "OA009 self", "OA003 result", "OA007 result / self", "OA011 result"},
		},
		{
			"a written return without its argument", "f(Tensor(a!) self) -> Tensor(a!)",
			func(f *schema.Function) { f.Args[0].Alias = nil },
			[]string{"OA001 self", "OA002 self", "OA009 self", "OA011 result"},
		},
	}
	p := planner(t, "full")
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			op := parse(t, tt.schema)
			tt.change(&op.Func)
			if diff := cmp.Diff(tt.want, lines(p.Plan(op))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestViewAfterFresh(t *testing.T) {
	want := []string{
		"OA001 self", "OA002 self", "OA009 self",
		"OA003 result0", "OA005 result0", "OA007 result0 / self", "OA011 result0",
		"OA003 result1", "OA004 result1 / self", "OA008 result1 / result0", "OA011 result1",
	}
	if diff := cmp.Diff(want, lines(planner(t, "full").Plan(parse(t, "f(Tensor(a) self) -> (Tensor, Tensor(a))")))); diff != "" {
		t.Error(diff)
	}
}
