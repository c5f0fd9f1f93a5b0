package work

import (
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
	"github.com/opassert/opassert/asserts/suite/report"
)

// A made call is what came of a case, for those that make the same call: many classes set
// what a call has already, and errors ask for the same again.
type made struct {
	c      *sample.Case
	err    error       // it threw
	result report.Case // it ran
}

// A callKey is what cases with the same call have in common.
type callKey struct {
	ahead bool // as of arrange
	call  string
}

// once is Try, unless the call was made: then it returns its error, or an attempt without calls.
func (r *Runner) once(t *Target, c *sample.Case) (*attempt, error) {
	key := callKey{r.ahead(c), c.Key()}
	if before := t.made[key]; before != nil && before.err != nil {
		return nil, before.err
	} else if before != nil {
		return &attempt{c: before.c, lacks: before.result.Lacks, before: before}, nil
	}
	a, err := r.Try(t, c)
	if err == nil {
		a.key = key
	} else if _, thrown := engine.Message(err); thrown {
		t.made[key] = &made{c: c, err: err}
	}
	return a, err
}

// ranOnce judges an attempt, or adds to the result of its case what the call showed before.
func (r *Runner) ranOnce(t *Target, a *attempt, result *report.Case) {
	if a.before == nil {
		shown := report.Case{Case: result.Case}
		r.ran(t, a, &shown)
		r.uneven(t, a.c, &shown)
		a.before = &made{c: a.c, result: shown}
		t.made[a.key] = a.before
	}
	before := &a.before.result
	result.Ran, result.Lacks, result.Waived, result.Writes = true, before.Lacks, before.Waived, before.Writes
	result.Devices.Add(before.Devices)
	for _, f := range before.Found {
		again := *f
		result.Found = append(result.Found, &again)
	}
}
