package work

import (
	"fmt"
	"slices"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
	"github.com/opassert/opassert/asserts/suite/report"
)

// A thrownCall is a call that threw after it had written to its tensors.
type thrownCall struct {
	c       *sample.Case
	message string
	seen    asserts.Seen
}

// threw notes a call that threw, if what it was given has changed. What it was given
// is made once more, to be compared with.
func (r *Runner) threw(t *Target, m *maker, c *sample.Case, err error) {
	message, isThrown := engine.Message(err)
	if r.Level < asserts.Content || !isThrown || dispatched(message) || !c.Plain() {
		return
	}
	again := maker{engine: r.Engine, room: &r.room}
	defer again.release()
	if _, err := again.args(c); err != nil {
		return
	}
	before, after := r.looks(again.tensors), r.looks(m.tensors)
	changed := false
	for i := range after {
		b, a := &before[i], &after[i]
		if a.Content == nil || a.Content.Nbytes != b.Content.Nbytes || !slices.Equal(a.Content.Strides, b.Content.Strides) {
			return // or it may be another tensor, on a storage of its own
		}
		changed = changed || b.Content.Digest != a.Content.Digest
		made := *b.Content // where the other one lies
		made.Memory, made.Counter, made.Owner, made.Grad = a.Content.Memory, a.Content.Counter, a.Content.Owner, a.Content.Grad
		version := b.Version
		*b = *a
		b.Version, b.Content = version, &made
	}
	if changed {
		t.threw = append(t.threw, &thrownCall{c, message, t.seen(c, before, after)})
	}
}

func (r *Runner) looks(ts []engine.Tensor) []asserts.Observation {
	var all []asserts.Observation
	for _, t := range ts {
		all = append(all, slices.Concat(r.Engine.Look(t), []asserts.Observation{{}})[0])
	}
	return all
}

// seen sorts the tensors of a case by the arguments that are subjects of checks.
func (t *Target) seen(c *sample.Case, before, after []asserts.Observation) asserts.Seen {
	seen := asserts.Seen{Level: asserts.Content, ResultLens: make([]int, len(t.unthrown.Results))}
	at := 0
	for i, arg := range t.operator.Schema.Func.Args {
		n := len(c.Args[i].AppendTensors(nil))
		at += n
		if !arg.Type.IsTensorLike() {
			continue
		}
		seen.Before, seen.After = append(seen.Before, before[at-n:at]...), append(seen.After, after[at-n:at]...)
		if n == 0 && c.Args[i].Kind != sample.ListValue {
			seen.Before, seen.After = append(seen.Before, asserts.Observation{}), append(seen.After, asserts.Observation{})
			n = 1
		}
		seen.ArgLens = append(seen.ArgLens, n)
	}
	return seen
}

// judgeThrown adds what a call that threw had done wrong before.
func (r *Runner) judgeThrown(t *Target, w *thrownCall, result *report.Case) {
	w.seen.Number()
	verdict := asserts.Judge(t.unthrown, &w.seen, r.Policy)
	for _, f := range t.findings(verdict.Violations, result, r.Engine.Devices()[0]) {
		f.Violation.Saw += fmt.Sprintf(", and then it threw: %s", sample.Clip(w.message))
		if !slices.ContainsFunc(result.Found, f.SameFault) {
			result.Found = append(result.Found, r.finding(t, w.c, f, result.Case))
		}
	}
}
