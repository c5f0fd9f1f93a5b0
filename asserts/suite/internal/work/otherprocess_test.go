package work

import (
	"strings"
	"testing"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/internal/probe"
)

// The first reproducible call of an op of a library is handed over once; a process that has not run
// the op repeats it, and compares the results.
func TestApart(t *testing.T) {
	result := func(value func(arg *fakeTensor) byte) func(*fakeEngine, []any) ([]any, error) {
		return func(e *fakeEngine, args []any) ([]any, error) {
			out := e.like(first(args))
			(*out.data)[0] = value(first(args))
			return []any{out}, nil
		}
	}
	right := func() func(*fakeEngine, []any) ([]any, error) {
		return result(func(arg *fakeTensor) byte { return (*arg.data)[0] })
	}
	firstWins := func() func(*fakeEngine, []any) ([]any, error) {
		var kept *byte
		return result(func(arg *fakeTensor) byte {
			if kept == nil {
				value := (*arg.data)[0]
				kept = &value
			}
			return *kept
		})
	}
	counts := func() func(*fakeEngine, []any) ([]any, error) {
		calls := byte(0)
		return result(func(*fakeTensor) byte { calls++; return calls })
	}
	throws := func() func(*fakeEngine, []any) ([]any, error) {
		calls := 0
		return func(e *fakeEngine, args []any) ([]any, error) {
			if calls++; calls > 1 {
				return nil, &engine.Thrown{Message: "no"}
			}
			return right()(e, args)
		}
	}
	const stale = "1 of 4 bytes of result depend on the values of an earlier call"
	for _, tt := range []struct {
		name, arg string
		kernel    func() func(*fakeEngine, []any) ([]any, error) // of a process
		change    func(*bench)
		through   bool              // the call is one through autograd
		found     []*report.Finding // of the call
		handed    bool
		want      string // found where it is made apart
	}{
		{name: "right", kernel: right, handed: true},
		{name: "the first call wins", kernel: firstWins, handed: true, want: stale},
		{name: "of a Go function", kernel: firstWins, change: func(b *bench) { b.t.operator.Added, b.t.operator.Function = false, new(engine.GoFunction) }, handed: true, want: stale},
		{name: "complex", kernel: firstWins, arg: "complex64[1]", handed: true, want: "1 of 8 bytes of result depend on the values of an earlier call"},
		{name: "another violation", kernel: firstWins, found: []*report.Finding{{Violation: &asserts.Violation{Code: asserts.FreshImpl}}}, handed: true, want: stale},
		{name: "of PyTorch", kernel: firstWins, change: func(b *bench) { b.t.operator.Added = false }},
		{name: "tagged as random", kernel: firstWins, change: func(b *bench) { b.t.operator.Schema.Tags = []string{"nondeterministic_seeded"} }},
		{name: "leaves memory", kernel: firstWins, change: func(b *bench) { b.t.operator.Schema.Func.Name.Base = "empty" }},
		{name: "through autograd", kernel: firstWins, through: true},
		{name: "level identity", kernel: firstWins, change: func(b *bench) { b.Level = asserts.Identity }},
		{name: "constant values", kernel: firstWins, arg: "float32[1] const:3"},
		{name: "whole numbers", kernel: firstWins, arg: "int32[1]"},
		{name: "not reproducible", kernel: counts},
		{name: "throws", kernel: throws},
		{name: "explained", kernel: firstWins, found: []*report.Finding{{Violation: &asserts.Violation{Code: asserts.UninitialisedResult}}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			process := func() *bench {
				b := benchOf(t, "ns::f(Tensor a) -> Tensor", tt.kernel(), func(o *engine.Operator, _ *engine.Checks) { o.Added = true }, "")
				if tt.change != nil {
					tt.change(b)
				}
				return b
			}
			if tt.arg == "" {
				tt.arg = "float32[1]"
			}
			b, handed := process(), []*Calls(nil)
			b.t.Apart = func(calls *Calls) { handed = append(handed, calls) }
			c := b.call(t, tt.arg)
			a := b.attempt(c)
			a.calls[0].seen.Autograd = tt.through
			b.queueForOtherProcess(b.t, a, tt.found)
			longer := b.call(t, strings.Replace(tt.arg, "[1]", "[2]", 1))
			b.queueForOtherProcess(b.t, &attempt{c: longer, calls: []deviceCall{{seen: &asserts.Seen{Autograd: tt.through}}}}, tt.found)
			if len(handed) != map[bool]int{true: 1}[tt.handed] {
				t.Fatalf("%d calls are handed over", len(handed))
			}
			if !tt.handed {
				return
			}
			var shown report.CaseResult
			other := process()
			handed[0].Made[0] = handed[0].Made[1]
			other.CallApart(other.t, handed[0], &shown)
			got := ""
			for _, f := range shown.Found {
				got, _, _ = strings.Cut(f.Violation.Saw, ":")
				if f.Violation.Code != asserts.NondeterministicResult || f.Violation.Symptom != asserts.EarlierValues || f.Violation.Fix == "" || f.Earlier != "" {
					t.Errorf("%+v", f.Violation)
				}
			}
			if got != tt.want {
				t.Errorf("found %q, want %q", got, tt.want)
			}
			if b.e.live+other.e.live > 0 {
				t.Errorf("%d and %d tensors are left", b.e.live, other.e.live)
			}
		})
	}
}

