package asserts_test

import (
	"slices"
	"testing"

	"github.com/opassert/opassert/asserts"
)

// Of an op that decomposes, what its returns share is judged as of others, and nothing else.
func TestSharing(t *testing.T) {
	op := opOf("f(Tensor self, Tensor(a) other) -> (Tensor, Tensor(a))")
	op.Composite, op.Checks = true, nil
	asserts.Judge(op, &asserts.Seen{}, asserts.Aware()) // to make its plan
	sharing := op.Sharing()
	want := []asserts.Check{
		{Code: asserts.UndeclaredAlias, On: asserts.ResultRef(0), Against: asserts.ArgRef(0)}, {Code: asserts.UndeclaredAlias, On: asserts.ResultRef(0), Against: asserts.ArgRef(1)},
		{Code: asserts.UndeclaredAlias, On: asserts.ResultRef(1), Against: asserts.ArgRef(0)},
	}
	if !slices.Equal(sharing.Checks, want) {
		t.Errorf("%v, want %v", sharing.Checks, want)
	}
	args := list{see(1, 2), see(3, 4)}
	seen := &asserts.Seen{Level: asserts.Identity, Before: args, After: args, Results: list{see(5, 2), see(6, 4)}, ArgLens: []int{1, 1}, ResultLens: []int{1, 1}}
	if vs := asserts.Judge(sharing, seen, asserts.Aware()).Violations; len(vs) != 1 || vs[0].Saw != "result0 shares StorageImpl with argument self" {
		t.Errorf("%v", vs)
	}
	if vs := asserts.Judge(op, seen, asserts.Aware()).Violations; len(vs) > 0 {
		t.Errorf("%v", vs)
	}
}

// Writes of a call that threw are judged, its returns are not.
func TestThrown(t *testing.T) {
	op := opOf("f(Tensor self, Tensor(a!) other) -> Tensor(a!)")
	asserts.Judge(op, &asserts.Seen{}, asserts.Aware()) // to make its plan
	thrown := op.Thrown(asserts.CodesOf(asserts.UndeclaredWrite))
	if want := []asserts.Check{{Code: asserts.UndeclaredWrite, On: asserts.ArgRef(0)}}; !slices.Equal(thrown.Checks, want) {
		t.Errorf("%v, want %v", thrown.Checks, want)
	}
	one := holding("abcd")
	before := list{see(1, 2, one), see(3, 4, one)}
	after := list{see(1, 2, holding("abcx")), see(3, 4, holding("abcx"))}
	verdict := asserts.Judge(thrown, &asserts.Seen{Level: asserts.Content, Before: before, After: after, ResultLens: []int{0}}, asserts.Aware())
	if vs := verdict.Violations; len(vs) != 1 || vs[0].Subject.Name != "self" || vs[0].Saw != "1 of 4 bytes changed, version 0 -> 0" {
		t.Errorf("%v", vs)
	}
}
