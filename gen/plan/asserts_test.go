package plan

import (
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
		{asserts.Off, nil},
		{asserts.Identity, []asserts.Check{
			{Code: asserts.InputImpl, On: "self"},
			{Code: asserts.InputStorage, On: "self"},
			{Code: asserts.FreshImpl, On: "result"},
			{Code: asserts.UndeclaredAlias, On: "result", Against: "self"},
		}},
		{asserts.Contents, []asserts.Check{
			{Code: asserts.InputImpl, On: "self"},
			{Code: asserts.InputStorage, On: "self"},
			{Code: asserts.UndeclaredWrite, On: "self"},
			{Code: asserts.FreshImpl, On: "result"},
			{Code: asserts.UndeclaredAlias, On: "result", Against: "self"},
		}},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, plan.Asserts(tt.level).Checks); diff != "" {
			t.Errorf("level %v: %s", tt.level, diff)
		}
	}
}

func TestPresetWithoutItsAllowlist(t *testing.T) {
	defer func(was []preset) { presets = was }(presets)
	presets = []preset{{name: "x", allow: "nothing", checks: full}}
	if _, err := NewPlanner("x", nil, allowlist.Where{}); err == nil {
		t.Error("no error")
	}
}
