package work

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
	"github.com/opassert/opassert/internal/dev/must"
)

// A ruledEngine has rules, and calls that change more than tensors.
type ruledEngine struct {
	*fakeEngine
	without bool // no rules
	why     string
	rules   []asserts.Fault
	changed []asserts.Fault
	calls   int
	other   bool   // settings
	set     []bool // them, in this order
	refuses error
}

func (e *ruledEngine) HasRules(*asserts.Op) bool { return !e.without }

func (e *ruledEngine) Rules(*asserts.Op, []any) ([]asserts.Fault, string) {
	e.calls++
	return e.rules, e.why
}

func (e *ruledEngine) RestoreState() []asserts.Fault {
	defer func() { e.changed = nil }()
	return e.changed
}

func (e *ruledEngine) OtherSettings(other bool) error {
	e.other, e.set = other && e.refuses == nil, append(e.set, other)
	return e.refuses
}

// A kernel that leaves a setting at the value that it has usually is called once with others, and is that of a library.
func TestOtherSettings(t *testing.T) {
	for _, tt := range []struct {
		name    string
		healthy bool
		owns    bool // PyTorch has the op
		refuses error
		want    string
		set     []bool
	}{
		{name: "sets", want: "OA009 the process on cpu", set: []bool{true, false}},
		{name: "restores", healthy: true, set: []bool{true, false}},
		{name: "PyTorch's own", owns: true},
		{name: "refused", refuses: errOurs, set: []bool{true, true}},
	} {
		e := &ruledEngine{without: true, refuses: tt.refuses}
		kernel := func(of *fakeEngine, args []any) ([]any, error) {
			if e.other && !tt.healthy {
				e.changed = []asserts.Fault{{Code: asserts.UndeclaredWrite, Saw: "set"}}
			}
			return copies(of, args)
		}
		b := benchOf(t, "t::f(Tensor a) -> Tensor", kernel, func(o *engine.Operator, _ *engine.Checks) { o.Added = !tt.owns }, "")
		e.fakeEngine, b.Engine = b.e, e
		found, _ := b.judged(t, "float32[2]")
		again, _ := b.judged(t, "float32[3]")
		if got := words(append(found, again...)); got != tt.want || !slices.Equal(e.set, tt.set) {
			t.Errorf("%s: found %q, want %q; the settings are set %v, want %v", tt.name, got, tt.want, e.set, tt.set)
		}
	}
}

// The rules of an op are called once for arguments that differ only in contents, on plain tensors,
// and counted; their faults are findings, and so are changes by a call.
func TestRules(t *testing.T) {
	faults := []asserts.Fault{{Code: asserts.AutogradKernel, Saw: "raises"}}
	changed := []asserts.Fault{{Code: asserts.UndeclaredWrite, Saw: "printed"}}
	for _, tt := range []struct {
		name     string
		engine   ruledEngine
		args     []string
		apart    []engine.Device
		want     string
		uncalled map[string]int
		judged   int
		calls    int
	}{
		{name: "faults", engine: ruledEngine{rules: faults}, args: []string{"float32[2]", "float32[2] special"}, want: "OA014 result on cpu, rules", judged: 1, calls: 1},
		{name: "other sizes", engine: ruledEngine{rules: faults}, args: []string{"float32[2]", "float32[3]"}, want: "OA014 result on cpu, rules", judged: 1, calls: 2},
		{name: "right", args: []string{"float32[2]"}, judged: 1, calls: 1},
		{name: "not called", engine: ruledEngine{why: "no rules"}, args: []string{"float32[2]"}, uncalled: map[string]int{"no rules": 1}, calls: 1},
		{name: "none", engine: ruledEngine{without: true, rules: faults}, args: []string{"float32[2]"}},
		{name: "not plain", engine: ruledEngine{rules: faults}, args: []string{"float32[2] coo"}, uncalled: map[string]int{"a tensor is not plain": 1}},
		{name: "ended", engine: ruledEngine{rules: faults}, args: []string{"float32[2]"}, apart: []engine.Device{engine.Rules}, uncalled: map[string]int{"a call of the op's formula or rules ended its process": 1}},
		{name: "changed", engine: ruledEngine{without: true, changed: changed}, args: []string{"float32[2]"}, want: "OA009 the process on cpu"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t, "t::f(Tensor a) -> Tensor", copies)
			tt.engine.fakeEngine = b.e
			b.Engine, b.t.Without = &tt.engine, tt.apart
			var found []*report.Finding
			var c report.CaseResult
			for _, arg := range tt.args {
				found, c = b.judged(t, arg)
			}
			tally := c.Devices[engine.Rules]
			if got := words(found); got != tt.want {
				t.Errorf("found %q, want %q", got, tt.want)
			}
			if diff := cmp.Diff(tt.uncalled, tally.Uncalled); diff != "" {
				t.Error(diff)
			}
			if n := tally.Judged[asserts.AutogradKernel]; n != tt.judged || tt.engine.calls != tt.calls {
				t.Errorf("judged %d, want %d; called %d times, want %d", n, tt.judged, tt.engine.calls, tt.calls)
			}
		})
	}
}

