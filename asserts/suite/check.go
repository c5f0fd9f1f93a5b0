package suite

import "github.com/opassert/opassert/asserts"

// Check runs cases of one op in this process, for a caller whose kernels may
// take the process with them, as those of Go tests do.
func Check(engine Engine, cfg Config, o Operator, from, to int) (res *OpResult, err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case *LibraryFault:
			err = p
		default:
			panic(p)
		}
	}()
	res = newOpResult(o)
	if o.Missing != "" {
		return res, nil
	}
	book, err := shipped()
	if err != nil {
		return nil, err
	}
	r := &runner{engine: engine, level: cfg.Level, policy: asserts.Aware(), seed: cfg.Seed}
	t := newTarget(engine, o, cfg.Plan(o.Schema), book)
	err = r.cases(t, span{From: from, To: to}, func(int) {}, func(c *caseResult) error {
		res.add(c)
		return nil
	})
	res.settle()
	res.bound()
	return res, err
}
