package work

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/asserts/suite/compare"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/internal/design"
	"github.com/opassert/opassert/internal/dev/must"
)

// writes violates OA009 on certain devices.
func writes(devices ...engine.Device) func(*fakeEngine, []any) ([]any, error) {
	return func(e *fakeEngine, args []any) ([]any, error) {
		for _, d := range devices {
			if first(args).device == d {
				first(args).version++
			}
		}
		return copies(e, args)
	}
}

func returnsInput(e *fakeEngine, args []any) ([]any, error) {
	return []any{e.view(first(args))}, nil
}

// A finding is about every device that shows what the first does not.
func TestJudge(t *testing.T) {
	const schema = "ns::f(Tensor a) -> Tensor"
	otherOnMeta := func(e *fakeEngine, args []any) ([]any, error) {
		r := e.like(first(args))
		if r.device == engine.Meta {
			r.spec.DType = "int8"
		}
		return []any{r}, nil
	}
	infers := func(e *fakeEngine, args []any) ([]any, error) {
		r := e.like(first(args))
		r.form = engine.Inference
		return []any{r}, nil
	}
	for _, tt := range []struct {
		name   string
		kernel func(*fakeEngine, []any) ([]any, error)
		want   string
	}{
		{"clean", copies, ""},
		{"alias on both", returnsInput, "OA007 result on cpu"},
		{"alias on meta", func(e *fakeEngine, args []any) ([]any, error) {
			if first(args).device == engine.Meta {
				return returnsInput(e, args)
			}
			return copies(e, args)
		}, "OA007 result on meta; OA011 result on cpu, meta"},
		{"metadata", otherOnMeta, "OA011 result on cpu, meta"},
		{"inference tensors", infers, "OA014 result on cpu"},
	} {
		b := newBench(t, schema, tt.kernel)
		found, _ := b.judged(t, "float32[2]")
		if got := words(found); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

// Every other device is compared with the first.
func TestJudgeOnThreeDevices(t *testing.T) {
	b := newBench(t, "ns::f(Tensor a) -> Tensor", func(e *fakeEngine, args []any) ([]any, error) {
		r := e.like(first(args))
		if r.device == "lpu" {
			r.spec.DType = "int8"
		}
		return []any{r}, nil
	})
	b.e.devices = append(b.e.devices, "lpu")
	found, c := b.judged(t, "float32[2]")
	judged := func(on engine.Device) bool { return c.Devices[on].Judged[asserts.MetaAlias] > 0 }
	if words(found) != "OA011 result on cpu, lpu" || len(c.Devices) != 3 || judged(engine.CPU) || !judged("lpu") || !judged(engine.Meta) {
		t.Errorf("%s, judged %v", words(found), c.Devices)
	}
}

// If there was no call on a device, the case is counted with the reason.
func TestUncalledIsCounted(t *testing.T) {
	b := newBench(t, "ns::f(Tensor a) -> Tensor", copies)
	b.throwsOn(engine.Meta, "not today")
	_, c := b.judged(t, "float32[2]")
	if diff := cmp.Diff(map[string]int{"the call on meta threw: not today": 1}, c.Devices[engine.Meta].Uncalled); diff != "" || c.Devices[engine.CPU].Uncalled != nil {
		t.Error(diff)
	}
}

// Waived violations are counted by check and reason, and not reported.
func TestWaivedIsCounted(t *testing.T) {
	waive := func(code asserts.Code) func(*engine.Operator, *engine.Checks) {
		return func(_ *engine.Operator, p *engine.Checks) {
			p.Waived = []asserts.Excuse{{Code: code, Reason: "it caches"}}
		}
	}
	b := benchOf(t, "ns::f(Tensor a) -> Tensor", returnsInput, waive(asserts.UndeclaredAlias), "")
	found, c := b.judged(t, "float32[2]")
	if diff := cmp.Diff([]asserts.Skip{{Code: asserts.UndeclaredAlias, Reason: "it caches", Count: 2}}, c.Waived); diff != "" || len(found) != 0 {
		t.Errorf("found %s, waived (-want +got):\n%s", words(found), diff)
	}
	b = benchOf(t, "ns::f(Tensor a) -> Tensor", returnsInput, func(_ *engine.Operator, p *engine.Checks) {
		p.Waived = []asserts.Excuse{{Code: asserts.UndeclaredAlias, Symptom: asserts.Overlapping, Reason: "in one buffer"}}
	}, "")
	if found, c := b.judged(t, "float32[2]"); len(c.Waived) != 0 || len(found) != 1 {
		t.Errorf("another symptom is waived: found %s, waived %v", words(found), c.Waived)
	}
	b = benchOf(t, "ns::f(Tensor a) -> Tensor", returnsInput, waive(asserts.InputImpl), "")
	if found, c := b.judged(t, "float32[2]"); len(c.Waived) != 0 || len(found) != 1 {
		t.Errorf("another check is waived: found %s, waived %v", words(found), c.Waived)
	}
}

// A violation that the engine considers harmless is a skip with its reason, and the check was not
// judged.
func TestHarmlessIsSkipped(t *testing.T) {
	b := newBench(t, "ns::f(Tensor a) -> Tensor", writes(engine.CPU))
	before, c := b.judged(t, "float32[2]")
	judged := c.Devices[engine.CPU].Judged[asserts.UndeclaredWrite]
	b.e.harmless = "it looks so"
	found, c := b.judged(t, "float32[2]")
	tally := c.Devices[engine.CPU]
	want := []asserts.Skip{{Code: asserts.UndeclaredWrite, Reason: "it looks so", Count: 1}}
	if diff := cmp.Diff(want, tally.Skips); diff != "" || len(before) != 1 || len(found) != 0 || tally.Judged[asserts.UndeclaredWrite] != judged-1 {
		t.Errorf("found %s, judged %d of %d, skipped (-want +got):\n%s", words(found), tally.Judged[asserts.UndeclaredWrite], judged, diff)
	}
}

// A check whose violation the engine cannot show is a skip, for each tensor that it is about, and
// is not judged; one that is not planned is not mentioned, except of a return of which no check can be.
func TestUnseenIsSkipped(t *testing.T) {
	unseen := func(o *engine.Operator, p *engine.Checks) {
		for _, c := range p.Op.Checks {
			if c.Code == asserts.UndeclaredWrite {
				o.Unseen = append(o.Unseen, engine.Unseen{Code: c.Code, On: c.On, Reason: "no bytes"})
			}
		}
		slices.SortFunc(o.Unseen, func(a, b engine.Unseen) int { return int(a.On) - int(b.On) })
		o.Unseen = append(o.Unseen, engine.Unseen{Code: asserts.InputImpl, On: asserts.ArgRef(2), Reason: "no tensor"}, engine.Unseen{Code: asserts.ReturnedSelf, On: asserts.ResultRef(0), Reason: "no counts"},
			engine.Unseen{Code: asserts.FreshImpl, On: asserts.ResultRef(0), Reason: "no counts"},
			engine.Unseen{Code: asserts.OutputAlias, Reason: "inside a Dict"})
	}
	b := benchOf(t, "ns::f(Tensor a, Tensor?[] b, Tensor? c) -> Tensor", writes(engine.CPU), unseen, "")
	found, c := b.judged(t, "float32[2]", "[float32[2], float32[3], none]", "none")
	want := []asserts.Skip{{Code: asserts.UndeclaredWrite, Reason: "not observable: no bytes", Count: 3}, {Code: asserts.FreshImpl, Reason: "not observable: no counts", Count: 1},
		{Code: asserts.OutputAlias, Reason: "not observable: inside a Dict", Count: 1}}
	tally := c.Devices[engine.CPU]
	if diff := cmp.Diff(want, tally.Skips); diff != "" || tally.Judged[asserts.UndeclaredWrite] != 0 || tally.Judged[asserts.FreshImpl] != 0 {
		t.Errorf("found %s, judged %d, skipped (-want +got):\n%s", words(found), tally.Judged[asserts.UndeclaredWrite], diff)
	}
}

// The recipe of a finding repeats its call.
func TestFinding(t *testing.T) {
	b := newBench(t, "ns::f(Tensor a) -> Tensor", returnsInput)
	b.Seed = 5
	found, _ := b.judged(t, "float32[2]")
	f := b.finding(b.t, b.call(t, "float32[2]"), found[0], 7)
	v := f.Violation
	if v.Before.Content != nil || v.After.Content != nil || v.Other.Content != nil || v.Repro != "-op ns::f -case 7 -seed 5" {
		t.Errorf("%s, with contents %v", v.Repro, v.After.Content)
	}
	want := &report.Finding{Violation: v, Case: 7, Call: "ns::f(a=float32[2])", Recipe: `{a: "float32[2]"}`, Devices: []engine.Device{engine.CPU}, Times: 1}
	if diff := cmp.Diff(want, f); diff != "" {
		t.Error(diff)
	}
}

// A kernel that writes what it returned earlier is found by the next call.
func TestEarlierResults(t *testing.T) {
	var held *fakeTensor
	b := newBench(t, "ns::f(Tensor a) -> Tensor", func(e *fakeEngine, args []any) ([]any, error) {
		if held != nil && first(args).device == engine.CPU {
			held.write()
		}
		r := e.like(first(args))
		if r.device == engine.CPU {
			held = r
		}
		return []any{r}, nil
	})
	a := must.Get(b.Try(b.t, b.call(t, "float32[2]")))(t)
	if a.calls[0].seen.Earlier != nil || len(b.earlier.tensors) != 1 {
		t.Errorf("before the first call %v was held, %d after it", a.calls[0].seen.Earlier, len(b.earlier.tensors))
	}
	a = b.held(b.t, a)
	if n := len(a.calls[0].seen.Earlier); n != 1 || a.calls[0].seen.Earlier[0].Then.Version == a.calls[0].seen.Earlier[0].Now.Version {
		t.Errorf("%d results are held in the second call", n)
	}
	if once := b.held(b.t, a); once != a {
		t.Error("the call was made a third time")
	}
	other := newBench(t, "ns::f(Tensor a) -> Tensor", copies)
	if held := b.earlier.now(b.e, other.t); held != nil || b.e.live != 0 {
		t.Errorf("another op's calls are held against %v, and %d tensors are left", held, b.e.live)
	}
}

// A call that fails when repeated keeps its result.
func TestAgainFails(t *testing.T) {
	b := newBench(t, "ns::f(Tensor a) -> Tensor", copies)
	a := must.Get(b.Try(b.t, b.call(t, "float32[2]")))(t)
	b.e.kernels["ns::f"] = thrown("not today")
	if b.held(b.t, a) != a {
		t.Error("it does not")
	}
}

// A result with more parts than before is compared by those that it had.
func TestEarlierParts(t *testing.T) {
	var held *fakeTensor
	b := newBench(t, "ns::f(Tensor a) -> Tensor", func(e *fakeEngine, args []any) ([]any, error) {
		held = e.like(first(args))
		return []any{held}, nil
	})
	b.Level = asserts.Content
	must.Get(b.Try(b.t, b.call(t, "float32[2]")))(t)
	held.parts = 2
	if held := b.earlier.now(b.e, b.t); len(held) != 1 {
		t.Errorf("%d observations", len(held))
	}
}

// Findings of one rule about two elements of a list are two.
func TestJudgeElements(t *testing.T) {
	b := newBench(t, "ns::f(Tensor[] a) -> Tensor", func(e *fakeEngine, args []any) ([]any, error) {
		for _, x := range tensorsOf(args) {
			x.version++
		}
		return copies(e, args)
	})
	found, _ := b.judged(t, "[float32[2], float32[2]]")
	if got, want := words(found), "OA009 argument a[0] on cpu; OA009 argument a[1] on cpu"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// A call on meta is compared with that on another device, not with itself.
func TestJudgeOnMetaAlone(t *testing.T) {
	b := newBench(t, "ns::f(Tensor a) -> Tensor", copies)
	b.e.devices = []engine.Device{engine.Meta}
	if _, c := b.judged(t, "float32[2]"); c.Devices[engine.Meta].Judged[asserts.MetaAlias] != 0 {
		t.Errorf("%v", c.Devices)
	}
}

// Only results made by the call are held: not through autograd, below the content level, with an
// alias set, or without a tensor.
func TestHeldResults(t *testing.T) {
	for _, tt := range []struct {
		name, schema string
		level        asserts.Level
		held         int
	}{
		{"fresh", "ns::f(Tensor a) -> Tensor", asserts.Content, 1},
		{"level", "ns::f(Tensor a) -> Tensor", asserts.Identity, 0},
		{"alias set", "ns::f(Tensor(a) a) -> Tensor(a)", asserts.Content, 0},
		{"number", "ns::f(Tensor a) -> int", asserts.Content, 0},
		{"nothing", "ns::f(Tensor a) -> ()", asserts.Content, 0},
	} {
		b := newBench(t, tt.schema, copies)
		b.Level = tt.level
		must.Get(b.Try(b.t, b.call(t, "float32[2]")))(t)
		if n := len(b.earlier.tensors); n != tt.held || b.e.live != tt.held {
			t.Errorf("%s: %d tensors are held, %d are left", tt.name, n, b.e.live)
		}
	}
	b := newBench(t, "ns::f(Tensor a) -> Tensor", copies)
	b.e.autograd = true
	a, err := b.Try(b.t, b.call(t, "float32[2]"))
	if err != nil || len(b.earlier.tensors) != 0 || b.e.live != 0 {
		t.Errorf("through autograd %d are held, %v", len(b.earlier.tensors), err)
	}
	if b.held(b.t, a) != a {
		t.Error("the call was made again, and nothing was held")
	}
	b = newBench(t, "ns::f(Tensor a) -> Tensor[]", func(e *fakeEngine, args []any) ([]any, error) {
		return []any{[]any{e.like(first(args)), nil, e.like(first(args))}}, nil
	})
	if _, err := b.Try(b.t, b.call(t, "float32[2]")); err != nil || len(b.earlier.tensors) != 2 {
		t.Errorf("of a list %d are held, %v", len(b.earlier.tensors), err)
	}
	if b.earlier.release(); b.e.live != 0 {
		t.Errorf("%d tensors are left", b.e.live)
	}
}

// keepingEngine has kernels that may keep their arguments.
type keepingEngine struct{ *fakeEngine }

func (keepingEngine) KeepsArguments() {}

// An engine whose kernels keep arguments has them held, too.
func TestHeldArguments(t *testing.T) {
	b := newBench(t, "ns::f(Tensor a, int n) -> Tensor", copies)
	b.Engine = keepingEngine{b.e}
	must.Get(b.Try(b.t, b.call(t, "float32[2]", "3")))(t)
	if diff := cmp.Diff([]int{1, 0}, b.earlier.args); diff != "" {
		t.Errorf("held by argument (-want +got):\n%s", diff)
	}
	if held := b.earlier.now(b.Engine, b.t); len(held) != 2 || held[0].Arg != 1 || held[1].Arg != 0 {
		t.Errorf("%v", held)
	}
	if b.earlier.release(); b.e.live != 0 {
		t.Errorf("%d tensors are left", b.e.live)
	}
	b.Level = asserts.Identity
	if _, err := b.Try(b.t, b.call(t, "float32[2]", "3")); err != nil || len(b.earlier.tensors) != 0 || b.e.live != 0 {
		t.Errorf("below the content level %d are held, %d are left", len(b.earlier.tensors), b.e.live)
	}
}

// A kernel that returns what it keeps for one sort of arguments is found if these are a class of
// their own: such a call is made twice.
func TestTwice(t *testing.T) {
	for _, keeps := range []bool{true, false} {
		var held *fakeTensor
		b := newBench(t, "ns::f(Tensor a) -> Tensor", func(e *fakeEngine, args []any) ([]any, error) {
			if held == nil || first(args).spec.Sizes[0] != 3 {
				held = e.like(first(args))
				return []any{held}, nil
			}
			e.live++
			return []any{&fakeTensor{fakeImpl: held.fakeImpl, engine: e}}, nil
		})
		if keeps {
			b.Engine = keepingEngine{b.e}
		}
		for _, text := range []string{"float32[2]", "float32[3]"} {
			held = nil
			a := must.Get(b.Try(b.t, b.call(t, text)))(t)
			var result report.CaseResult
			b.t.AsItIs = true
			b.judgeRun(b.t, a, &result)
			found := result.Found
			want := ""
			if keeps && text == "float32[3]" {
				want = "OA005 result on cpu"
			}
			if words(found) != want {
				t.Errorf("%s, kept %v: found %q, want %q", text, keeps, words(found), want)
			}
		}
	}
}

// A return on another device than the arguments is noted on devices other than the CPU, for a
// library's ops there, too, at the level of second calls, if the op's fake returns nothing and no
// error is the same fault.
func TestJudgeDevice(t *testing.T) {
	missing := &compare.Fake{Missing: true}
	for _, tt := range []struct {
		name    string
		devices []engine.Device
		level   asserts.Level
		fake    *compare.Fake
		writes  bool
		want    string
	}{
		{"alone", []engine.Device{"lpu"}, asserts.Meta, nil, false, "OA011 result on lpu"},
		{"below the level", []engine.Device{"lpu"}, asserts.Content, nil, false, ""},
		{"on the CPU", []engine.Device{engine.CPU}, asserts.Meta, nil, false, ""},
		{"of a library on the CPU", []engine.Device{engine.CPU}, asserts.Meta, nil, false, "OA011 result on cpu"},
		{"beside another fault", []engine.Device{"lpu"}, asserts.Meta, nil, true, "OA009 argument a on lpu; OA011 result on lpu"},
		{"beside a note", []engine.Device{"lpu"}, asserts.Meta, missing, false, "OA011 result on lpu; OA011 result on lpu, fake"},
		{"beside sizes that differ", []engine.Device{"lpu", engine.CPU}, asserts.Meta, nil, false, "OA011 result on lpu, cpu"},
		{"as its fake", []engine.Device{"lpu"}, asserts.Meta, &compare.Fake{}, false, ""},
	} {
		b := newBench(t, "ns::f(Tensor a) -> Tensor", func(e *fakeEngine, args []any) ([]any, error) {
			made := e.like(first(args))
			if made.device == tt.devices[0] {
				made.device = "xpu"
			} else {
				made.spec.Sizes = []int64{1}
			}
			if tt.writes {
				first(args).write()
			}
			return []any{made}, nil
		})
		b.e.devices, b.Level = tt.devices, tt.level
		b.t.operator.Added = strings.HasPrefix(tt.name, "of a library")
		if tt.fake != nil {
			if !tt.fake.Missing {
				a := must.Get(b.Try(b.t, b.call(t, "float32[2]")))(t)
				tt.fake.Seen = *a.calls[0].seen
			}
			b.Engine = &fakingEngine{fakeEngine: b.e, fake: tt.fake}
		}
		if found, _ := b.judged(t, "float32[2]"); words(found) != tt.want {
			t.Errorf("%s: found %q, want %q", tt.name, words(found), tt.want)
		}
	}
}

// For an op that names a device, that one is expected.
func TestJudgeNamedDevice(t *testing.T) {
	for on, want := range map[engine.Device]string{"lpu": "", "lpu:0": "", "xpu": "OA011 result on lpu"} {
		b := newBench(t, "ns::f(Tensor a, Device b) -> Tensor", func(e *fakeEngine, args []any) ([]any, error) {
			made := e.like(first(args))
			made.device = on
			return []any{made}, nil
		})
		b.e.devices, b.Level = []engine.Device{"lpu"}, asserts.Meta
		if found, _ := b.judged(t, "float32[2]", "device:lpu"); words(found) != want {
			t.Errorf("returned on %s: found %q, want %q", on, words(found), want)
		}
	}
}

// A blindEngine observes nothing of a call that threw.
type blindEngine struct{ *fakeEngine }

func (e blindEngine) Call(op string, args []any, level asserts.Level) (engine.Outcome, error) {
	out, err := e.fakeEngine.Call(op, args, level)
	if err != nil {
		out.Seen.After = nil
	}
	return out, err
}

// Tensors of a call that threw are not judged if the engine did not observe them.
func TestThrewUnseen(t *testing.T) {
	b := newBench(t, "ns::f(Tensor a) -> Tensor", thrown("no"))
	b.Engine = blindEngine{b.e}
	if _, err := b.Try(b.t, b.call(t, "float32[2]")); err == nil || len(b.t.threw) != 0 {
		t.Errorf("%v, judged %d", err, len(b.t.threw))
	}
}

// The uses of a result are not judged if they are not the kernel's.
func TestUncounted(t *testing.T) {
	for uncounted, want := range map[bool]string{false: "OA005 result on cpu", true: ""} {
		b := newBench(t, "ns::f(Tensor a) -> Tensor", func(e *fakeEngine, args []any) ([]any, error) {
			results, err := copies(e, args)
			*first(results).uses++
			return results, err
		})
		b.t.operator.Uncounted = uncounted
		if found, _ := b.judged(t, "float32[2]"); words(found) != want {
			t.Errorf("uncounted %v: found %q, want %q", uncounted, words(found), want)
		}
	}
}

// A fakingEngine is a library whose ops have fakes.
type fakingEngine struct {
	*fakeEngine
	fake   *compare.Fake
	noFake string
	calls  int
}

func (e *fakingEngine) NoFake(*asserts.Op) string { return e.noFake }

func (e *fakingEngine) Fake(*asserts.Op, []any) (*compare.Fake, string) {
	e.calls++
	if e.fake == nil {
		return nil, "there is no Python"
	}
	return e.fake, ""
}

// The fake of an op is called once for the cases that differ only in contents, and compared with
// each; if it is not called, that is counted with the reason.
func TestFakes(t *testing.T) {
	b := newBench(t, "ns::f(Tensor a) -> Tensor", copies)
	e := &fakingEngine{fakeEngine: b.e, fake: &compare.Fake{Fault: "raises TypeError"}}
	b.Engine = e
	heard := 0
	b.t.Twinning = func(on engine.Device) {
		if on == engine.Fake {
			heard++
		}
	}
	for _, tt := range []struct {
		text, found, uncalled string
		calls                 int
	}{
		{"float32[2]", "OA011 result on cpu, fake", "", 1},
		{"float32[2] const:3", "OA011 result on cpu, fake", "", 1},
		{"float32[3]", "OA011 result on cpu, fake", "", 2},
		{"float32[2] neg", "", "a tensor is not plain", 2},
	} {
		found, c := b.judged(t, tt.text)
		if words(found) != tt.found || e.calls != tt.calls || heard != tt.calls {
			t.Errorf("%s: found %q with %d calls, %d of them heard, want %q with %d", tt.text, words(found), e.calls, heard, tt.found, tt.calls)
		}
		if _, ok := c.Devices[engine.Fake].Uncalled[tt.uncalled]; ok != (tt.uncalled != "") {
			t.Errorf("%s: uncalled %v, want %q", tt.text, c.Devices[engine.Fake].Uncalled, tt.uncalled)
		}
	}
	for _, tt := range []struct {
		change   func()
		uncalled string
	}{
		{func() { e.fake = nil }, "there is no Python"},
		{func() { b.t.Without = []engine.Device{engine.Fake} }, "a call of the op's fake ended its process"},
		{func() {
			e.noFake = "fakes are Python's"
			b.t.noFake = NewTarget(e, b.t.operator, engine.Checks{Op: *b.t.judged}, new(design.Recipes)).noFake
		}, "fakes are Python's"},
	} {
		tt.change()
		b.t.Twinning = nil
		clear(b.t.fakeCalls)
		if found, c := b.judged(t, "float32[2]"); len(found) > 0 || c.Devices[engine.Fake].Uncalled[tt.uncalled] != 1 {
			t.Errorf("found %s, uncalled %v, want %q", words(found), c.Devices[engine.Fake].Uncalled, tt.uncalled)
		}
	}
	b.t.Without, b.t.noFake, b.e.lacks = nil, "", func(engine.Dense, engine.Form) bool { return true }
	if call := b.callBeside(b.t, b.call(t, "float32[2]"), engine.Fake, "fake", nil); !strings.HasPrefix(call.why, "no arguments: make float32[2]") {
		t.Errorf("arguments that can't be made: %q", call.why)
	}
	withStorage := newBench(t, "ns::f(Tensor a, Storage b) -> Tensor", copies)
	if call := withStorage.callBeside(withStorage.t, withStorage.call(t, "float32[2]", "storage:float32[2]"), engine.Fake, "fake", nil); call.why != "a storage has no fake" {
		t.Errorf("a storage: %q", call.why)
	}
	called := &fakeCall{}
	if withStorage.callBeside(withStorage.t, withStorage.call(t, "float32[2]", "storage:float32[2]"), engine.Rules, "rules", func([]any) *fakeCall { return called }) != called {
		t.Error("rules are not called with a storage")
	}
	b.Level, b.e.lacks = asserts.Content, nil
	if _, c := b.judged(t, "float32[2]"); len(c.Devices) != 1 {
		t.Errorf("below the level of second calls there are %v", c.Devices)
	}
}

// Values that are not compared are a skip with its reason.
func TestValuesNotCompared(t *testing.T) {
	calls := byte(0)
	differs := func(e *fakeEngine, args []any) ([]any, error) {
		result := e.like(first(args))
		if result.device == "openreg" {
			(*result.data)[0] ^= 1
		}
		return []any{result}, nil
	}
	random := func(on engine.Device) func(*fakeEngine, []any) ([]any, error) {
		return func(e *fakeEngine, args []any) ([]any, error) {
			result := e.like(first(args))
			if calls++; result.device == on {
				(*result.data)[0] = calls
			}
			return []any{result}, nil
		}
	}
	for _, tt := range []struct {
		name, schema, want, found string
		beside                    engine.Device
		tolerance                 float64
		kernel                    func(*fakeEngine, []any) ([]any, error)
	}{
		{"compared", "t::f(Tensor a) -> Tensor", "", "OA011 result on openreg, cpu", engine.CPU, 1e-9, differs},
		{"without a tolerance", "t::f(Tensor a) -> Tensor", "", "", engine.CPU, 0, differs},
		{"with Meta", "t::f(Tensor a) -> Tensor", "", "", engine.Meta, 1e-9, differs},
		{"random", "t::f(Tensor a, *, Generator? generator=None) -> Tensor", "values not compared: they are random, or old contents of the memory", "", engine.CPU, 1e-9, differs},
		{"memory", "t::empty_like(Tensor a) -> Tensor", "values not compared: they are random, or old contents of the memory", "", engine.CPU, 1e-9, differs},
		{"random, and no schema says so", "t::f(Tensor a) -> Tensor", "values not compared: they are random, or old contents of the memory", "", engine.CPU, 1e-9, random("openreg")},
		{"random on the CPU alone", "t::f(Tensor a) -> Tensor", "values not compared: they are random, or old contents of the memory", "", engine.CPU, 1e-9, random(engine.CPU)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t, tt.schema, tt.kernel)
			b.e.devices, b.Tolerance = []engine.Device{"openreg", tt.beside}, tt.tolerance
			found, c := b.judged(t, "int64[2]")
			if got := words(found); got != tt.found {
				t.Errorf("found %q, want %q", got, tt.found)
			}
			var got string
			for _, s := range c.Devices[tt.beside].Skips {
				if strings.HasPrefix(s.Reason, "values") {
					got += s.Reason
				}
			}
			if got != tt.want {
				t.Errorf("skipped %q, want %q", got, tt.want)
			}
		})
	}
}

// A write on only one device is reported once, with and without a tolerance, but not for a random
// op; one that is not reproducible is a skip.
func TestWritesOnOneDevice(t *testing.T) {
	calls := 0
	sometimes := func(e *fakeEngine, args []any) ([]any, error) {
		if x := first(args); x.device == engine.CPU {
			if calls++; calls%2 == 1 {
				x.write()
			}
		}
		return nil, nil
	}
	writes := func(e *fakeEngine, args []any) ([]any, error) {
		if x := first(args); x.device == engine.CPU {
			x.write()
		}
		return nil, nil
	}
	for _, tt := range []struct {
		name, schema, found string
		tolerance           float64
		kernel              func(*fakeEngine, []any) ([]any, error)
		skipped             []int
	}{
		{"without a tolerance", "t::f(Tensor(a!) a) -> ()", "OA011 argument a on openreg, cpu", 0, writes, nil},
		{"with a tolerance", "t::f(Tensor(a!) a) -> ()", "OA011 argument a on openreg, cpu", 1e-9, writes, nil},
		{"random", "t::f(Tensor(a!) a, *, Generator? generator=None) -> ()", "", 0, writes, nil},
		{"random, and no schema says so", "t::f(Tensor(a!) a) -> ()", "", 0, sometimes, []int{1}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t, tt.schema, tt.kernel)
			b.e.devices, b.Tolerance = []engine.Device{"openreg", engine.CPU}, tt.tolerance
			found, c := b.judged(t, "int64[2]")
			if got := words(found); got != tt.found {
				t.Errorf("found %q, want %q", got, tt.found)
			}
			var skipped []int
			for _, s := range c.Devices[engine.CPU].Skips {
				if s.Reason == "writes not compared: "+undecided {
					skipped = append(skipped, s.Count)
				}
			}
			if !slices.Equal(skipped, tt.skipped) {
				t.Errorf("skipped %v, want %v", skipped, tt.skipped)
			}
		})
	}
}