// Changes besides tensors are reported for the device whose kernel made them, and once if the CPU's
// makes the same.
func TestWhoChanges(t *testing.T) {
	for _, tt := range []struct {
		on   []engine.Device
		want string
	}{
		{[]engine.Device{"openreg"}, "OA009 the process on openreg"},
		{[]engine.Device{engine.CPU}, "OA009 the process on cpu"},
		{[]engine.Device{engine.Meta}, "OA009 the process on meta"},
		{[]engine.Device{"openreg", engine.CPU}, "OA009 the process on openreg"},
	} {
		e := new(ruledEngine)
		b := newBench(t, "t::f(Tensor a) -> Tensor", func(fake *fakeEngine, args []any) ([]any, error) {
			if slices.Contains(tt.on, first(args).device) {
				e.changed = []asserts.Fault{{Code: asserts.UndeclaredWrite, Saw: "printed"}}
			}
			return copies(fake, args)
		})
		b.e.devices = []engine.Device{"openreg", engine.CPU, engine.Meta}
		e.fakeEngine, e.without = b.e, true
		b.Engine = e
		if found, _ := b.judged(t, "float32[2]"); words(found) != tt.want {
			t.Errorf("on %v found %q, want %q", tt.on, words(found), tt.want)
		}
	}
}

// Changes that calls of one op made are not reported of the next op.
func TestForgetChanges(t *testing.T) {
	b := newBench(t, "t::f(Tensor a) -> Tensor", copies)
	b.Engine = &ruledEngine{fakeEngine: b.e, without: true, changed: []asserts.Fault{{Code: asserts.UndeclaredWrite}}}
	b.Forget()
	if found, _ := b.judged(t, "float32[2]"); len(found) > 0 {
		t.Errorf("found %q of the op before", words(found))
	}
}

// A note about changed state names the last call that threw since the state was last checked.
func TestLeftByWhatThrew(t *testing.T) {
	throws := true
	b := newBench(t, "t::f(Tensor a) -> Tensor", func(e *fakeEngine, args []any) ([]any, error) {
		if throws {
			return nil, &engine.Thrown{Message: "no"}
		}
		return copies(e, args)
	})
	e := &ruledEngine{fakeEngine: b.e, without: true}
	b.Engine = e
	said := func() (all string) {
		e.changed = []asserts.Fault{{Code: asserts.UndeclaredWrite, Saw: "printed"}}
		for _, f := range must.Get(b.Try(b.t, b.call(t, "float32[2]")))(t).calls[0].left {
			all += f.Saw
		}
		return all
	}
	if _, err := b.Try(b.t, b.call(t, "float32[3]")); err == nil {
		t.Fatal("the call returned")
	}
	throws = false
	if got, want := said(), "printed; an earlier call may have left it: t::f(a=float32[3])"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := said(); got != "printed" {
		t.Errorf("got %q of a call after one that returned", got)
	}
}

// A change by a call with another number, which is not judged, is reported of the next call, once.
func TestLeftByQuery(t *testing.T) {
	e := new(ruledEngine)
	b := newBench(t, "t::f(Tensor a, int b=1) -> Tensor", func(fake *fakeEngine, args []any) ([]any, error) {
		if args[1] != int64(1) {
			e.changed = []asserts.Fault{{Code: asserts.UndeclaredWrite, Saw: "printed"}}
		}
		return copies(fake, args)
	})
	e.fakeEngine, e.without, b.Engine = b.e, true, e
	c := b.call(t, "float32[2]", "1")
	var saw []string
	for _, b.unjudged = range []*sample.Case{nil, c} {
		b.useNontrivialNumber(b.t, []*sample.Case{c.Clone()}, 1)
		found, _ := b.judged(t, "float32[2]", "1")
		for _, f := range found {
			saw = append(saw, f.Violation.Saw)
		}
	}
	const left = "printed; an earlier call may have left it: t::f(a=float32[2], b="
	if want := []string{left + "3)", left + "1)"}; !slices.Equal(saw, want) {
		t.Errorf("saw %q, want %q", saw, want)
	}
}
