package asserts_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opassert/opassert/asserts"
)

// grades makes an observation require grad.
func grades(o *asserts.Observation) { o.Content = &asserts.Snapshot{RequiresGrad: true} }

// memory is two bytes at this address.
func memory(start uintptr) mod {
	return func(o *asserts.Observation) {
		holding("ab")(o)
		o.Content.Memory = start
	}
}

// After the call an argument is referenced by its earlier holders, the returns, and other arguments
// that hold it now.
func TestKeptArgument(t *testing.T) {
	fresh := see(5, 6)
	for _, tt := range []struct {
		name, op      string
		before, after list
		results       list
		saw           string // "" for no report
		skip          bool
		made          bool // for the call
	}{
		{name: "nobody", op: "f(Tensor self) -> Tensor", before: list{see(1, 2)}, after: list{see(1, 2)}, results: list{fresh}},
		{name: "TensorImpl", op: "f(Tensor self) -> Tensor", before: list{see(1, 2)}, after: list{see(1, 2, uses(2, 1))}, results: list{fresh},
			saw: "the TensorImpl of argument self has a reference that it did not have before the call: use_count 1 -> 2"},
		{name: "StorageImpl", op: "f(Tensor self) -> Tensor", before: list{see(1, 2)}, after: list{see(1, 2, uses(1, 2))}, results: list{fresh},
			saw: "the StorageImpl of argument self has a reference that it did not have before the call: use_count 1 -> 2"},
		{name: "somebody before", op: "f(Tensor self) -> Tensor", before: list{see(1, 2, uses(3, 4))}, after: list{see(1, 2, uses(3, 4))}, results: list{fresh}},
		{name: "let go", op: "f(Tensor self) -> Tensor", before: list{see(1, 2, uses(3, 4))}, after: list{see(1, 2)}, results: list{fresh}},
		{name: "released too often", made: true, op: "f(Tensor self) -> Tensor", before: list{see(1, 2, uses(2, 2))}, after: list{see(1, 2, uses(1, 2))}, results: list{fresh},
			saw: "the TensorImpl of argument self was released once too often: use_count 2 -> 1"},
		{name: "its StorageImpl released too often", made: true, op: "f(Tensor self) -> Tensor", before: list{see(1, 2, uses(1, 2))}, after: list{see(1, 2, uses(1, 1))}, results: list{fresh},
			saw: "the StorageImpl of argument self was released once too often: use_count 2 -> 1"},
		{name: "given up by another", made: true, op: "set_(Tensor(a!) self, Tensor source) -> ()", before: list{see(1, 2, uses(1, 2)), see(3, 2, uses(1, 2))}, after: list{see(1, 9, uses(1, 1)), see(3, 2, uses(1, 1))}},
		{name: "another TensorImpl for another handle", made: true, op: "f(Tensor(a!) self, Tensor x) -> ()", before: list{see(1, 2, uses(2, 1)), see(1, 2, uses(2, 1))}, after: list{see(9, 2, uses(1, 2)), see(1, 2, uses(1, 2))}},
		{name: "a view that holds it", made: true, op: "f(Tensor(a) self) -> Tensor(a)", before: list{see(1, 2)}, after: list{see(1, 2, uses(2, 2))}, results: list{see(5, 2, uses(1, 2))}},
		{name: "a view, and somebody else", made: true, op: "f(Tensor(a) self) -> Tensor(a)", before: list{see(1, 2)}, after: list{see(1, 2, uses(2, 3))}, results: list{see(5, 2, uses(1, 3))},
			saw: "the StorageImpl of argument self has a reference that it did not have before the call: use_count 1 -> 3"},
		{name: "returned", op: "f_(Tensor(a!) self) -> Tensor(a!)", before: list{see(1, 2)}, after: list{see(1, 2, uses(2, 1))}, results: list{see(1, 2, uses(2, 1))}},
		{name: "returned and kept", op: "f_(Tensor(a!) self) -> Tensor(a!)", before: list{see(1, 2)}, after: list{see(1, 2, uses(3, 1))}, results: list{see(1, 2, uses(3, 1))},
			saw: "the TensorImpl of argument self has a reference that it did not have before the call: use_count 1 -> 3"},
		{name: "taken over", op: "set_(Tensor(a!) self, Tensor source) -> ()", before: list{see(1, 2), see(3, 4)}, after: list{see(1, 4, uses(1, 2)), see(3, 4, uses(1, 2))}},
		{name: "passed twice", op: "f(Tensor self, Tensor other) -> ()", before: list{see(1, 2), see(1, 2)}, after: list{see(1, 2, uses(2, 1)), see(1, 2, uses(2, 1))},
			saw: "the TensorImpl of argument self has a reference that it did not have before the call: use_count 1 -> 2"},
		{name: "a view of it", op: "f(Tensor(a) self) -> Tensor(a)", before: list{see(1, 2)}, after: list{see(1, 2, uses(2, 2))}, results: list{see(5, 2, uses(1, 2))}, skip: true},
		{name: "needed for backward", op: "f(Tensor self) -> Tensor", before: list{see(1, 2, grades)}, after: list{see(1, 2, uses(2, 1), grades)}, results: list{fresh}, skip: true},
		{name: "result needs it", op: "f(Tensor self) -> Tensor", before: list{see(1, 2)}, after: list{see(1, 2, uses(2, 1))}, results: list{see(5, 6, grades)}, skip: true},
		{name: "wrapped", op: "f(Tensor self) -> Tensor", before: list{see(1, 2)}, after: list{see(1, 2, uses(2, 1))}, results: list{see(5, 6, traits(asserts.FunctionalWrapper))}, skip: true},
		{name: "a wrapper is written", op: "f(Tensor self, Tensor(a!) x) -> ()", before: list{see(1, 2), see(3, 4, traits(asserts.FunctionalWrapper))}, after: list{see(1, 2, uses(2, 1)), see(3, 4, traits(asserts.FunctionalWrapper))}, skip: true},
		{name: "a wrapper is read", op: "f(Tensor self, Tensor x) -> ()", before: list{see(1, 2), see(3, 4, traits(asserts.FunctionalWrapper))}, after: list{see(1, 2, uses(2, 1)), see(3, 4, traits(asserts.FunctionalWrapper))},
			skip: true, saw: "the TensorImpl of argument self has a reference that it did not have before the call: use_count 1 -> 2"},
		{name: "a plain tensor is written", op: "f(Tensor self, Tensor(a!) x) -> ()", before: list{see(1, 2), see(3, 4)}, after: list{see(1, 2, uses(2, 1)), see(3, 4)},
			saw: "the TensorImpl of argument self has a reference that it did not have before the call: use_count 1 -> 2"},
		{name: "a result in its memory", op: "f(Tensor self) -> Tensor", before: list{see(1, 2, memory(100))}, after: list{see(1, 2, uses(1, 2), memory(100))}, results: list{see(5, 6, memory(100))}, skip: true},
		{name: "a result in other memory", op: "f(Tensor self) -> Tensor", before: list{see(1, 2, memory(100))}, after: list{see(1, 2, uses(1, 2), memory(100))}, results: list{see(5, 6, memory(200))},
			saw: "the StorageImpl of argument self has a reference that it did not have before the call: use_count 1 -> 2"},
		{name: "a view that is a copy", made: true, op: "f(Tensor(a) self) -> Tensor(a)", before: list{see(1, 2)}, after: list{see(1, 2, uses(2, 1))}, results: list{fresh}, skip: true},
		{name: "a view of another that is a copy", made: true, op: "f(Tensor self, Tensor(a) x) -> Tensor(a)", before: list{see(1, 2), see(3, 4)}, after: list{see(1, 2, uses(2, 1)), see(3, 4)}, results: list{fresh},
			skip: true, saw: "the TensorImpl of argument self has a reference that it did not have before the call: use_count 1 -> 2"},
		{name: "a clone of self in place of it", made: true, op: "f_(Tensor(a!) self) -> Tensor(a!)", before: list{see(1, 2)}, after: list{see(1, 2, uses(2, 1))}, results: list{fresh},
			saw: "the TensorImpl of argument self has a reference that it did not have before the call: use_count 1 -> 2"},
		{name: "a sort that holds", op: "f(Tensor self) -> ()", before: list{see(1, 2, traits(asserts.WrapperSubclass))}, after: list{see(1, 2, uses(2, 1), traits(asserts.WrapperSubclass))}, skip: true},
		{name: "undefined", op: "f(Tensor? self) -> ()", before: list{undefined}, after: list{undefined}},
		{name: "another TensorImpl", op: "f(Tensor self) -> ()", before: list{see(1, 2)}, after: list{see(9, 2, uses(2, 1))}},
		{name: "taken in", op: "f(Tensor self, Tensor(a!) x) -> ()", before: list{see(1, 2), see(3, 4)}, after: list{see(1, 2, uses(2, 1)), see(1, 2, uses(2, 1))}},
		{name: "another on its storage", op: "f(Tensor self, Tensor(a!) x) -> ()", before: list{see(1, 2, uses(1, 2)), see(3, 2, uses(1, 2))}, after: list{see(1, 2, uses(1, 3)), see(5, 2, uses(1, 3))}},
		{name: "needed for backward from now on", op: "f(Tensor self) -> Tensor", before: list{see(1, 2)}, after: list{see(1, 2, uses(2, 1), grades)}, results: list{fresh}, skip: true},
		{name: "needed for backward no longer", op: "f(Tensor self) -> Tensor", before: list{see(1, 2, grades)}, after: list{see(1, 2, uses(2, 1))}, results: list{fresh}, skip: true},
		{name: "not counted before", op: "f(Tensor self) -> ()", before: list{see(1, 2, uses(-1, -1))}, after: list{see(1, 2)}, skip: true},
		{name: "not counted after", op: "f(Tensor self) -> ()", before: list{see(1, 2)}, after: list{see(1, 2, uses(-1, -1))}, skip: true},
		{name: "not counted", op: "f(Tensor self) -> ()", before: list{see(1, 2, uses(-1, -1))}, after: list{see(1, 2, uses(-1, -1))}, skip: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			op := wholeOp(tt.op)
			op.Waived = []asserts.Code{asserts.InputStorage, asserts.UndeclaredAlias}
			verdict := asserts.Judge(op, &asserts.Seen{Level: asserts.Content, Alone: true, Made: tt.made, Before: tt.before, After: tt.after, Results: tt.results}, asserts.Aware())
			var saw []string
			for _, v := range verdict.Violations {
				if v.Code == asserts.KeptArgument {
					saw = append(saw, v.Saw)
				}
			}
			skipped := 0
			for _, s := range verdict.Skips {
				if s.Code == asserts.KeptArgument {
					skipped++
				}
			}
			if len(saw) > 1 || strings.Join(saw, "") != tt.saw || (skipped > 0) != tt.skip {
				t.Errorf("reported %q, skips %v", saw, verdict.Skips)
			}
		})
	}
}

