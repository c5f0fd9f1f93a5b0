package watch

import (
	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/internal/usual"
)

// expect returns the checks of an op's plan, except waived ones, by subject, for the tests in usual.cpp.
func expect(op *asserts.Op, waived asserts.Codes) []int64 {
	e := (&expectation{int64(len(op.Args)), int64(len(op.Results))}).words()
	for i := range op.Args {
		e = append(e, expected(op, waived, asserts.ArgRef(i)).words()...)
	}
	for i := range op.Results {
		e = append(e, expected(op, waived, asserts.ResultRef(i)).words()...)
	}
	return e
}

func expected(op *asserts.Op, waived asserts.Codes, on asserts.Ref) *subject {
	of := op.Subject(on)
	s := &subject{index: int64(of.Index), list: truth(of.List), write: truth(of.Write)}
	sets := map[usual.Facts]*int64{usual.OnArgument: &s.bases, usual.IsArgument: &s.selves,
		usual.OffArguments: &s.others, usual.OffReturns: &s.peers}
	for _, c := range op.Plan() {
		if c.On != on || waived.Has(c.Code) {
			continue
		}
		s.checks |= 1 << c.Code
		for fact, set := range sets {
			if c.Code.Usual().Has(fact) {
				*set |= member(c.Against)
			}
		}
	}
	s.allowed = s.bases | s.selves
	return s
}

func member(r asserts.Ref) int64 {
	argument, _ := r.Arg()
	result, _ := r.Result()
	return 1 << (max(argument, result) & 63) // the other is negative
}
