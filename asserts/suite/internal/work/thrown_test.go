package work

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/internal/probe"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
)

// The writes of a call before it threw are judged, except allowed ones and those before an error
// that is not the kernel's.
func TestThrewAfterWriting(t *testing.T) {
	writes := func(message string) func(*fakeEngine, []any) ([]any, error) {
		return func(_ *fakeEngine, args []any) ([]any, error) {
			for _, t := range tensorsOf(args) {
				t.write()
			}
			return nil, &engine.Thrown{Message: message}
		}
	}
	restrides := func(_ *fakeEngine, args []any) ([]any, error) {
		first(args).write()
		first(args).spec.Strides = []int64{7}
		return nil, &engine.Thrown{Message: "no"}
	}
	writesFirst := func(_ *fakeEngine, args []any) ([]any, error) {
		first(args).write()
		return nil, &engine.Thrown{Message: "no"}
	}
	rewrites := func(_ *fakeEngine, args []any) ([]any, error) {
		first(args).version++
		return nil, &engine.Thrown{Message: "no"}
	}
	moves := func(_ *fakeEngine, args []any) ([]any, error) {
		*first(args).data = make([]byte, 99)
		return nil, &engine.Thrown{Message: "no"}
	}
	ours := func(_ *fakeEngine, args []any) ([]any, error) {
		first(args).write()
		return nil, errOurs
	}
	unlooked := func(*fakeEngine, []any) ([]any, error) {
		return nil, &engine.Thrown{Message: "no", Skip: "no time"}
	}
	for _, tt := range []struct {
		name, schema string
		kernel       func(*fakeEngine, []any) ([]any, error)
		texts        []string
		level        asserts.Level
		want         string
	}{
		{"written", "ns::f(Tensor a) -> Tensor", writes("no"), []string{"float32[2]"}, asserts.Content, "OA009 argument a on cpu"},
		{"the same bytes", "ns::f(Tensor a) -> Tensor", rewrites, []string{"float32[2]"}, asserts.Content, "OA009 argument a on cpu"},
		{"other strides", "ns::f(Tensor a) -> Tensor", restrides, []string{"float32[2]"}, asserts.Content, "OA009 argument a on cpu"},
		{"the second", "ns::f(Tensor(a!) a, Tensor b) -> ()", writes("no"), []string{"float32[2]", "float32[2]"}, asserts.Content, "OA009 argument b on cpu"},
		{"behind none and a number", "ns::f(Tensor? a, int b, Tensor c) -> Tensor", writes("no"), []string{"none", "1", "float32[2]"}, asserts.Content, "OA009 argument c on cpu"},
		{"in a list", "ns::f(Tensor[] a, Tensor(a!) b) -> ()", writes("no"), []string{"[float32[2]]", "float32[2]"}, asserts.Content, "OA009 argument a[0] on cpu"},
		{"in an empty list", "ns::f(Tensor[] a, Tensor b) -> ()", writes("no"), []string{"[]", "float32[2]"}, asserts.Content, "OA009 argument b on cpu"},
		{"declared", "ns::f(Tensor(a!) a) -> ()", writes("no"), []string{"float32[2]"}, asserts.Content, ""},
		{"the first of two", "ns::f(Tensor a, Tensor b) -> Tensor", writesFirst, []string{"float32[2]", "float32[2]"}, asserts.Content, "OA009 argument a on cpu"},
		{"more bytes", "ns::f(Tensor a) -> Tensor", moves, []string{"float32[2]"}, asserts.Content, "OA009 argument a on cpu"},
		{"a form", "ns::f(Tensor a) -> Tensor", writes("no"), []string{"float32[2] neg"}, asserts.Content, "skipped OA009 2: the call threw, and a tensor is not plain"},
		{"a form that may be written", "ns::f(Tensor(a!) a) -> ()", writes("no"), []string{"float32[2] neg"}, asserts.Content, ""},
		{"nothing written", "ns::f(Tensor a) -> Tensor", thrown("no"), []string{"float32[2]"}, asserts.Content, ""},
		{"one tensor twice", "ns::f(Tensor(a!) a, Tensor b) -> ()", writes("no"), []string{"float32[2]", "same:a"}, asserts.Content, "skipped OA009 2: storage shared with a written argument"},
		{"a list or a number", "ns::f(Tensor[] a, Tensor? b, Tensor c) -> Tensor", writesFirst, []string{"[]", "none", "float32[2]"}, asserts.Content, "OA009 argument c on cpu"},
		{"a level without bytes", "ns::f(Tensor a) -> Tensor", writes("no"), []string{"float32[2]"}, asserts.Identity, ""},
		{"the dispatcher", "ns::f(Tensor a) -> Tensor", writes("ZeroTensors are immutable. Please use"), []string{"float32[2]"}, asserts.Content, ""},
		{"what the engine did not look for", "ns::f(Tensor a) -> Tensor", unlooked, []string{"float32[2]"}, asserts.Identity, "skipped OA016 2: no time"},
		{"an error of ours", "ns::f(Tensor a) -> Tensor", ours, []string{"float32[2]"}, asserts.Content, ""},
	} {
		b := newBench(t, tt.schema, tt.kernel)
		b.Level = tt.level
		if _, err := b.Try(b.t, b.call(t, tt.texts...)); err == nil {
			t.Fatalf("%s: no error", tt.name)
		}
		var c report.CaseResult
		for _, call := range slices.Concat(b.t.threw, b.t.threw) {
			b.addJudged(b.t, call, &c)
		}
		if got := words(c.Found) + skipped(&c); got != tt.want {
			t.Errorf("%s: found %s, want %s", tt.name, got, tt.want)
		}
		if b.e.live != 0 {
			t.Errorf("%s: %d tensors live", tt.name, b.e.live)
		}
	}
}

