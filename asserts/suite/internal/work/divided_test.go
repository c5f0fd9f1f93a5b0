package work

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
	"github.com/opassert/opassert/internal/dev/must"
	"github.com/opassert/opassert/internal/tensor"
)

// A dividingEngine has threads.
type dividingEngine struct {
	*fakeEngine
	threads int
	refuses int // number of threads that it refuses
	server  int
	spent   time.Duration
	left    []asserts.Fault // from calls with two threads
}

func (e *dividingEngine) Server() int { return e.server }

func (e *dividingEngine) RestoreState() []asserts.Fault {
	if e.threads == 2 {
		return e.left
	}
	return nil
}

func (e *dividingEngine) CPUTime() time.Duration { return e.spent }

func (e *dividingEngine) Threads(count int) error {
	if count == e.refuses {
		return errOurs
	}
	e.threads = count
	return nil
}

// dividingBench has an op of a library whose result depends on the engine as a test defines.
func dividingBench(t *testing.T, follows func(e *dividingEngine, x *fakeTensor) (byte, error)) (*bench, *dividingEngine) {
	var e *dividingEngine
	kernel := func(_ *fakeEngine, args []any) ([]any, error) {
		value, err := follows(e, first(args))
		if err != nil {
			return nil, err
		}
		return []any{e.tensor(engine.Dense{DType: "uint8", Data: []byte{value}}, engine.Strided, first(args).device)}, nil
	}
	b := benchOf(t, "ns::f(Tensor a, Tensor b, int n) -> Tensor", kernel, func(o *engine.Operator, _ *engine.Checks) { o.Added = true }, "")
	e = &dividingEngine{fakeEngine: b.e, threads: 1}
	b.Engine, b.Level = e, asserts.Content
	return b, e
}

// divided returns the evidence of a call's fault, and the call.
func (b *bench) divided(t *testing.T, args ...string) (saw, call string) {
	t.Helper()
	result := report.CaseResult{Devices: make(report.Devices)}
	b.ranOnce(b.t, must.Get(b.Try(b.t, b.call(t, args...)))(t), &result)
	for _, f := range result.Found {
		races := strings.HasSuffix(f.Violation.Saw, " differ between two calls with two threads")
		if f.Violation.Code != asserts.NondeterministicResult || (f.Violation.Symptom == asserts.Races) != races || !races && f.Violation.Symptom != asserts.Threads || f.Violation.Note == "" {
			t.Errorf("found %v, note %q", f.Violation, f.Violation.Note)
		}
		saw, call = saw+f.Violation.Saw, f.Call
	}
	return saw, call
}

// A change that a call with two threads leaves is found.
func TestDividesLeaves(t *testing.T) {
	b, e := dividingBench(t, func(*dividingEngine, *fakeTensor) (byte, error) { return 1, nil })
	e.left = []asserts.Fault{{Code: asserts.UndeclaredWrite, Saw: "one thread is left", Note: "it may"}}
	result := report.CaseResult{Devices: make(report.Devices)}
	b.ranOnce(b.t, must.Get(b.Try(b.t, b.call(t, "uint8[3]", "uint8[3]", "1")))(t), &result)
	if len(result.Found) != 1 || result.Found[0].Violation.Saw != "one thread is left" {
		t.Errorf("found %v", result.Found)
	}
}

