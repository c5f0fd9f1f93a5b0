package work

import (
	"slices"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/asserts/suite/compare"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
)

// fakeOf returns the call of an op's fake with the arguments of a case, if the engine has fakes and
// the level requires it. Cases whose tensors differ only in contents share one.
func (r *Runner) fakeOf(t *Target, c *sample.Case) *fakeCall {
	f, ok := r.Engine.(engine.FakeCaller)
	if !ok || r.Level < asserts.Meta {
		return nil
	}
	if t.noFake != "" {
		return &fakeCall{why: t.noFake}
	}
	return r.sharedCall(t, c, engine.Fake, "fake", func(args []any) *fakeCall {
		seen, why := f.Fake(t.judged, args)
		return &fakeCall{seen: seen, why: why}
	})
}

// sharedCall returns the result of a call other than of the op's kernels, made once for each shape of its arguments.
func (r *Runner) sharedCall(t *Target, c *sample.Case, on engine.Device, name string,
	call func(args []any) *fakeCall) *fakeCall {
	key := fakeCallKey{on, shape(c)}
	if t.fakeCalls[key] == nil {
		t.fakeCalls[key] = r.callBeside(t, c, on, name, call)
	}
	return t.fakeCalls[key]
}

// shape returns the part that is equal for cases whose tensors differ only in contents.
func shape(c *sample.Case) string {
	like := c.Clone()
	for _, spec := range like.Tensors() {
		spec.Fill, spec.Values = sample.Fill{}, nil
	}
	return like.String()
}

// callBeside makes the arguments again: the kernel may have changed its own.
func (r *Runner) callBeside(t *Target, c *sample.Case, on engine.Device, name string,
	call func(args []any) *fakeCall) *fakeCall {
	switch {
	case slices.Contains(t.Without, on):
		return &fakeCall{why: "a call of the op's " + name + " ended its process"}
	case !c.Plain():
		return &fakeCall{why: "a tensor is not plain"}
	case on == engine.Fake && slices.ContainsFunc(c.Args,
		func(v sample.Value) bool { return v.Kind == sample.StorageValue }):
		return &fakeCall{why: "a storage has no fake"}
	}
	m := maker{engine: r.Engine, room: &r.room}
	defer m.release()
	_, args, err := m.made(c)
	if err != nil {
		return &fakeCall{why: "no arguments: " + sample.Clip(err.Error())}
	}
	if t.Twinning != nil {
		t.Twinning(on)
	}
	return call(args)
}

func (r *Runner) judgeFake(t *Target, a *attempt, result *report.CaseResult) []*report.Finding {
	var tally report.Tally
	if a.fake.seen == nil {
		tally.Uncalled = map[string]int{a.fake.why: 1}
		result.Devices[engine.Fake] = tally
		return nil
	}
	verdict := compare.Fakes(t.judged, a.calls[0].seen, a.fake.seen, r.Policy)
	tally.AddVerdict(verdict)
	result.Devices[engine.Fake] = tally
	return t.findings(verdict.Violations, result, a.calls[0].on, engine.Fake)
}

// judgeDevice judges the devices of the first call's returns, except those with another violation.
// On the CPU it does so only for a library's ops.
func (r *Runner) judgeDevice(t *Target, a *attempt, known []*report.Finding,
	result *report.CaseResult) []*report.Finding {
	if r.Level < asserts.Meta || a.calls[0].on == engine.CPU && !t.operator.Added {
		return nil
	}
	var fake *compare.Fake
	if a.fake != nil {
		fake = a.fake.seen
	}
	var devices []string
	for _, v := range a.calls[0].args {
		if d, is := v.(engine.Device); is {
			devices = append(devices, string(d))
		}
	}
	verdict := compare.Devices(t.judged, a.calls[0].seen, fake, devices, r.Policy)
	return slices.DeleteFunc(t.findings(verdict.Violations, result, a.calls[0].on), func(f *report.Finding) bool {
		return slices.ContainsFunc(known, f.SameFault)
	})
}