// A call with reproducible results is repeated after another that threw, once for each error:
// changed state of the kernel is found.
func TestLeavesState(t *testing.T) {
	const one, two = "float32[2]", "float32[2, 2]"
	for _, tt := range []struct {
		name    string
		leaves  bool
		message string
		change  func(*bench)
		want    string
	}{
		{"state is left", true, "SystemExit: 3", func(*bench) {}, "OA021 result on cpu"},
		{"nothing is left", false, "SystemExit: 3", func(*bench) {}, ""},
		{"other results each time", true, "SystemExit: 3", func(*bench) {}, ""},
		{"an error of ours", true, "", func(*bench) {}, ""},
		{"no call returned before", true, "SystemExit: 3", func(b *bench) { b.t.steady = nil }, ""},
		{"of PyTorch", true, "SystemExit: 3", func(b *bench) { b.t.operator.Added = false }, ""},
		{"of the dispatcher", true, "ZeroTensors are immutable. Please use", func(*bench) {}, ""},
		{"an error that was met", true, "SystemExit: 3", func(b *bench) { thrownAsked(b)["SystemExit: "] = true }, ""},
		{"after many", true, "SystemExit: 3", func(b *bench) {
			for i := range 8 {
				thrownAsked(b)[strings.Repeat("x", i)] = true
			}
		}, "skipped OA021 1: not repeated after a call that threw: at most 8 per op"},
		{"after some", true, "SystemExit: 3", func(b *bench) {
			for i := range 8 - 1 {
				thrownAsked(b)[strings.Repeat("x", i)] = true
			}
		}, "OA021 result on cpu"},
	} {
		left := byte(0)
		kernel := func(e *fakeEngine, args []any) ([]any, error) {
			if len(first(args).spec.Sizes) == 2 {
				if tt.leaves {
					left = 9
				}
				if tt.message == "" {
					return nil, errOurs
				}
				return nil, &engine.Thrown{Message: tt.message}
			}
			r := e.like(first(args))
			(*r.data)[0] = left
			if left > 0 && tt.name == "other results each time" {
				left++
			}
			return []any{r}, nil
		}
		b := benchOf(t, "ns::f(Tensor a) -> Tensor", kernel, func(o *engine.Operator, _ *engine.Checks) { o.Added = true }, "")
		c := b.call(t, one)
		b.t.steady = &attempt{c: c, calls: []deviceCall{{seen: b.seenAgain(b.t, c, probe.First)[0]}}}
		tt.change(b)
		if _, err := b.Try(b.t, b.call(t, two)); err == nil {
			t.Fatalf("%s: no error", tt.name)
		}
		if steady := b.t.steady != nil; steady == (strings.HasPrefix(tt.want, "OA021") || tt.name == "no call returned before") {
			t.Errorf("%s: the call before is made again after the next error: %v", tt.name, steady)
		}
		var result report.CaseResult
		for _, call := range b.t.threw {
			b.addJudged(b.t, call, &result)
		}
		if got := words(result.Found) + skipped(&result); got != tt.want {
			t.Errorf("%s: found %q, want %q", tt.name, got, tt.want)
		}
		if b.e.live != 0 {
			t.Errorf("%s: %d tensors live", tt.name, b.e.live)
		}
	}
}