// Calls are made in order, each with new tensors. Without an earlier observation nothing is compared, and a
// call that throws is skipped.
func TestCallApart(t *testing.T) {
	var given []byte
	throws := false
	b := benchOf(t, "ns::f(Tensor a) -> Tensor", func(e *fakeEngine, args []any) ([]any, error) {
		given = append(given, (*first(args).data)[0])
		if throws {
			return nil, &engine.Thrown{Message: "no"}
		}
		return copies(e, args)
	}, func(o *engine.Operator, _ *engine.Checks) { o.Added = true }, "")
	var shown report.CaseResult
	c := b.call(t, "float32[1]")
	calls := &Calls{Made: []Call{{c, 1}, {c, 0}, {c, 1}}}
	b.CallApart(b.t, calls, &shown)
	if len(given) != 3 || given[0] == given[1] || given[0] != given[2] || calls.Last.Seen == nil || len(shown.Found)+len(shown.Devices[engine.CPU].Skips) > 0 {
		t.Errorf("given are %v, seen is %v, said is %+v", given, calls.Last.Seen, shown)
	}
	throws = true
	b.CallApart(b.t, calls, &shown)
	if skips := shown.Devices[engine.CPU].Skips; calls.Last.Seen != nil || len(skips) != 1 || skips[0] != throwsApart {
		t.Errorf("seen is %v, left out %v", calls.Last.Seen, skips)
	}
}

// Tensors of a call lie where those of the previous one were; other calls have memory of their own again.
func TestCallApartReuses(t *testing.T) {
	var w *watchingEngine
	reused := 0
	b := benchOf(t, "ns::f(Tensor a) -> Tensor", func(e *fakeEngine, args []any) ([]any, error) {
		if w.reuses && w.fill == probe.First.Fill && e.live == 1 {
			reused++
		}
		return copies(e, args)
	}, func(o *engine.Operator, _ *engine.Checks) { o.Added = true }, "")
	w = &watchingEngine{fakeEngine: b.e}
	b.Engine = w
	c := b.call(t, "float32[1]")
	if b.CallApart(b.t, &Calls{Made: []Call{{c, 1}, {c, 0}}}, new(report.CaseResult)); reused != 2 {
		t.Errorf("%d calls reuse memory", reused)
	}
	if b.seenAgain(b.t, c, probe.First); reused != 2 || w.reuses {
		t.Error("another call reuses memory")
	}
	b.t.Apart, b.t.aligned = func(*Calls) {}, true
	if b.queueForOtherProcess(b.t, b.attempt(c), nil); reused != 4+probe.Often || !w.aligned {
		t.Errorf("%d calls reuse memory in the worker, and before; aligned: %v", reused, w.aligned)
	}
}

// A result that differs between the first call of a process and the same call after it is a note of its own.
func TestFirstCall(t *testing.T) {
	for name, tt := range map[string]struct {
		made []int // the turn of each call
		want asserts.Symptom
	}{"one call": {[]int{0}, asserts.FirstCall}, "two calls": {[]int{1, 0}, asserts.EarlierValues}} {
		other := byte(9)
		b := benchOf(t, "ns::f(Tensor a) -> Tensor", func(e *fakeEngine, args []any) ([]any, error) {
			out := e.like(first(args))
			(*out.data)[0] = other
			return []any{out}, nil
		}, func(o *engine.Operator, _ *engine.Checks) { o.Added = true }, "")
		c := b.call(t, "float32[1]")
		calls := &Calls{}
		for _, turn := range tt.made {
			calls.Made = append(calls.Made, Call{c, turn})
		}
		var shown report.CaseResult
		if b.CallApart(b.t, calls, &shown); len(shown.Found) > 0 {
			t.Fatalf("%s: without an observation, found %+v", name, shown.Found[0].Violation)
		}
		other = 8
		if b.CallApart(b.t, calls, &shown); len(shown.Found) != 1 || shown.Found[0].Violation.Symptom != tt.want {
			t.Errorf("%s: found %+v", name, shown.Found)
		}
	}
}
