package watch

import (
	"testing"

	"github.com/opassert/opassert/asserts"
)

// The expectation of a subject has its checks in the plan that are not waived, with
// the arguments and returns that they compare it with.
func TestExpected(t *testing.T) {
	arg, result := asserts.ArgRef, asserts.ResultRef
	op := &asserts.Op{
		Args:    []asserts.Subject{{Name: "self", Write: true}, {Index: 2, Name: "others", List: true}},
		Results: []asserts.Subject{{Name: "result0"}, {Index: 1, Name: "result1"}},
		Checks: []asserts.Check{
			{Code: asserts.InputImpl, On: arg(0)},
			{Code: asserts.VersionBump, On: arg(0)},
			{Code: asserts.ReturnedSelf, On: result(0), Against: arg(0)},
			{Code: asserts.ViewStorage, On: result(1), Against: arg(1)},
			{Code: asserts.UndeclaredAlias, On: result(1), Against: arg(0)},
			{Code: asserts.OutputAlias, On: result(1), Against: result(0)},
		},
	}
	waived := asserts.CodesOf(asserts.VersionBump)
	for on, want := range map[asserts.Ref]subject{
		arg(0):    {write: 1, checks: 1 << asserts.InputImpl},
		arg(1):    {index: 2, list: 1},
		result(0): {checks: 1 << asserts.ReturnedSelf, selves: 1, allowed: 1},
		result(1): {index: 1, checks: 1<<asserts.ViewStorage | 1<<asserts.UndeclaredAlias | 1<<asserts.OutputAlias, bases: 2, others: 1, peers: 1, allowed: 2},
	} {
		if got := *expected(op, waived, on); got != want {
			t.Errorf("%s: %+v, want %+v", op.Subject(on).Name, got, want)
		}
	}
	unshared := &asserts.Op{Results: make([]asserts.Subject, 2), Checks: []asserts.Check{{Code: asserts.OutputAlias, On: result(0), Against: result(1)}}}
	if got := expected(unshared, 0, result(0)).peers; got != 2 {
		t.Errorf("the peers are %b, want 10", got)
	}
}
