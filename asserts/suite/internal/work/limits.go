package work

import (
	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/internal/design"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
)

// Fail records how a case of an op failed.
func (r *Runner) Fail(c *report.CaseResult, op string, err error) {
	if err != nil {
		text, _ := engine.Message(err)
		c.Error, c.Beyond = sample.Clip(err.Error()), r.beyond(op, text)
	}
}

// Forget drops the readings of the op's errors and the state that its calls changed: the same error
// may have another meaning for the next op.
func (r *Runner) Forget() {
	r.readings = nil
	r.left()
}

func (r *Runner) beyond(op, text string) string {
	why, known := r.readings[text]
	if known {
		return why
	}
	if e, ok := r.Engine.(engine.Limited); ok {
		why = e.Unavailable(op, text)
	}
	if why == "" && design.Lost(text) {
		why = "by its kernel's error, this build lacks a requirement, or the op was removed"
	}
	if r.readings == nil || len(r.readings) >= design.MostCached {
		r.readings = make(map[string]string)
	}
	r.readings[text] = why
	return why
}
