package plan

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opassert/opassert/allowlist"
	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/internal/dev/must"
)

// The run time gets the checks up to a level, in order, without waived ones.
func TestAsserts(t *testing.T) {
	list := must.Get(allowlist.Parse("a.yaml", []byte("- op: relu\n  checks: [OA005]\n  reason: why\n"), nil))(t)
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

// runs returns those of the test's checks that run.
func runs(op asserts.Op) []asserts.Check {
	return slices.DeleteFunc(op.Plan(), func(c asserts.Check) bool { return c.Code > asserts.MetaAlias })
}

// A table has the waived and noted checks of a wrapper, each once, and the checks if package
// asserts plans others.
func TestTable(t *testing.T) {
	list := must.Get(allowlist.Parse("a.yaml", []byte(`
- {op: cat, checks: [OA001], reason: waived}
- {op: cat, checks: [OA001, OA007, OA011], level: note, reason: debatable}
- {op: relu, crash: SIGFPE, checks: [OA011], reason: crashes}
- {op: cat, checks: [OA007/overlapping, OA008/overlapping, OA021/seed], reason: in one buffer}
- {op: cat, checks: [OA008/overlapping], reason: elsewhere, device: cuda}
- {op: cat, checks: [OA016/overreleased, OA005/returned-before], level: note, reason: debatable}
`), nil))(t)
	cat := parse(t, "cat(Tensor[] a, Tensor?[] b, int dim=0) -> Tensor")
	full := planner(t, "full", list)
	plan := full.Plan(cat)
	table := plan.Table()
	if diff := cmp.Diff([]asserts.Code{asserts.InputImpl}, table.Waived); diff != "" {
		t.Errorf("waived: %s", diff)
	}
	overlapping := func(code asserts.Code) asserts.Excuse {
		return asserts.Excuse{Code: code, Symptom: asserts.Overlapping, Reason: "in one buffer"}
	}
	noted := []asserts.Excuse{
		{Code: asserts.FreshStorage, Symptom: asserts.ReturnedBefore, Reason: "debatable"},
		{Code: asserts.UndeclaredAlias, Reason: "debatable"},
		{Code: asserts.KeptArgument, Symptom: asserts.Overreleased, Reason: "debatable"},
	}
	if diff := cmp.Diff(noted, table.Notes); diff != "" {
		t.Errorf("noted: %s", diff)
	}
	if diff := cmp.Diff([]asserts.Excuse{overlapping(asserts.UndeclaredAlias), overlapping(asserts.OutputAlias)}, table.Excused); diff != "" {
		t.Errorf("excused: %s", diff)
	}
	seed := asserts.Excuse{Code: asserts.NondeterministicResult, Symptom: "seed", Reason: "in one buffer"}
	want := []asserts.Excuse{{Code: asserts.InputImpl, Reason: "waived"}, overlapping(asserts.UndeclaredAlias), overlapping(asserts.OutputAlias), seed}
	if diff := cmp.Diff(want, plan.Waivers()); diff != "" {
		t.Errorf("waivers: %s", diff)
	}
	if table.Checks != nil || !table.Args[1].List || len(table.Results) == 0 {
		t.Errorf("checks %v, lists %v, returns %v", table.Checks, table.Args[1].List, table.Results)
	}
	if codes := plan.Codes(); codes.Has(asserts.InputImpl) || codes.Has(asserts.MetaAlias) || codes.Has(asserts.KeptArgument) || !codes.Has(asserts.UndeclaredWrite) {
		t.Errorf("a wrapper judges %v", codes)
	}
	pytorch := planner(t, "pytorch-1.13").Plan(parse(t, "relu(Tensor self) -> Tensor")).Table()
	if len(pytorch.Checks) == 0 {
		t.Error("a preset's checks are left to package asserts")
	}
	if item := full.Plan(parse(t, "item(Tensor self) -> Scalar")).Table(); len(item.Results) > 0 {
		t.Error("a Scalar is a tensor")
	}
	relu := parse(t, "relu(Tensor self) -> Tensor")
	if waived := full.Plan(relu).Table().Waived; len(waived) > 0 {
		t.Errorf("a wrapper waives %v, which it never judges", waived)
	}
	if e := full.WaivedCrash(relu, "SIGFPE"); e == nil || e.Reason != "crashes" || full.WaivedCrash(relu, "hang") != nil || full.WaivedCrash(cat, "SIGFPE") != nil {
		t.Errorf("SIGFPE is let through by %v, or others are", e)
	}
	if outer := full.Plan(parse(t, "aten::f(Tensor(a!)[](b) x) -> ()")).Table(); !outer.Args[0].Write {
		t.Error("tensors in a list that is not written are not written")
	}
}

func TestPresetWithoutItsAllowlist(t *testing.T) {
	defer func(was []preset) { presets = was }(presets)
	presets = []preset{{name: "x", allow: "nothing"}}
	if _, err := NewPlanner("x", nil, allowlist.Where{}); err == nil {
		t.Error("no error")
	}
}
