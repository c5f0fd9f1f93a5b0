package work

import (
	"slices"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
	"github.com/opassert/opassert/asserts/suite/report"
)

// threw judges a call that threw by what it was given.
func (r *Runner) threw(t *Target, m *maker, c *sample.Case, err error) {
	message, isThrown := engine.Message(err)
	if r.Level < asserts.Content || !isThrown || dispatched(message) || len(t.unthrown.Checks) == 0 {
		return
	}
	before, after, unseen := r.compared(m, c)
	if unseen != "" {
		t.thrown(c, asserts.Verdict{Skips: []asserts.Skip{{Code: asserts.UndeclaredWrite, Reason: unseen, Count: 1}}}, message)
		return
	}
	seen := t.seen(c, before, after)
	seen.Number()
	t.thrown(c, asserts.Judge(t.unthrown, &seen, r.Policy), message)
}

// compared returns the tensors of a call as they were, which are made once more, and as
// they are, or the reason why these can't be compared.
func (r *Runner) compared(m *maker, c *sample.Case) (before, after []asserts.Observation, unseen string) {
	if !c.Plain() {
		return nil, nil, "the call threw, and a tensor is not plain"
	}
	again := maker{engine: r.Engine, room: &r.room}
	defer again.release()
	if _, err := again.args(c); err != nil {
		return nil, nil, "the call threw, and its arguments could not be made again"
	}
	before, after = r.looks(again.tensors), r.looks(m.tensors)
	for i := range after {
		b, a := &before[i], &after[i]
		switch {
		case a.Content == nil:
			return nil, nil, "the call threw, and the bytes of a tensor are not observed"
		case a.Content.Nbytes != b.Content.Nbytes || !slices.Equal(a.Content.Strides, b.Content.Strides):
			return nil, nil, "the call threw, and a tensor has other strides or another storage"
		}
		made := *b.Content // where the other one lies
		made.Memory, made.Counter, made.Owner, made.Grad = a.Content.Memory, a.Content.Counter, a.Content.Owner, a.Content.Grad
		version := b.Version
		*b = *a
		b.Version, b.Content = version, &made
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
		if n == 0 {
			seen.Before, seen.After = append(seen.Before, asserts.Observation{}), append(seen.After, asserts.Observation{})
			n = 1
		}
		seen.ArgLens = append(seen.ArgLens, n)
	}
	return seen
}

// addThrown adds what a call that threw had done wrong before, and counts what of it
// could not be judged.
func (r *Runner) addThrown(t *Target, w *thrownCall, result *report.Case) {
	on := r.Engine.Devices()[0]
	result.Devices.Add(report.Devices{on: {Skips: w.verdict.Skips}})
	for _, f := range t.findings(w.verdict.Violations, result, on) {
		if !slices.ContainsFunc(result.Found, f.SameFault) {
			result.Found = append(result.Found, r.finding(t, w.c, f, result.Case))
		}
	}
}