// A result that depends on the number of threads is a note of the call with tensors that are worth
// dividing, if the kernel accepts some.
func TestDivides(t *testing.T) {
	threads := func(e *dividingEngine, _ *fakeTensor) (byte, error) { return byte(e.threads), nil }
	number := byte(0)
	counts := func(*dividingEngine, *fakeTensor) (byte, error) { number++; return number, nil }
	nothing := func(*dividingEngine, *fakeTensor) (byte, error) { return 1, nil }
	no := &engine.Thrown{Message: "no"}
	ifSizes := func(takes func(sizes []int64) bool) func(*dividingEngine, *fakeTensor) (byte, error) {
		return func(e *dividingEngine, x *fakeTensor) (byte, error) {
			if !takes(x.spec.Sizes) {
				return 0, no
			}
			return byte(e.threads), nil
		}
	}
	slow := func(e *dividingEngine, x *fakeTensor) (byte, error) {
		if tensor.Numel(x.spec.Sizes) > worthDividing/16 {
			e.spent += soon
		}
		return byte(e.threads), nil
	}
	nearlySlow := func(e *dividingEngine, x *fakeTensor) (byte, error) {
		e.spent += soon - 1
		return byte(e.threads), nil
	}
	slept := func(e *dividingEngine, x *fakeTensor) (byte, error) {
		if tensor.Numel(x.spec.Sizes) > worthDividing/16 {
			time.Sleep(late)
		}
		return byte(e.threads), nil
	}
	calls := 0
	throwsIf := func(throws func(*dividingEngine) bool) func(*dividingEngine, *fakeTensor) (byte, error) {
		return func(e *dividingEngine, x *fakeTensor) (byte, error) {
			if throws(e) {
				return 0, no
			}
			return byte(e.threads), nil
		}
	}
	for _, tt := range []struct {
		name    string
		follows func(*dividingEngine, *fakeTensor) (byte, error)
		change  func(*bench, *dividingEngine)
		a, b    string
		want    string // the call
	}{
		{"threads", threads, nil, "uint8[3, 4]", "uint8[4]", "a=uint8[16387, 4], b=uint8[4]"},
		{"alike", threads, nil, "uint8[3, 4]", "uint8[3, 4]", "a=uint8[16387, 4], b=uint8[16387, 4]"},
		{"alike, and refused", ifSizes(func(s []int64) bool { return s[0] == 3 }), nil, "uint8[3, 4]", "uint8[3, 4]", "a=uint8[3, 4], b=uint8[3, 4]"},
		{"one vector", ifSizes(func(s []int64) bool { return len(s) == 1 }), nil, "uint8[5]", "none", "a=uint8[65541], b=None"},
		{"none of them", ifSizes(func(s []int64) bool { return tensor.Numel(s) == 12 }), nil, "uint8[3, 4]", "uint8[4]", "a=uint8[3, 4], b=uint8[4]"},
		{"a number", threads, nil, "uint8[]", "uint8[]", ""},
		{"one is empty", threads, nil, "uint8[0, 2]", "uint8[1]", "a=uint8[0, 2], b=uint8[65537]"},
		{"nothing to divide", threads, nil, "uint8[0, 2]", "uint8[0]", ""},
		{"not threads", nothing, nil, "uint8[3]", "uint8[3]", ""},
		{"each call another", counts, nil, "uint8[3]", "uint8[3]", ""},
		{"throws again", throwsIf(func(e *dividingEngine) bool { calls++; return calls > 4 }), nil, "uint8[3]", "uint8[3]", ""},
		{"throws with two", throwsIf(func(e *dividingEngine) bool { return e.threads == 2 }), nil, "uint8[3]", "uint8[3]", ""},
		{"none to have", threads, func(b *bench, e *dividingEngine) { b.Engine = e.fakeEngine }, "uint8[3]", "uint8[3]", ""},
		{"not two", threads, func(_ *bench, e *dividingEngine) { e.refuses = 2 }, "uint8[3]", "uint8[3]", ""},
		{"not one again", threads, func(_ *bench, e *dividingEngine) { e.refuses = 1 }, "uint8[3]", "uint8[3]", ""},
		{"of PyTorch", threads, func(b *bench, _ *dividingEngine) { b.t.operator.Added = false }, "uint8[3]", "uint8[3]", ""},
		{"in another process", threads, func(_ *bench, e *dividingEngine) { e.server = 7 }, "uint8[3]", "uint8[3]", ""},
		{"slow", slow, nil, "uint8[3]", "uint8[3]", ""},
		{"nearly slow", nearlySlow, nil, "uint8[3]", "uint8[3]", "a=uint8[65539], b=uint8[65539]"},
		{"sleeps", slept, nil, "uint8[3]", "uint8[3]", ""},
		{"says so", threads, func(b *bench, _ *dividingEngine) { b.t.operator.Schema.Tags = []string{"nondeterministic_seeded"} }, "uint8[3]", "uint8[3]", ""},
		{"leaves memory", threads, func(b *bench, _ *dividingEngine) { b.t.operator.Schema.Func.Name.Base = "empty" }, "uint8[3]", "uint8[3]", ""},
		{"not plain", threads, nil, "float32[3] neg", "uint8[3]", ""},
		{"one twice", threads, nil, "uint8[3]", "same:a", ""},
	} {
		b, e := dividingBench(t, tt.follows)
		if tt.change != nil {
			tt.change(b, e)
		}
		saw, call := b.divided(t, tt.a, tt.b, "1")
		want, bytes := "", "1 of "
		if tt.want != "" {
			want = fmt.Sprintf("ns::f(%s, c=1)", tt.want)
		}
		if call != want || (saw != "") != (want != "") || saw != "" && saw[:len(bytes)] != bytes {
			t.Errorf("%s: found %q of %q, want %q", tt.name, saw, call, want)
		}
		if e.refuses != 1 && e.threads != 1 {
			t.Errorf("%s: %d threads are left", tt.name, e.threads)
		}
	}
}

