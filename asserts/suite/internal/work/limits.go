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

// Forget drops the state that calls of the op before changed.
func (r *Runner) Forget() { r.left(); r.queried = nil }

// beyond returns why no arguments avoid an error of an op, or "".
func (r *Runner) beyond(op, text string) string {
	if e, ok := r.Engine.(engine.Limited); ok {
		if why := e.Unavailable(op, text); why != "" {
			return why
		}
	}
	if design.Lost(text) {
		return "by its kernel's error, this build lacks a requirement, or the op was removed"
	}
	return ""
}
