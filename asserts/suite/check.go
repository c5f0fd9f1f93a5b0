package suite

import (
	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/internal/design"
	"github.com/opassert/opassert/asserts/suite/internal/work"
)

// Check runs cases of one op in this process, for a caller whose kernels may end the process, as in Go tests.
func Check(e engine.Engine, cfg Config, o engine.Operator, from, to int) (res *report.OpResult, err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case *engine.LibraryFault:
			err = p
		default:
			panic(p)
		}
	}()
	res = report.NewOpResult(o)
	if o.Missing != "" {
		return res, nil
	}
	book, err := design.Shipped()
	if err != nil { //mutate:equivalent false: the package's own recipes are valid
		return nil, err
	}
	r := cfg.runner(e)
	t := work.NewTarget(e, o, cfg.Plan(o.Schema), book)
	err = r.Cases(t, work.Span{From: from, To: to}, func(int) {}, func(c *report.CaseResult) error {
		res.Add(c)
		return nil
	})
	res.Settle()
	res.Bound()
	return res, err
}