// Calls with large tensors are made once for each setting; their faults are found.
func TestDividesOnce(t *testing.T) {
	b, _ := dividingBench(t, func(_ *dividingEngine, x *fakeTensor) (byte, error) {
		if tensor.Numel(x.spec.Sizes) > 1000 {
			x.write()
		}
		return 1, nil
	})
	found := func(n string) string {
		result := report.CaseResult{Devices: make(report.Devices)}
		b.ranOnce(b.t, must.Get(b.Try(b.t, b.call(t, "uint8[3]", "uint8[3]", n)))(t), &result)
		return words(result.Found)
	}
	if first, again := found("1"), found("1"); first != "OA009 argument a on cpu" || again != "" {
		t.Errorf("found %q, and then %q", first, again)
	}
}

// A result without copied bytes is compared by its digest, if it is reproducible.
func TestDividesUnkept(t *testing.T) {
	calls := byte(0)
	for _, tt := range []struct {
		want    string
		follows func(e *dividingEngine, _ *fakeTensor) (byte, error)
	}{
		{"some of 1 bytes depend on the argument of at::set_num_threads", func(e *dividingEngine, _ *fakeTensor) (byte, error) { return byte(e.threads), nil }},
		{"", func(*dividingEngine, *fakeTensor) (byte, error) { calls++; return calls, nil }},
	} {
		b, e := dividingBench(t, tt.follows)
		e.notCopied = true
		if saw, _ := b.divided(t, "uint8[3]", "uint8[3]", "1"); saw != tt.want {
			t.Errorf("saw %q, want %q", saw, tt.want)
		}
	}
}

// A result that differs between calls with two threads alone is found, whichever of them differs, and
// is no note about the number of threads.
func TestDividesRaces(t *testing.T) {
	for _, at := range []int{1, 2, races + 1, races + 2} {
		calls := 0
		b, _ := dividingBench(t, func(e *dividingEngine, _ *fakeTensor) (byte, error) {
			if e.threads == 2 {
				if calls++; calls == at {
					return 2, nil
				}
			}
			return 1, nil
		})
		want := "1 of 1 bytes differ between two calls with two threads"
		if at > races+1 {
			want = ""
		}
		if saw, _ := b.divided(t, "uint8[3]", "uint8[3]", "1"); saw != want {
			t.Errorf("call %d with two threads differs: saw %q, want %q", at, saw, want)
		}
	}
}