// thrownAsked are the errors after which an op was asked.
func thrownAsked(b *bench) map[string]bool { return b.t.budget(probe.Of(probe.Thrown)[0]).asked }

// skipped returns the skips of a case on its own device.
func skipped(c *report.CaseResult) string {
	var all []string
	for _, s := range c.Devices[engine.CPU].Skips {
		all = append(all, fmt.Sprintf("skipped %v %d: %s", s.Code, s.Count, s.Reason))
	}
	return strings.Join(all, "\n")
}

// The bases have no number that leaves a factor unchanged, if the kernel accepts another; an
// unchanged call is not made.
func TestEnliven(t *testing.T) {
	probability := func(e *fakeEngine, args []any) ([]any, error) {
		if p, ok := args[1].(float64); ok && p > 0.5 && p < 1 {
			return nil, &engine.Thrown{Message: "want 0 or 1"}
		}
		return copies(e, args)
	}
	for _, tt := range []struct {
		value  string
		kernel func(*fakeEngine, []any) ([]any, error)
		want   []string
		calls  int
	}{
		{"1.0", copies, []string{"0.75", "0.75", "0.5"}, 2},
		{"1.0", probability, []string{"1", "1", "0.5"}, 1},
		{"0.0", probability, []string{"0.25", "0.25", "0.5"}, 2},
	} {
		calls := 0
		b := newBench(t, "ns::f(Tensor a, float scale) -> Tensor", tt.kernel)
		b.t.Trying = func(c *sample.Case) {
			if c != nil {
				calls++
			}
		}
		bases := []*sample.Case{b.call(t, "float32[2]", tt.value), b.call(t, "float32[2, 2]", tt.value), b.call(t, "float32[2]", "0.5")}
		for i := range bases[0].Args {
			b.useNontrivialNumber(b.t, bases, i)
		}
		var got []string
		for _, base := range bases {
			got = append(got, base.Args[1].String())
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.value, diff)
		}
		if calls != tt.calls {
			t.Errorf("%s: %d calls, want %d", tt.value, calls, tt.calls)
		}
	}
}

// A case that throws, alone or first, has the finding.
func TestThrownCalls(t *testing.T) {
	matrices := func(e *fakeEngine, args []any) ([]any, error) {
		if len(first(args).spec.Sizes) == 3 {
			first(args).write()
			return nil, &engine.Thrown{Message: "Expected 2D input"}
		}
		return copies(e, args)
	}
	b := newBench(t, "ns::f(Tensor a, float scale=1.0) -> Tensor", matrices)
	n := 0
	for _, c := range b.cases(t, Span{To: AllCases}) {
		for _, f := range c.Found {
			n++
			if !strings.HasSuffix(f.Violation.Saw, "bytes changed, version 0 -> 1, and then it threw: Expected 2D input") {
				t.Errorf("saw %q", f.Violation.Saw)
			}
		}
	}
	if n < 2 {
		t.Errorf("%d findings, want one in each case of three dimensions", n)
	}
}

// A query that the kernel answers with an error is judged like any other call that threw.
func TestThrownQuestions(t *testing.T) {
	b := newBench(t, "ns::f(Tensor a, str mode='sum') -> Tensor", func(e *fakeEngine, args []any) ([]any, error) {
		if args[1] != "sum" && args[1] != (engine.Default{}) {
			first(args).write()
			return nil, &engine.Thrown{Message: "mode must be 'sum'"}
		}
		return copies(e, args)
	})
	asked, result := 0, report.OpResult{}
	for _, c := range b.cases(t, Span{To: b.t.planned()}) {
		if c.Idle && words(c.Found) == "OA009 argument a on cpu" {
			asked++
			result.Add(&c)
		}
	}
	if asked != 1 || result.Cases != 0 || len(result.Findings) != 1 {
		t.Errorf("%d questions have the finding, want 1; the op has %d cases and findings %v", asked, result.Cases, words(result.Findings))
	}
}

