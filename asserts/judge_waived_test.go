package asserts_test

import (
	"testing"

	"github.com/opassert/opassert/asserts"
)

// Waiving a check does not reveal the same fault under another.
func TestWaivedCheckUncoversNoOther(t *testing.T) {
	op := asserts.Op{
		Name:    "aten::f",
		Schema:  "f(Tensor self) -> Tensor",
		Args:    []asserts.Subject{{Name: "self", Type: "Tensor"}},
		Results: []asserts.Subject{{Name: "result", Type: "Tensor"}},
	}
	itself := asserts.Observation{Impl: 1, Storage: 2, ImplUses: 2, StorageUses: 1}
	view := asserts.Observation{Impl: 1, Storage: 2, ImplUses: 1, StorageUses: 2}
	shared := asserts.Observation{Impl: 3, Storage: 2, ImplUses: 1, StorageUses: 2}
	for _, tt := range []struct {
		name         string
		self, result asserts.Observation
	}{{"returns its argument", itself, itself}, {"returns a view", view, shared}} {
		seen := &asserts.Seen{
			Level:  asserts.Identity,
			Before: []asserts.Observation{tt.self}, After: []asserts.Observation{tt.self}, Results: []asserts.Observation{tt.result},
		}
		plain := op
		if v := asserts.Judge(&plain, seen, asserts.Aware()); len(v.Violations) != 1 || v.Violations[0].Code != asserts.UndeclaredAlias {
			t.Errorf("%s: %v, want OA007 alone", tt.name, v.Violations)
		}
		waived := op
		waived.Waived = []asserts.Code{asserts.UndeclaredAlias}
		v := asserts.Judge(&waived, seen, asserts.Aware())
		if len(v.Violations) > 0 || v.Judged[asserts.UndeclaredAlias] != 0 || v.Judged[asserts.FreshImpl] != 1 {
			t.Errorf("%s, waived: %v, judged %v", tt.name, v.Violations, v.Judged)
		}
		for symptom, found := range map[asserts.Symptom]int{asserts.Overlapping: 1, "": 0} {
			excused := op
			excused.Excused = []asserts.Excuse{{Code: asserts.UndeclaredAlias, Symptom: symptom, Reason: "why"}}
			if v := asserts.Judge(&excused, seen, asserts.Aware()); len(v.Violations) != found {
				t.Errorf("%s, with %q excused: %v", tt.name, symptom, v.Violations)
			}
		}
	}
}

// A call that violates only waived checks is usual, and waived checks are not counted.
func TestWaivedIsUsual(t *testing.T) {
	held := see(3, 4, uses(2, 2))
	for _, code := range []asserts.Code{asserts.FreshImpl, asserts.FreshStorage} {
		op := opOf("f(Tensor self) -> Tensor")
		op.Waived = []asserts.Code{asserts.FreshImpl, asserts.FreshStorage}
		seen := &asserts.Seen{Level: asserts.Identity, Before: list{see(1, 2)}, After: list{see(1, 2)}, Results: list{held}}
		if !asserts.LooksUsual(op, seen, asserts.Aware()) {
			t.Error("a violation of a waived check makes a call go to the judge")
		}
		only := opOf("f(Tensor self) -> Tensor")
		only.Waived = []asserts.Code{code}
		if asserts.LooksUsual(only, seen, asserts.Aware()) {
			t.Errorf("with %v waived, the other check is not looked at", code)
		}
	}
	collect(t)
	asserts.ForgetSummary()
	op := newAdd()
	op.Waived = []asserts.Code{asserts.FreshImpl}
	binary(op, healthy, newTensor(4), newTensor(4))
	if checks := asserts.Summarize().Checks; checks[asserts.FreshImpl] != 0 || checks[asserts.FreshStorage] != 1 {
		t.Errorf("counted %v", checks)
	}
}