// A copy that an op which decomposes returns for a view may hold its base, as autograd makes views hold theirs; no other return may.
func TestKeptByView(t *testing.T) {
	kept := list{see(1, 2, uses(2, 1))}
	for _, tt := range []struct {
		name, op  string
		composite bool
		after     list
		result    asserts.Observation
		skip      bool // else reported
	}{
		{"a copy", "f(Tensor(a) self) -> Tensor(a)", true, kept, see(5, 6), true},
		{"a copy of an op that does not decompose", "f(Tensor(a) self) -> Tensor(a)", false, kept, see(5, 6), false},
		{"self, which it returns", "f(Tensor(a) self) -> Tensor(a)", true, list{see(1, 2, uses(3, 1))}, see(1, 2, uses(3, 1)), false},
		{"a fresh tensor", "f(Tensor self) -> Tensor", true, kept, see(5, 6), false},
		{"a copy for self, which is written", "f_(Tensor(a!) self) -> Tensor(a!)", true, kept, see(5, 6), false},
	} {
		op := wholeOp(tt.op)
		op.Composite = tt.composite
		op.Checks = slices.DeleteFunc(op.Checks, func(c asserts.Check) bool { return c.Code == asserts.ViewStorage || c.Code == asserts.ReturnedSelf })
		verdict := asserts.Judge(op, &asserts.Seen{Level: asserts.Content, Alone: true, Made: true, Before: list{see(1, 2)}, After: tt.after, Results: list{tt.result}}, asserts.Aware())
		reported := slices.ContainsFunc(verdict.Violations, func(v *asserts.Violation) bool { return v.Code == asserts.KeptArgument })
		skipped := slices.ContainsFunc(verdict.Skips, func(s asserts.Skip) bool { return s.Code == asserts.KeptArgument })
		if reported == tt.skip || skipped != tt.skip {
			t.Errorf("%s: reported %v, skips %v", tt.name, reported, verdict.Skips)
		}
	}
}

