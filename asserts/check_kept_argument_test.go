package asserts_test

import (
	"testing"

	"github.com/opassert/opassert/asserts"
)

// grades makes an observation require grad.
func grades(o *asserts.Observation) { o.Content = &asserts.Snapshot{RequiresGrad: true} }

// What holds an argument after the call is what held it before, what is
// returned, and what other arguments came to hold.
func TestKeptArgument(t *testing.T) {
	fresh := see(5, 6)
	for _, tt := range []struct {
		name, op       string
		before, after  list
		results        list
		reported, skip bool
		made           bool // for the call
	}{
		{name: "nobody", op: "f(Tensor self) -> Tensor", before: list{see(1, 2)}, after: list{see(1, 2)}, results: list{fresh}},
		{name: "TensorImpl", op: "f(Tensor self) -> Tensor", before: list{see(1, 2)}, after: list{see(1, 2, uses(2, 1))}, results: list{fresh}, reported: true},
		{name: "StorageImpl", op: "f(Tensor self) -> Tensor", before: list{see(1, 2)}, after: list{see(1, 2, uses(1, 2))}, results: list{fresh}, reported: true},
		{name: "somebody before", op: "f(Tensor self) -> Tensor", before: list{see(1, 2, uses(3, 4))}, after: list{see(1, 2, uses(3, 4))}, results: list{fresh}},
		{name: "let go", op: "f(Tensor self) -> Tensor", before: list{see(1, 2, uses(3, 4))}, after: list{see(1, 2)}, results: list{fresh}},
		{name: "released too often", made: true, op: "f(Tensor self) -> Tensor", before: list{see(1, 2, uses(2, 2))}, after: list{see(1, 2, uses(1, 2))}, results: list{fresh}, reported: true},
		{name: "its StorageImpl released too often", made: true, op: "f(Tensor self) -> Tensor", before: list{see(1, 2, uses(1, 2))}, after: list{see(1, 2, uses(1, 1))}, results: list{fresh}, reported: true},
		{name: "given up by another", made: true, op: "set_(Tensor(a!) self, Tensor source) -> ()", before: list{see(1, 2, uses(1, 2)), see(3, 2, uses(1, 2))}, after: list{see(1, 9, uses(1, 1)), see(3, 2, uses(1, 1))}},
		{name: "a view that holds it", made: true, op: "f(Tensor(a) self) -> Tensor(a)", before: list{see(1, 2)}, after: list{see(1, 2, uses(2, 2))}, results: list{see(5, 2, uses(1, 2))}},
		{name: "a view, and somebody else", made: true, op: "f(Tensor(a) self) -> Tensor(a)", before: list{see(1, 2)}, after: list{see(1, 2, uses(2, 3))}, results: list{see(5, 2, uses(1, 3))}, reported: true},
		{name: "returned", op: "f_(Tensor(a!) self) -> Tensor(a!)", before: list{see(1, 2)}, after: list{see(1, 2, uses(2, 1))}, results: list{see(1, 2, uses(2, 1))}},
		{name: "returned and kept", op: "f_(Tensor(a!) self) -> Tensor(a!)", before: list{see(1, 2)}, after: list{see(1, 2, uses(3, 1))}, results: list{see(1, 2, uses(3, 1))}, reported: true},
		{name: "taken over", op: "set_(Tensor(a!) self, Tensor source) -> ()", before: list{see(1, 2), see(3, 4)}, after: list{see(1, 4, uses(1, 2)), see(3, 4, uses(1, 2))}},
		{name: "passed twice", op: "f(Tensor self, Tensor other) -> ()", before: list{see(1, 2), see(1, 2)}, after: list{see(1, 2, uses(2, 1)), see(1, 2, uses(2, 1))}, reported: true},
		{name: "a view of it", op: "f(Tensor(a) self) -> Tensor(a)", before: list{see(1, 2)}, after: list{see(1, 2, uses(2, 2))}, results: list{see(5, 2, uses(1, 2))}, skip: true},
		{name: "needed for backward", op: "f(Tensor self) -> Tensor", before: list{see(1, 2, grades)}, after: list{see(1, 2, uses(2, 1), grades)}, results: list{fresh}, skip: true},
		{name: "result needs it", op: "f(Tensor self) -> Tensor", before: list{see(1, 2)}, after: list{see(1, 2, uses(2, 1))}, results: list{see(5, 6, grades)}, skip: true},
		{name: "wrapped", op: "f(Tensor self) -> Tensor", before: list{see(1, 2)}, after: list{see(1, 2, uses(2, 1))}, results: list{see(5, 6, traits(asserts.FunctionalWrapper))}, skip: true},
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
			reported, skipped := 0, 0
			for _, v := range verdict.Violations {
				if v.Code == asserts.KeptArgument {
					reported++
				}
			}
			for _, s := range verdict.Skips {
				if s.Code == asserts.KeptArgument {
					skipped++
				}
			}
			if reported > 1 || (reported > 0) != tt.reported || (skipped > 0) != tt.skip {
				t.Errorf("reported %d, skips %v", reported, verdict.Skips)
			}
		})
	}
}