// A call that threw has no results: only its writes are judged.
func TestThrownCallsAreHeldToWrites(t *testing.T) {
	b := newBench(t, "ns::f(Tensor(a!) a, Tensor b) -> Tensor(a!)", copies)
	if len(b.t.judged.Checks) < 2 {
		t.Fatalf("%d checks of a call", len(b.t.judged.Checks))
	}
	for _, c := range b.t.unthrown.Checks {
		if c.Code != asserts.UndeclaredWrite {
			t.Errorf("%s of a call that threw", c.Code)
		}
	}
	if len(b.t.unthrown.Checks) == 0 {
		t.Error("no check of a call that threw")
	}
}

// A device that throws for arguments that the CPU and Meta accept is noted, once for each op.
func TestRefuses(t *testing.T) {
	for _, tt := range []struct {
		name, message string
		on            []engine.Device
		level         asserts.Level
		want          string
	}{
		{"the device alone", "no", []engine.Device{"lpu"}, asserts.Meta, "OA011 result on lpu"},
		{"the CPU too", "no", []engine.Device{"lpu", engine.CPU}, asserts.Meta, ""},
		{"Meta too", "no", []engine.Device{"lpu", engine.Meta}, asserts.Meta, ""},
		{"no kernel", "Could not run 'ns::f'", []engine.Device{"lpu"}, asserts.Meta, ""},
		{"no kernel for a dtype", "\"f\" not implemented for 'Bool'", []engine.Device{"lpu"}, asserts.Meta, ""},
		{"a level without twins", "no", []engine.Device{"lpu"}, asserts.Content, ""},
		{"an error of ours", "", []engine.Device{"lpu"}, asserts.Meta, ""},
	} {
		b := newBench(t, "ns::f(Tensor a) -> Tensor", func(e *fakeEngine, args []any) ([]any, error) {
			switch on := slices.Contains(tt.on, first(args).device); {
			case on && tt.message == "":
				return nil, errOurs
			case on:
				return nil, &engine.Thrown{Message: tt.message}
			}
			return copies(e, args)
		})
		b.e.devices, b.Level = []engine.Device{"lpu", engine.CPU, engine.Meta}, tt.level
		var c report.CaseResult
		for range 2 {
			if _, err := b.Try(b.t, b.call(t, "float32[2]")); err == nil {
				t.Fatalf("%s: no error", tt.name)
			}
		}
		notes := 0
		for _, call := range b.t.threw {
			notes += len(call.verdict.Violations)
			b.addJudged(b.t, call, &c)
		}
		if got := words(c.Found); got != tt.want || notes > 1 {
			t.Errorf("%s: found %s, %d times, want %s", tt.name, got, notes, tt.want)
		}
		if len(c.Found) > 0 && (c.Found[0].Violation.Note == "" || !strings.HasSuffix(c.Found[0].Violation.Saw, ": "+tt.message)) {
			t.Errorf("%s: not a note with the message: %+v", tt.name, c.Found[0].Violation)
		}
	}
}

// The calls that are not repeated, after many others, are counted.
func TestRefusesOften(t *testing.T) {
	b := newBench(t, "ns::f(Tensor a) -> Tensor", func(*fakeEngine, []any) ([]any, error) { return nil, &engine.Thrown{Message: "no"} })
	b.e.devices, b.Level = []engine.Device{"lpu", engine.CPU, engine.Meta}, asserts.Meta
	const want = "not repeated on cpu and meta after it threw: at most 200 per op"
	var c report.CaseResult
	for n := range probe.Device.Budget + 2 {
		b.Try(b.t, b.call(t, fmt.Sprintf("float32[%d]", n)))
	}
	for _, call := range b.t.threw {
		b.addJudged(b.t, call, &c)
	}
	if got := c.Devices["lpu"].Skips; !slices.ContainsFunc(got, func(s asserts.Skip) bool {
		return s.Code == asserts.MetaAlias && s.Reason == want && s.Count == 2
	}) {
		t.Errorf("skipped %+v, want %d times %q", got, 2, want)
	}
}