// A return without a storage is not a view of an argument without one.
func TestKeptWithoutStorage(t *testing.T) {
	for _, made := range []bool{false, true} {
		seen := &asserts.Seen{Level: asserts.Content, Alone: true, Made: made, Before: list{see(1, 0)}, After: list{see(1, 0, uses(2, 1))}, Results: list{see(5, 0)}}
		if found := foundKept(wholeOp("f(Tensor self) -> Tensor"), seen, &asserts.Policy{}); len(found) != 1 {
			t.Errorf("made %t: reported %v, want OA016", made, asserts.Violations(found))
		}
	}
}

// While other threads may take references, the use counts of an argument prove nothing, but a late
// write does.
func TestKeptAmongOthers(t *testing.T) {
	one := holding("ab")
	for _, tt := range []struct {
		name string
		late list
		want int
	}{
		{"not looked at late", nil, 0},
		{"the same late", list{see(1, 2, one)}, 0},
		{"written late", list{see(1, 2, holding("aB"))}, 1},
	} {
		seen := &asserts.Seen{Level: asserts.Content, Before: list{see(1, 2, one)}, After: list{see(1, 2, one, uses(2, 1))}, Late: tt.late}
		if found := foundKept(wholeOp("f(Tensor self) -> ()"), seen, asserts.Aware()); len(found) != tt.want {
			t.Errorf("%s: reported %v, want %d", tt.name, asserts.Violations(found), tt.want)
		}
	}
}