// A call that takes long, or throws, is repeated less often, which is a skip.
func TestDividesRacesLess(t *testing.T) {
	const slow, thrown = "a call with two threads was not repeated 50 times: these take 100ms or more", "a call with two threads was not repeated 50 times: it throws when it is repeated"
	for _, tt := range []struct {
		spent        time.Duration
		throws       int // which call with two threads
		differs      int
		found, skips string
	}{
		{racesTime/2 - 1, 0, 4, "1 of 1 bytes differ between two calls with two threads", ""},
		{racesTime / 2, 0, 4, "", slow},
		{racesTime/(races-1) + 1, 0, 0, "", slow},
		{racesTime / races, 0, 0, "", ""},
		{0, 4, 0, "", thrown},
		{0, races + 1, 0, "", thrown},
		{0, races + 2, 0, "", ""},
	} {
		calls := 0
		b, _ := dividingBench(t, func(e *dividingEngine, _ *fakeTensor) (byte, error) {
			if e.threads == 2 {
				e.spent += tt.spent
				switch calls++; calls {
				case tt.differs:
					return 2, nil
				case tt.throws:
					return 0, &engine.Thrown{Message: "no"}
				}
			}
			return 1, nil
		})
		result := report.CaseResult{Devices: make(report.Devices)}
		b.ranOnce(b.t, must.Get(b.Try(b.t, b.call(t, "uint8[3]", "uint8[3]", "1")))(t), &result)
		found, skips := "", ""
		for _, f := range result.Found {
			found += f.Violation.Saw
		}
		for _, s := range result.Devices[engine.CPU].Skips {
			if s.Code == asserts.NondeterministicResult && s.Count == 1 && strings.HasPrefix(s.Reason, "a call with two threads") {
				skips += s.Reason
			}
		}
		if found != tt.found || skips != tt.skips {
			t.Errorf("%+v: found %q, skipped %q", tt, found, skips)
		}
	}
}

// A write that happens only with two threads is found, and the report tells it.
func TestDividesWrites(t *testing.T) {
	b, _ := dividingBench(t, func(e *dividingEngine, x *fakeTensor) (byte, error) {
		if e.threads == 2 {
			x.write()
		}
		return 1, nil
	})
	result := report.CaseResult{Devices: make(report.Devices)}
	b.ranOnce(b.t, must.Get(b.Try(b.t, b.call(t, "uint8[3]", "uint8[3]", "1")))(t), &result)
	if got := words(result.Found); got != "OA009 argument a on cpu" || !strings.HasSuffix(result.Found[0].Violation.Saw, ", with two threads") {
		t.Errorf("found %q", got)
	}
	b.e.harmless, b.t.divided = "a reason", make(once)
	result = report.CaseResult{Devices: make(report.Devices)}
	b.ranOnce(b.t, must.Get(b.Try(b.t, b.call(t, "uint8[3]", "uint8[3]", "1")))(t), &result)
	if got := words(result.Found); got != "" {
		t.Errorf("found %q, which the engine takes for harmless", got)
	}
}

// Each call is announced before it is made, and none is made after one that threw or if no other
// number of threads can be set.
func TestDividesCalls(t *testing.T) {
	for _, tt := range []struct {
		name         string
		throws       int // which call with large tensors
		refuses      int
		large, tried int
		left         string
	}{
		{"all", 0, 0, 13 + races, 3, ""},
		{"the second throws", 2, 0, 2, 3, "no call with two threads was made: it throws when it is repeated"},
		{"the third throws", 3, 0, 3, 3, "no call with two threads was made: it throws with them"},
		{"the fourth throws", 4, 0, 14, 3, "a call with two threads was not repeated 50 times: it throws when it is repeated"},
		{"no two threads", 0, 2, 2, 3, "no call with two threads was made: the number of threads cannot be set"},
		{"not one again", 0, 1, 3 + races, 3, "no call with two threads was made: the number of threads cannot be set"},
		{"alike", 0, 0, 3 + races, 3, ""},
		{"races", 0, 0, 15, 3, ""},
	} {
		large, tried := 0, 0
		b, e := dividingBench(t, func(e *dividingEngine, x *fakeTensor) (byte, error) {
			if tensor.Numel(x.spec.Sizes) > worthDividing {
				if large++; large == tt.throws {
					return 0, &engine.Thrown{Message: "no"}
				}
			}
			switch {
			case tt.name == "alike", tt.name == "races" && large != 5:
				return 1, nil
			}
			return byte(e.threads), nil
		})
		e.refuses = tt.refuses
		a := must.Get(b.Try(b.t, b.call(t, "uint8[3]", "uint8[3]", "1")))(t)
		b.t.Trying = func(c *sample.Case) {
			if c != nil {
				tried++
			}
		}
		c, skips := b.large(b.t, a)
		if c == nil || len(skips) > 0 {
			t.Fatalf("%s: no large call, %v", tt.name, skips)
		}
		result := report.CaseResult{Devices: make(report.Devices)}
		b.divides(b.t, c.c, &result)
		left := ""
		for _, s := range result.Devices[engine.CPU].Skips {
			if s.Code == asserts.NondeterministicResult {
				left += s.Reason
			}
		}
		if large != tt.large || tried != tt.tried || left != tt.left {
			t.Errorf("%s: %d calls with large tensors, %d told, left %q; want %d, %d, %q", tt.name, large, tried, left, tt.large, tt.tried, tt.left)
		}
	}
}