// That a return of an op that decomposes shares memory with an argument is a note, unless the op is PyTorch's own or an
// allowlist waives it.
func TestJudgeSharing(t *testing.T) {
	shares := func(e *fakeEngine, args []any) ([]any, error) { return []any{e.view(first(args))}, nil }
	for _, tt := range []struct {
		name   string
		kernel func(*fakeEngine, []any) ([]any, error)
		change func(*engine.Operator, *engine.Checks)
		want   string
	}{
		{"added", shares, func(o *engine.Operator, _ *engine.Checks) { o.Added = true }, "OA007 result on cpu"},
		{"of a file", shares, func(o *engine.Operator, _ *engine.Checks) { o.Schema.Pos.Filename = "ops.yaml" }, "OA007 result on cpu"},
		{"PyTorch's own", shares, func(*engine.Operator, *engine.Checks) {}, ""},
		{"it returns another", copies, func(o *engine.Operator, _ *engine.Checks) { o.Added = true }, ""},
		{"waived", shares, func(o *engine.Operator, p *engine.Checks) {
			o.Added, p.Waived = true, []asserts.Excuse{{Code: asserts.UndeclaredAlias}}
		}, ""},
	} {
		b := benchOf(t, "t::f(Tensor a) -> Tensor", tt.kernel, func(o *engine.Operator, p *engine.Checks) {
			o.Schema.CompositeImplicit, p.Op.Composite = true, true
			p.Op.Checks = p.Op.Calls()
			tt.change(o, p)
		}, "")
		found, _ := b.judged(t, "float32[2]")
		if words(found) != tt.want {
			t.Errorf("%s: %s, want %q", tt.name, words(found), tt.want)
		}
		for _, f := range found {
			if f.Violation.Symptom != asserts.Decomposes || f.Violation.Note == "" {
				t.Errorf("%s: %+v", tt.name, f.Violation)
			}
		}
		b.earlier.release()
	}
}