// foundKept returns a call's violations of OA016.
func foundKept(op *asserts.Op, seen *asserts.Seen, policy *asserts.Policy) []*asserts.Violation {
	return slices.DeleteFunc(asserts.Judge(op, seen, policy).Violations, func(v *asserts.Violation) bool { return v.Code != asserts.KeptArgument })
}

// The fix fits the fault: release a kept reference, do not release one too often, whatever the
// other counts do.
func TestFixOfKeptArgument(t *testing.T) {
	const (
		release = "release every reference to self before returning, as a cache of a clone does"
		retain  = "release only references that the kernel took: the caller owns one to self"
	)
	one := holding("ab")
	for _, tt := range []struct {
		name          string
		before, after asserts.Observation
		late          list
		want          string
	}{
		{"TensorImpl kept", see(1, 2, one), see(1, 2, one, uses(2, 1)), nil, release},
		{"StorageImpl kept", see(1, 2, one), see(1, 2, one, uses(1, 2)), nil, release},
		{"TensorImpl kept, and a view let go", see(1, 2, one, uses(1, 2)), see(1, 2, one, uses(2, 1)), nil, release},
		{"written late, and let go", see(1, 2, one, uses(2, 2)), see(1, 2, one, uses(1, 1)), list{see(1, 2, holding("aB"))}, release},
		{"TensorImpl released", see(1, 2, one, uses(2, 1)), see(1, 2, one), nil, retain},
		{"StorageImpl released", see(1, 2, one, uses(1, 2)), see(1, 2, one), nil, retain},
	} {
		t.Run(tt.name, func(t *testing.T) {
			seen := &asserts.Seen{Level: asserts.Content, Alone: true, Made: true, Before: list{tt.before}, After: list{tt.after}, Late: tt.late}
			found := foundKept(wholeOp("f(Tensor self) -> ()"), seen, asserts.Aware())
			if len(found) != 1 || found[0].Fix != tt.want {
				t.Errorf("reported %v, want the fix %q", asserts.Violations(found), tt.want)
			}
		})
	}
}