// Through autograd, where no result is compared, no large call is made, and none is counted as skipped.
func TestDividesNothingThroughAutograd(t *testing.T) {
	large := 0
	b, e := dividingBench(t, func(_ *dividingEngine, x *fakeTensor) (byte, error) {
		if tensor.Numel(x.spec.Sizes) > worthDividing/16 {
			large++
		}
		return 1, nil
	})
	e.autograd = true
	result := report.CaseResult{Devices: make(report.Devices)}
	b.ranOnce(b.t, must.Get(b.Try(b.t, b.call(t, "uint8[3]", "uint8[3]", "1")))(t), &result)
	counted := func(s asserts.Skip) bool { return s.Code == asserts.NondeterministicResult }
	if skips := result.Devices[engine.CPU].Skips; large > 0 || slices.ContainsFunc(skips, counted) {
		t.Errorf("%d large calls, skips %v", large, skips)
	}
}

// If no call with two threads is made, that is a skip with its reason.
func TestUndividedIsCounted(t *testing.T) {
	quick := func(e *dividingEngine, _ *fakeTensor) (byte, error) { return byte(e.threads), nil }
	slow := func(e *dividingEngine, x *fakeTensor) (byte, error) {
		if tensor.Numel(x.spec.Sizes) > worthDividing/16 {
			e.spent += soon
		}
		return 1, nil
	}
	small := func(_ *dividingEngine, x *fakeTensor) (byte, error) {
		if tensor.Numel(x.spec.Sizes) > worthDividing {
			return 0, &engine.Thrown{Message: "no"}
		}
		return 1, nil
	}
	never := func(e *dividingEngine, _ *fakeTensor) (byte, error) {
		if e.spent > 0 {
			return 0, &engine.Thrown{Message: "no"}
		}
		e.spent++
		return 1, nil
	}
	for _, tt := range []struct {
		want    string
		follows func(*dividingEngine, *fakeTensor) (byte, error)
		change  func(*bench, *dividingEngine)
	}{
		{"the kernels are in another process", quick, func(_ *bench, e *dividingEngine) { e.server = 7 }},
		{"8 settings of the other arguments had one", quick, func(b *bench, _ *dividingEngine) {
			for i := range mostSettings {
				b.t.divided.first(fmt.Sprint(i))
			}
		}},
		{"a call with 4096 elements takes 2ms or more", slow, func(*bench, *dividingEngine) {}},
		{"with a large tensor: the op refuses it", small, func(*bench, *dividingEngine) {}},
		{"it throws when it is repeated", never, func(*bench, *dividingEngine) {}},
		{"", quick, func(*bench, *dividingEngine) {}},
		{"", quick, func(b *bench, _ *dividingEngine) { b.t.divided.first(setting(b.call(t, "uint8[3]", "uint8[3]", "1"))) }},
	} {
		b, e := dividingBench(t, tt.follows)
		tt.change(b, e)
		result := report.CaseResult{Devices: make(report.Devices)}
		b.ranOnce(b.t, must.Get(b.Try(b.t, b.call(t, "uint8[3]", "uint8[3]", "1")))(t), &result)
		got := ""
		for _, s := range result.Devices[engine.CPU].Skips {
			if s.Count == 0 {
				t.Errorf("%v is no skip", s)
			}
			if reason, ok := strings.CutPrefix(s.Reason, "no call with two threads was made"); ok && s.Code == asserts.NondeterministicResult && s.Count == 1 {
				got += strings.TrimLeft(reason, ": ")
			}
		}
		if got != tt.want {
			t.Errorf("skipped %q, want %q", got, tt.want)
		}
	}
}
