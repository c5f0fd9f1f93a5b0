package work

import (
	"fmt"
	"slices"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
	"github.com/opassert/opassert/asserts/suite/report"
)

// A thrownCall is a call that threw after it had written to its tensors, or may have.
type thrownCall struct {
	c       *sample.Case
	message string
	seen    asserts.Seen
	unseen  string // the reason why its tensors could not be compared
}

// threw notes a call that threw, if what it was given has changed or can't be compared.
func (r *Runner) threw(t *Target, m *maker, c *sample.Case, err error) {
	message, isThrown := engine.Message(err)
	if r.Level < asserts.Content || !isThrown || dispatched(message) || len(t.unthrown.Checks) == 0 {
		return
	}
	before, after, unseen := r.changed(m, c)
	switch {
	case unseen != "":
		t.threw = append(t.threw, &thrownCall{unseen: unseen})
	case before != nil:
		t.threw = append(t.threw, &thrownCall{c: c, message: message, seen: t.seen(c, before, after)})
	}
}

// changed returns the tensors of a call as they were and as they are, or nothing where
// they are the same. What it was given is made once more, to be compared with.
func (r *Runner) changed(m *maker, c *sample.Case) (before, after []asserts.Observation, unseen string) {
	if !c.Plain() {
		return nil, nil, "the call threw, and a tensor is not plain"
	}
	again := maker{engine: r.Engine, room: &r.room}
	defer again.release()
	if _, err := again.args(c); err != nil {
		return nil, nil, "the call threw, and its arguments could not be made again"
	}
	before, after = r.looks(again.tensors), r.looks(m.tensors)
	same := true
	for i := range after {
		b, a := &before[i], &after[i]
		switch {
		case a.Content == nil:
			return nil, nil, "the call threw, and the bytes of a tensor are not observed"
		case a.Content.Nbytes != b.Content.Nbytes || !slices.Equal(a.Content.Strides, b.Content.Strides):
			return nil, nil, "the call threw, and a tensor has other strides or another storage"
		}
		same = same && b.Content.Digest == a.Content.Digest
		made := *b.Content // where the other one lies
		made.Memory, made.Counter, made.Owner, made.Grad = a.Content.Memory, a.Content.Counter, a.Content.Owner, a.Content.Grad
		version := b.Version
		*b = *a
		b.Version, b.Content = version, &made
	}
	if same {
		return nil, nil, ""
	}
	return before, after, ""
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

// judgeThrown adds what a call that threw had done wrong before, or counts that it
// could not be judged.
func (r *Runner) judgeThrown(t *Target, w *thrownCall, result *report.Case) {
	on := r.Engine.Devices()[0]
	if w.unseen != "" {
		skips := []asserts.Skip{{Code: asserts.UndeclaredWrite, Reason: w.unseen, Count: 1}}
		result.Devices.Add(report.Devices{on: {Skips: skips}})
		return
	}
	w.seen.Number()
	verdict := asserts.Judge(t.unthrown, &w.seen, r.Policy)
	for _, f := range t.findings(verdict.Violations, result, on) {
		f.Violation.Saw += fmt.Sprintf(", and then it threw: %s", sample.Clip(w.message))
		if !slices.ContainsFunc(result.Found, f.SameFault) {
			result.Found = append(result.Found, r.finding(t, w.c, f, result.Case))
		}
	}
}
