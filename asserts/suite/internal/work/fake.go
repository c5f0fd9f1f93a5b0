package work

import (
	"fmt"
	"slices"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
	"github.com/opassert/opassert/asserts/suite/report"
)

// A faker is an engine in which compilers plan with functions in the place of kernels.
type faker interface {
	// Fake calls that of an op, or says why there is no such call.
	Fake(op *asserts.Op, args []any) (*asserts.Fake, string)
}

// A fakeCall is the call of an op's fake.
type fakeCall struct {
	seen *asserts.Fake // nil: it was not made
	why  string        // it was not
}

// callFake calls the fake of an op, where the engine has fakes and the level asks for
// it, with the arguments of a case made anew: the kernel may have changed its own.
func (r *Runner) callFake(t *Target, c *sample.Case) *fakeCall {
	f, ok := r.Engine.(faker)
	switch {
	case !ok || r.Level < asserts.Meta:
		return nil
	case slices.Contains(t.Without, engine.Fake):
		return &fakeCall{why: "a call of the op's fake ended its process"}
	case !c.Plain():
		return &fakeCall{why: "a tensor that is not plain has no fake"}
	}
	m := maker{engine: r.Engine, room: &r.room}
	defer m.release()
	_, args, err := m.made(c)
	if err != nil {
		return &fakeCall{why: fmt.Sprintf("no arguments: %s", sample.Clip(err.Error()))}
	}
	if t.Twinning != nil {
		t.Twinning(engine.Fake)
	}
	seen, why := f.Fake(t.judged, args)
	return &fakeCall{seen, why}
}

// judgeFake holds the fake of an attempt against the first call.
func (r *Runner) judgeFake(t *Target, a *attempt, result *report.Case) []*report.Finding {
	var tally report.Tally
	if a.fake.seen == nil {
		tally.Uncalled = map[string]int{a.fake.why: 1}
		result.Devices[engine.Fake] = tally
		return nil
	}
	verdict := asserts.JudgeFake(t.judged, a.calls[0].seen, a.fake.seen, r.Policy)
	tally.AddVerdict(verdict)
	result.Devices[engine.Fake] = tally
	return t.findings(verdict.Violations, result, a.calls[0].on, engine.Fake)
}
