package asserts_test

import (
	"slices"
	"testing"

	"github.com/opassert/opassert/asserts"
)

// Writes of a call that threw are judged, its returns are not.
func TestThrown(t *testing.T) {
	op := opOf("f(Tensor self, Tensor(a!) other) -> Tensor(a!)")
	asserts.Judge(op, &asserts.Seen{}, asserts.Aware()) // to make its plan
	thrown := op.Thrown()
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
