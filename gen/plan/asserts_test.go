package plan

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opassert/opassert/allowlist"
	"github.com/opassert/opassert/asserts"
)

// The run time gets the checks up to a level, in order, without the waived.
func TestAsserts(t *testing.T) {
	list, err := allowlist.Parse("a.yaml", []byte("- op: relu\n  checks: [OA005]\n  reason: why\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	plan := planner(t, "full", list).Plan(parse(t, "relu(Tensor self) -> Tensor"))
	tests := []struct {
		level asserts.Level
		want  []asserts.Check
	}{
		{asserts.Off, []asserts.Check{}},
		{asserts.Identity, []asserts.Check{
			{Code: asserts.InputImpl, On: 1},
			{Code: asserts.InputStorage, On: 1},
			{Code: asserts.FreshImpl, On: -1},
			{Code: asserts.UndeclaredAlias, On: -1, Against: 1},
		}},
		{asserts.Content, []asserts.Check{
			{Code: asserts.InputImpl, On: 1},
			{Code: asserts.InputStorage, On: 1},
			{Code: asserts.UndeclaredWrite, On: 1},
			{Code: asserts.FreshImpl, On: -1},
			{Code: asserts.UndeclaredAlias, On: -1, Against: 1},
		}},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, runs(plan.Asserts(tt.level))); diff != "" {
			t.Errorf("level %v: %s", tt.level, diff)
		}
	}
}

// runs is what runs of the checks that the test speaks of.
func runs(op asserts.Op) []asserts.Check {
	return slices.DeleteFunc(op.Plan(), func(c asserts.Check) bool { return c.Code > asserts.MetaAlias })
}

func TestPresetWithoutItsAllowlist(t *testing.T) {
	defer func(was []preset) { presets = was }(presets)
	presets = []preset{{name: "x", allow: "nothing"}}
	if _, err := NewPlanner("x", nil, allowlist.Where{}); err == nil {
		t.Error("no error")
	}
}
