package watch

import (
	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/internal/usual"
)

// expect returns what usual.h tests the calls of an op against: the checks of
// its plan, those that are waived left out, subject by subject.
func expect(op *asserts.Op, waived asserts.Codes) []int64 {
	e := []int64{int64(len(op.Args)), int64(len(op.Results))}
	for i := range op.Args {
		e = append(e, expected(op, waived, asserts.ArgRef(i))...)
	}
	for i := range op.Results {
		e = append(e, expected(op, waived, asserts.ResultRef(i))...)
	}
	return e
}

// expected returns the words of one Subject of usual.h.
func expected(op *asserts.Op, waived asserts.Codes, on asserts.Ref) []int64 {
	var checks, bases, selves, others, peers int64
	sets := map[usual.Facts]*int64{usual.OnArgument: &bases, usual.IsArgument: &selves, usual.OffArguments: &others, usual.OffReturns: &peers}
	for _, c := range op.Plan() {
		if c.On != on || waived.Has(c.Code) {
			continue
		}
		checks |= 1 << c.Code
		for fact, set := range sets {
			if c.Code.Usual().Has(fact) {
				*set |= member(c.Against)
			}
		}
	}
	s := op.Subject(on)
	return []int64{int64(s.Index), truth(s.List), truth(s.Write), checks, bases, selves, others, peers, bases | selves}
}

func member(r asserts.Ref) int64 {
	i, ok := r.Arg()
	if !ok {
		i, _ = r.Result()
	}
	return 1 << (i & 63)
}