// For an argument without any holder, the fix is to retain it.
func TestFixOfReleased(t *testing.T) {
	seen := &asserts.Seen{Level: asserts.Content, Before: list{see(1, 2)}, After: list{see(1, 0, uses(0, 0))}}
	want := "release only references that the kernel took: the caller owns one to self"
	found := asserts.Judge(wholeOp("f(Tensor self) -> ()"), seen, asserts.Aware()).Violations
	if len(found) != 1 || found[0].Code != asserts.InputStorage || found[0].Fix != want {
		t.Errorf("reported %v, want the fix %q", asserts.Violations(found), want)
	}
}

// A late write is reported once, for the argument that was written, if the check is planned.
func TestWrittenLateOfTwo(t *testing.T) {
	a, b := see(1, 2, holding("ab")), see(3, 4, holding("cd"))
	aLate, bLate := see(1, 2, holding("aB")), see(3, 4, holding("cD"))
	earlier := func(arg int) []asserts.Earlier {
		return []asserts.Earlier{{Then: see(8, 9, holding("ab")), Now: see(8, 9, holding("xb")), Arg: arg}}
	}
	const (
		selfLate = "argument self: argument self changed after the call: 1 of 2 bytes changed"
		xLate    = "argument x: argument x changed after the call: 1 of 2 bytes changed"
		selfKept = "argument self: the argument self of the previous call, which the op kept, changed during this one: 1 of 2 bytes changed"
		xKept    = "argument x: the argument x of the previous call, which the op kept, changed during this one: 1 of 2 bytes changed"
	)
	for _, tt := range []struct {
		name    string
		after   list
		late    list
		earlier []asserts.Earlier
		without asserts.Ref // not planned
		want    []string
	}{
		{name: "the first", after: list{a, b}, late: list{aLate, b}, want: []string{selfLate}},
		{name: "the second", after: list{a, b}, late: list{a, bLate}, want: []string{xLate}},
		{name: "both", after: list{a, b}, late: list{aLate, bLate}, want: []string{selfLate, xLate}},
		{name: "the first in the call, the second late", after: list{see(1, 2, holding("Ab")), b}, late: list{see(1, 2, holding("Ab")), bLate}, want: []string{xLate}},
		{name: "not checked", after: list{a, b}, late: list{aLate, bLate}, without: asserts.ArgRef(0), want: []string{xLate}},
		{name: "the first of the call before", after: list{a, b}, earlier: earlier(1), want: []string{selfKept}},
		{name: "the second of the call before", after: list{a, b}, earlier: earlier(2), want: []string{xKept}},
		{name: "the call before, not checked", after: list{a, b}, earlier: earlier(1), without: asserts.ArgRef(0)},
		{name: "a return of the call before", after: list{a, b}, earlier: earlier(0)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			op := wholeOp("f(Tensor self, Tensor x) -> ()")
			op.Checks = slices.DeleteFunc(op.Plan(), func(c asserts.Check) bool { return c.Code == asserts.KeptArgument && c.On == tt.without })
			seen := &asserts.Seen{Level: asserts.Content, Alone: true, Before: list{a, b}, After: tt.after, Late: tt.late, Earlier: tt.earlier}
			var got []string
			for _, v := range foundKept(op, seen, asserts.Aware()) {
				got = append(got, v.Subject.String()+": "+v.Saw)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}
