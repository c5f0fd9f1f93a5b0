package work

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/internal/design"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
	"github.com/opassert/opassert/internal/dev/must"
	"github.com/opassert/opassert/internal/tensor"
)

// A finding is reported with the smallest call that shows it.
func TestMinimise(t *testing.T) {
	onFour := func(e *fakeEngine, args []any) ([]any, error) {
		if slices.Contains(first(args).spec.Sizes, 4) {
			return returnsInput(e, args)
		}
		return copies(e, args)
	}
	writesToo := func(e *fakeEngine, args []any) ([]any, error) {
		first(args).version++
		return onFour(e, args)
	}
	onFourOrMeta := func(e *fakeEngine, args []any) ([]any, error) {
		if first(args).device == engine.Meta {
			return returnsInput(e, args)
		}
		return onFour(e, args)
	}
	wantsMatrix := func(e *fakeEngine, args []any) ([]any, error) {
		if len(first(args).spec.Sizes) != 2 {
			return nil, &engine.Thrown{Message: "want a matrix"}
		}
		return returnsInput(e, args)
	}
	for _, tt := range []struct {
		name   string
		schema string
		kernel func(*fakeEngine, []any) ([]any, error)
		texts  []string
		want   string
	}{
		{"anything", "ns::f(Tensor a, int n, Tensor[] b) -> Tensor", returnsInput, []string{"float64[5, 4, 3] transposed", "3", "[float32[2], float32[3]]"}, "a=float32[2], c=[float32[2]]"},
		{"a form", "ns::f(Tensor a) -> Tensor", returnsInput, []string{"float32[2, 3] neg"}, "a=float32[2]"},
		{"a size", "ns::f(Tensor a) -> Tensor", onFour, []string{"float32[5, 4]"}, "a=float32[4]"},
		{"integers", "ns::f(Tensor a) -> Tensor", returnsInput, []string{"int64[3]"}, "a=int64[2]"},
		{"another rule is broken in smaller calls", "ns::f(Tensor a) -> Tensor", writesToo, []string{"float32[5, 4]"}, "a=float32[4]"},
		{"smaller calls show it on meta", "ns::f(Tensor a) -> Tensor", onFourOrMeta, []string{"float32[5, 4]"}, "a=float32[4]"},
		{"smaller calls throw", "ns::f(Tensor a) -> Tensor", wantsMatrix, []string{"float32[5, 4]"}, "a=float32[2, 2]"},
	} {
		b := newBench(t, tt.schema, tt.kernel)
		a := must.Get(b.Try(b.t, b.call(t, tt.texts...)))(t)
		found := b.judge(b.t, a, new(report.CaseResult))
		i := slices.IndexFunc(found, func(f *report.Finding) bool { return f.Violation.Code == asserts.UndeclaredAlias })
		if i < 0 {
			t.Fatalf("%s: found %s", tt.name, words(found))
		}
		c, f := b.minimise(b.t, a.c, found[i])
		if got := c.String(); got != "ns::f("+tt.want+")" || !f.SameFault(found[i]) {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

// Minimising ends if the library makes the same call for a smaller case.
func TestMinimiseWithoutProgress(t *testing.T) {
	b := newBench(t, "ns::f(Tensor a) -> Tensor", returnsInput)
	b.e.lacks = func(d engine.Dense, _ engine.Form) bool {
		return d.DType != "float64" || !slices.Equal(d.Sizes, []int64{1, 1})
	}
	a := must.Get(b.Try(b.t, b.call(t, "float64[1, 1]")))(t)
	found := b.judge(b.t, a, new(report.CaseResult))
	b.e.called = nil
	if c, _ := b.minimise(b.t, a.c, found[0]); c.String() != "ns::f(a=float64[1, 1])" || len(b.e.called) > 12 {
		t.Errorf("%v after %d calls", c, len(b.e.called))
	}
}

// The search for a smaller call ends after some calls.
func TestMinimiseEnds(t *testing.T) {
	b := newBench(t, "ns::f(Tensor[] a) -> Tensor", copies)
	calls := 0
	b.e.kernels["ns::f"] = func(e *fakeEngine, args []any) ([]any, error) {
		calls++
		if len(tensorsOf(args)) == 1 && first(args).device == engine.CPU {
			return copies(e, args)
		}
		return returnsInput(e, args)
	}
	var texts []string
	for range 90 {
		texts = append(texts, "1")
	}
	c := b.call(t, append([]string{"[float32[2], float32[2]]"}, texts...)...)
	a := must.Get(b.Try(b.t, c))(t)
	found := b.judge(b.t, a, new(report.CaseResult))
	calls = 0
	small, _ := b.minimise(b.t, a.c, found[0])
	if left := strings.Count(small.String(), "=1"); left == 0 || left == 90 || calls > 4*60 {
		t.Errorf("%d arguments are left after %d calls", left, calls)
	}
}

func TestSimplifications(t *testing.T) {
	b := newBench(t, "ns::f(Tensor a) -> Tensor", copies)
	for _, tt := range []struct {
		texts  []string
		agreed bool
		want   []string // for argument a
	}{
		{[]string{"default"}, false, nil},
		{[]string{"none"}, false, nil},
		{[]string{"3"}, false, []string{"default"}},
		{[]string{"'x'"}, false, []string{"default"}},
		{[]string{"storage:int8[2]"}, false, []string{"default"}},
		{[]string{"[1, 2]"}, false, nil},
		{[]string{"(t[2], 3)"}, false, nil},
		{[]string{"[float32[2]]"}, false, nil},
		{[]string{"[float32[2], float32[3]]"}, false, []string{"[float32[2]]"}},
		{[]string{"[float32[2], float32[3]]", "same:a[1]"}, false, nil},
		{[]string{"[float32[2], float32[3]]", "view:a[1]"}, false, nil},
		{[]string{"float32[2]"}, false, nil},
		{[]string{"float64[2]"}, false, []string{"float32[2]"}},
		{[]string{"int64[2]"}, false, nil},
		{[]string{"float32[2] coo"}, false, []string{"float32[2]"}},
		{[]string{"float32[2] sliced"}, false, []string{"float32[2]"}},
		{[]string{"float32[3, 1, 4]"}, false, []string{"float32[2, 1, 4]", "float32[3, 1, 2]", "float32[1, 4]"}},
		{[]string{"float64[3, 4] sliced"}, true, []string{"float64[3, 4]", "float32[3, 4] sliced"}},
	} {
		c := b.call(t, tt.texts...)
		c.Agreed = tt.agreed
		var got []string
		for _, simpler := range simplifications(c, 0) {
			got = append(got, simpler.Args[0].String())
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%v (-want +got):\n%s", c, diff)
		}
	}
	c := b.call(t, "float32[3]", "same:a")
	if all := simplifications(c, 1); all != nil {
		t.Errorf("of what another tensor is: %v", all)
	}
}

// Nothing simpler is tried after it is enough.
func TestSmallestEnds(t *testing.T) {
	c, tried := newBench(t, "t::f(Tensor a) -> Tensor", copies).call(t, "float32[3, 1, 4]"), 0
	small := Smallest(c, func(simpler *sample.Case) (*sample.Case, bool) { tried++; return simpler, true })
	if small != c || tried != 1 {
		t.Errorf("%v after %d tries", small, tried)
	}
}

// A rule that an argument violates only because it is the same tensor as another one is reported
// for that one.
func TestBorrowed(t *testing.T) {
	writing := func(numbers ...int) func(*fakeEngine, []any) ([]any, error) {
		return func(e *fakeEngine, args []any) ([]any, error) {
			for _, i := range numbers {
				args[i].(*fakeTensor).write()
			}
			return copies(e, args)
		}
	}
	for _, tt := range []struct {
		name   string
		kernel func(*fakeEngine, []any) ([]any, error)
		texts  []string
		want   bool
	}{
		{"it is written", writing(0), []string{"float32[2]", "same:a"}, false},
		{"the other is written", writing(1), []string{"float32[2]", "same:a"}, true},
		{"both are", writing(0, 1), []string{"float32[2]", "same:a"}, false},
		{"tensors of their own", writing(0), []string{"float32[2]", "float32[2]"}, false},
		{"nothing shows apart", func(e *fakeEngine, args []any) ([]any, error) {
			if args[0] == args[1] {
				return writing(1)(e, args)
			}
			return copies(e, args)
		}, []string{"float32[2]", "same:a"}, false},
		{"another rule apart", func(e *fakeEngine, args []any) ([]any, error) {
			if args[0] == args[1] {
				return writing(1)(e, args)
			}
			return []any{e.view(args[1].(*fakeTensor))}, nil
		}, []string{"float32[2]", "same:a"}, false},
		{"not apart", func(e *fakeEngine, args []any) ([]any, error) {
			if args[0] != args[1] {
				return nil, &engine.Thrown{Message: "want one tensor"}
			}
			return writing(1)(e, args)
		}, []string{"float32[2]", "same:a"}, false},
	} {
		b := newBench(t, "ns::f(Tensor a, Tensor b) -> Tensor", tt.kernel)
		c := b.call(t, tt.texts...)
		a := must.Get(b.Try(b.t, c))(t)
		found := b.judge(b.t, a, new(report.CaseResult))
		if len(found) != 1 || found[0].Violation.Subject.Index != 0 {
			t.Fatalf("%s: found %s", tt.name, words(found))
		}
		if got := b.causedByAlias(b.t, c, found[0]); got != tt.want {
			t.Errorf("%s: borrowed %v", tt.name, got)
		}
	}
}

// A finding is minimised once; later cases that show it are counted.
func TestFindingsAreMinimisedOnce(t *testing.T) {
	b := newBench(t, "ns::f(Tensor a) -> Tensor", returnsInput)
	var told []string
	b.t.Found = func(c *report.CaseResult) { told = append(told, fmt.Sprint(c.Case, len(c.Found))) }
	all := b.cases(t, Span{From: 0, To: 2})
	if !slices.Equal(told, []string{"0 1"}) || len(b.t.found) != 1 || len(all) != 2 || len(all[0].Found) != 1 || len(all[1].Found) != 1 {
		t.Fatalf("told %q, found %v", told, all)
	}
	if b.cases(t, Span{From: 2, To: 8, Resumed: true}); len(told) != 1 || len(b.t.found) != 1 {
		t.Errorf("told of other calls that show it: %q, found %d", told, len(b.t.found))
	}
	one, two := all[0].Found[0], all[1].Found[0]
	if one == two || one.Call != two.Call || one.Case != 0 || one.Times != 1 || one.Call != "ns::f(a=float32[2])" {
		t.Errorf("%+v and then %+v", one, two)
	}
	b = newBench(t, "ns::f(Tensor a) -> Tensor", returnsInput)
	b.t.AsItIs = true
	if f := b.cases(t, Span{From: 0, To: 1})[0].Found[0]; f.Call != "ns::f(a=float32[3, 3])" {
		t.Errorf("as it is: %s", f.Call)
	}
}

// An op is given up if its first cases all end in errors that no arguments avoid.
func TestGiveUp(t *testing.T) {
	b := newBench(t, "ns::f(Tensor a) -> Tensor", thrown("x"))
	b.Engine = boundedEngine{b.e}
	all := b.cases(t, Span{From: 0, To: 3 * report.GiveUp})
	if len(all) != report.GiveUp {
		t.Errorf("%d cases were run", len(all))
	}
	for _, c := range all {
		if c.Error != "x" || c.Beyond != "ns::f has no kernel" || c.Ran {
			t.Errorf("%+v", c)
		}
	}
	calls := 0 // on cpu: every other one fails
	b = newBench(t, "ns::f(Tensor a) -> Tensor", func(e *fakeEngine, args []any) ([]any, error) {
		if first(args).device == engine.CPU {
			calls++
		}
		if calls%2 == 1 {
			return copies(e, args)
		}
		return nil, &engine.Thrown{Message: "x"}
	})
	b.Engine = boundedEngine{b.e}
	if all := b.cases(t, Span{From: 0, To: 3 * report.GiveUp}); len(all) != 3*report.GiveUp {
		t.Errorf("where some ran, %d cases were run", len(all))
	}
}

// boundedEngine knows that no arguments avoid the error "x".
type boundedEngine struct{ *fakeEngine }

func (boundedEngine) Unavailable(op, text string) string {
	if text == "x" || text == "x was not compiled" {
		return op + " has no kernel"
	}
	return ""
}

// What the engine says about an error comes before its text.
func TestBeyond(t *testing.T) {
	b := newBench(t, "ns::f(Tensor a) -> Tensor", copies)
	if why := b.beyond("f", "x"); why != "" {
		t.Errorf("%q", why)
	}
	b.Engine = boundedEngine{b.e}
	if why := b.beyond("f", "x was not compiled"); why != "f has no kernel" {
		t.Errorf("what the engine says comes first: %q", why)
	}
	if why := b.beyond("f", "x"); why != "f has no kernel" {
		t.Errorf("%q", why)
	}
	if why := b.beyond("f", "f was not compiled with support for x"); why != "by its kernel's error, this build lacks a requirement, or the op was removed" {
		t.Errorf("%q", why)
	}
	var c report.CaseResult
	if b.Fail(&c, "f", nil); c.Error != "" {
		t.Errorf("no error: %+v", c)
	}
	b.Fail(&c, "f", errors.New("our own"))
	if c.Error != "our own" || c.Beyond != "" {
		t.Errorf("%+v", c)
	}
}

// A failure of another sort ends the search at once, and so does an error that no arguments avoid.
func TestSearchEnds(t *testing.T) {
	for _, err := range []error{errOurs, &engine.Thrown{Message: "not compiled: input too small"}} {
		calls := 0
		b := newBench(t, "ns::f(Tensor a) -> Tensor", func(*fakeEngine, []any) ([]any, error) { calls++; return nil, err })
		s := b.search(b.t, sample.NewRandom(0, "f", 0), b.call(t, "float32[2]"))
		if calls != 1 || !errors.Is(s.err, err) || s.closest == nil || s.ran() != nil {
			t.Errorf("%d calls, %v", calls, s.err)
		}
	}
}

// An error of the dispatcher is closer to a call than an argument that could not be made.
func TestSearchCalled(t *testing.T) {
	first := true
	b := newBench(t, "ns::f(Tensor a) -> Tensor", func(e *fakeEngine, args []any) ([]any, error) {
		switch {
		case sizesOf(args[0].(*fakeTensor)) == "[1]":
			return nil, &engine.Thrown{Message: "Could not run 'ns::f'"}
		case first:
			first = false
			return nil, &engine.Thrown{Message: "not yet"}
		}
		return []any{e.tensor(engine.Dense{DType: "uint8", Sizes: []int64{1}, Data: []byte{1}}, engine.Strided, engine.CPU)}, nil
	})
	s := b.search(b.t, rand.New(coin(0)), b.call(t, "ns::f(float32[2])"))
	if s.err == nil || s.err.Error() != "Could not run 'ns::f'" || s.close != 0 {
		t.Errorf("%v, %d close", s.err, s.close)
	}
	b = newBench(t, "ns::f(Tensor a) -> Tensor", thrown("not yet"))
	var c report.CaseResult
	if b.search(b.t, rand.New(coin(0)), b.call(t, "ns::f(float32[2])")).record(&c); c.Close != report.Unmade {
		t.Errorf("%d close where nothing was made", c.Close)
	}
}

// The closest attempt is the call with the last new error of the kernel.
func TestSearchClosest(t *testing.T) {
	for _, unmade := range []bool{false, true} {
		b := newBench(t, "ns::f(Tensor a) -> Tensor", nil)
		var made []string
		b.e.kernels["ns::f"] = func(e *fakeEngine, args []any) ([]any, error) {
			made = append(made, sizesOf(first(args)))
			if unmade {
				e.seed = &engine.Thrown{Message: "another one"}
			}
			return nil, &engine.Thrown{Message: []string{"input too small", "another: input too small", fmt.Sprintf("input too small (%d)", len(made))}[min(len(made)-1, 2)]}
		}
		s := b.search(b.t, rand.New(coin(0)), b.call(t, "float32[2]"))
		want, close := "[18]", 3
		if unmade {
			want, close = "[2]", 1
		}
		if got := fmt.Sprint(s.closest.Args[0].Tensor.Sizes); got != want || s.close != close {
			t.Errorf("unmade %v: of %s the closest is %s, %d close: %v", unmade, made, got, s.close, s.err)
		}
	}
}

func sizesOf(t *fakeTensor) string { return fmt.Sprint(t.spec.Sizes) }

// A coin always returns 0 or 1. Its other bits are such that a random number below any limit has
// one of two values.
type coin uint64

func (c coin) Uint64() uint64 { return 0x80000001<<32 | uint64(c) }

// After a known error, the search continues from the last call with a new one, or from this one,
// equally often; always from that call if this one reached no kernel.
func TestSearchGoesBack(t *testing.T) {
	const stays, goes = false, true // to three times the calls of the first error
	const small = "input too small (%d)"
	for _, tt := range []struct {
		call, text string
		want       map[coin]bool
	}{
		{"float32[2]", small, map[coin]bool{0: stays, 1: goes}},
		{"float32[2]", "Found a custom (non-ATen) operator: " + small, map[coin]bool{0: stays, 1: stays}},
		{"ns::g(float32[2])", small, map[coin]bool{0: stays, 1: stays}},
	} {
		for c, want := range tt.want {
			var made []string
			refuses := func(e *fakeEngine, args []any) ([]any, error) {
				made = append(made, sizesOf(first(args)))
				return nil, &engine.Thrown{Message: fmt.Sprintf(tt.text, len(made))}
			}
			b := newBench(t, "ns::f(Tensor a) -> Tensor", refuses)
			b.e.kernels["ns::g"] = refuses
			b.search(b.t, rand.New(c), b.call(t, tt.call))
			if got := slices.Contains(made, "[18]"); got != want || made[1] != "[6]" {
				t.Errorf("%s: %s, where the coin falls on %d: %s", tt.call, tt.text, c, made)
			}
		}
	}
}

// A call has the classes of its row on the first base that accepts them, or an error.
func TestVary(t *testing.T) {
	takes := func(*fakeTensor) bool { return true }
	b := benchOf(t, "ns::f(Tensor a, int? n) -> Tensor", func(e *fakeEngine, args []any) ([]any, error) {
		if !takes(first(args)) {
			return nil, &engine.Thrown{Message: "not today"}
		}
		return copies(e, args)
	}, func(*engine.Operator, *engine.Checks) {}, "- ops: [ns::f]\n  cases: [{a: 'float32[512, 512]', n: '1'}, {a: 'float32[3]', n: '1'}]\n")
	b.cases(t, Span{To: b.t.planned() + 1})
	d := b.t.design()
	class := func(name string) design.ClassRow { return design.ClassRow{Classes: []int{classNamed(t, d, name)}} }
	vary := func(name string) (call string, base int, err error) {
		b.e.called = nil
		clear(b.t.made)
		a, origin, err := b.vary(b.t, class(name), 0)
		if a == nil {
			return "", -1, err
		}
		return a.c.Args[0].String(), origin.Base, err
	}
	if call, base, err := vary("float64"); call != "float64[512, 512]" || base != 0 || err != nil {
		t.Errorf("%s on base %d, %v", call, base, err)
	}
	takes = func(a *fakeTensor) bool { return len(a.spec.Sizes) < 2 }
	if call, base, err := vary("float64"); call != "float64[3]" || base == 0 || err != nil {
		t.Errorf("where the first base does not take it: %s on base %d, %v", call, base, err)
	}
	takes = func(*fakeTensor) bool { return false }
	if call, _, err := vary("float64"); call != "" || err == nil {
		t.Errorf("where none does: %s, %v", call, err)
	}
	takes = func(a *fakeTensor) bool { return tensor.Numel(a.spec.Sizes) < 1<<18 }
	vary("batched")
	for _, call := range b.e.called {
		if strings.Contains(call, "512, 512") {
			t.Errorf("a huge call is made: %s", call)
		}
	}
	for _, base := range d.Bases {
		c := base.Clone()
		i := class("channels-last").Classes
		if d.Apply(c, i, []int{0}) {
			continue
		}
		d.Bases = []*sample.Case{base}
		if call, _, err := vary("channels-last"); call != "" || err != nil || len(b.e.called) > 0 {
			t.Errorf("a call without a place for the class: %s, %v, %q", call, err, b.e.called)
		}
		return
	}
	t.Error("each base has a place for channels-last")
}

func classNamed(t *testing.T, d *design.Design, name string) int {
	t.Helper()
	for i, c := range d.Classes {
		if _, class := c.Label(); class == name {
			return i
		}
	}
	t.Fatalf("there is no class %s", name)
	return -1
}

// If no call has all classes of a row, the first two are tried alone.
func TestRowsAreShortened(t *testing.T) {
	refused := ""
	b := newBench(t, "ns::f(Tensor a) -> Tensor", func(e *fakeEngine, args []any) ([]any, error) {
		if first(args).spec.DType == refused {
			return nil, &engine.Thrown{Message: "not today"}
		}
		return copies(e, args)
	})
	b.cases(t, Span{To: b.t.planned() + 1})
	d := b.t.design()
	b.cases(t, Span{From: b.t.planned() + 1, To: d.Apart(), Resumed: true})
	var row []int
	for _, name := range []string{"sliced", "negative", "float64"} {
		row = append(row, classNamed(t, d, name))
	}
	for _, tt := range []struct {
		refused string
		row     []int
		want    int // classes
		ran     bool
	}{{"", row, 3, true}, {"float64", row, 2, true}, {"float64", []int{row[2], row[0], row[1]}, 2, false}, {"float64", []int{row[0], row[2]}, 2, false}} {
		refused = tt.refused
		d.Rows = []design.ClassRow{{Classes: tt.row}}
		clear(b.t.made)
		c := b.cases(t, Span{From: d.Apart(), To: d.Apart() + 1, Resumed: true})[0]
		if len(c.Tried) != tt.want || c.Ran != tt.ran {
			t.Errorf("refused %q: of %d classes %q were tried, ran %v", tt.refused, len(tt.row), c.Tried, c.Ran)
		}
	}
}

// If kernels may keep what they return, or no use_count is the kernel's, bases and single classes
// are called twice, and rows once; what only the first call shows is found, too.
func TestCalledTwice(t *testing.T) {
	calls, throws := 0, false
	b := newBench(t, "ns::f(Tensor a) -> Tensor", func(e *fakeEngine, args []any) ([]any, error) {
		switch calls++; {
		case calls == 1:
			first(args).version++
		case calls%2 == 0 && throws:
			return nil, &engine.Thrown{Message: "not again"}
		}
		return copies(e, args)
	})
	b.Engine = keepingEngine{b.e}
	b.e.devices = b.e.devices[:1]
	all := b.cases(t, Span{To: b.t.planned()})
	if n := len(all[0].Found); n != 1 || b.t.plan != nil {
		t.Errorf("found %d faults in the first call, want 1, and the design is %v before all bases have run", n, b.t.plan)
	}
	b.cases(t, Span{From: b.t.planned(), To: b.t.planned() + 1, Resumed: true})
	d := b.t.design()
	class := classNamed(t, d, "float64")
	d.Rows = []design.ClassRow{{Classes: []int{class}}}
	for _, uncounted := range []bool{false, true} {
		if uncounted {
			b.Engine, b.t.operator.Uncounted = b.e, true
		}
		for number, want := range map[int]int{d.Apart() - len(d.Classes) + class: 2, d.Apart(): 1} {
			b.e.called = nil
			clear(b.t.made)
			c := b.cases(t, Span{From: number, To: number + 1, Resumed: true})[0]
			if n := len(b.e.called); n != want || !c.Ran {
				t.Errorf("uncounted %v: case %d, which ran: %v, took %d calls, want %d", uncounted, number, c.Ran, n, want)
			}
		}
	}
	calls, throws = 2, true
	clear(b.t.made)
	if c := b.cases(t, Span{From: d.Apart() - 1, To: d.Apart(), Resumed: true})[0]; !c.Ran || len(c.Found) > 0 {
		t.Errorf("where the second call throws: ran %v, found %v", c.Ran, c.Found)
	}
}

// The search keeps the closest attempt, and how close it was.
func TestSearch(t *testing.T) {
	calls := 0
	b := newBench(t, "ns::f(Tensor a) -> Tensor", func(e *fakeEngine, args []any) ([]any, error) {
		calls++
		if len(first(args).spec.Sizes) != 3 {
			return nil, &engine.Thrown{Message: "Expected 3-dimensional input, but got something else"}
		}
		if first(args).spec.DType != "int64" {
			return nil, &engine.Thrown{Message: "expected scalar type Long but found Float"}
		}
		return copies(e, args)
	})
	s := b.search(b.t, sample.NewRandom(0, "f", 0), b.call(t, "float32[2]"))
	if s.a == nil || s.ran() != s.a.c || s.first == nil || s.close == 0 {
		t.Fatalf("%+v after %d calls", s, calls)
	}
	if spec := s.ran().Args[0].Tensor; spec.DType != "int64" || len(spec.Sizes) != 3 {
		t.Errorf("%v", s.ran())
	}
	var c report.CaseResult
	if a, err := s.record(&c); a != s.a || err != nil || c.Closest != "" {
		t.Errorf("%v, %v", a, err)
	}

	calls = 0
	b.e.kernels["ns::f"] = func(*fakeEngine, []any) ([]any, error) { calls++; return nil, &engine.Thrown{Message: "not today"} }
	clear(b.t.made)
	s = b.search(b.t, sample.NewRandom(0, "f", 0), b.call(t, "float32[2]"))
	if a, err := s.record(&c); a != nil || err == nil || calls > tries || calls < tries/3 || c.Closest != `{a: "float32[2]"}` || c.Close != 1 {
		t.Errorf("%d calls, %v, %+v", calls, err, c)
	}
}

// An argument that cannot be made, and an error of the dispatcher, do not bring an attempt closer.
func TestSearchComesNoCloser(t *testing.T) {
	for _, text := range []string{"ns::g(1)", "float32[2]"} {
		b := newBench(t, "ns::f(Tensor a) -> Tensor", thrown("Could not run 'ns::f'"))
		s := b.search(b.t, sample.NewRandom(0, "f", 0), b.call(t, text))
		if s.close != 0 || s.closest == nil || s.err == nil {
			t.Errorf("%s: %d close, %v", text, s.close, s.err)
		}
	}
}

// A condition from a kernel's source changes the call, and is not reported as its error.
func TestSearchReadsSource(t *testing.T) {
	b := newBench(t, "ns::f(Tensor a) -> Tensor", func(e *fakeEngine, args []any) ([]any, error) {
		if len(first(args).spec.Sizes) != 3 {
			return nil, &engine.Thrown{Message: "no. ", Asks: "assert failed: a.ndim == 3"}
		}
		return copies(e, args)
	})
	if s := b.search(b.t, sample.NewRandom(0, "f", 0), b.call(t, "float32[2]")); s.a == nil || len(s.a.c.Tensors()[0].Sizes) != 3 || s.first.Error() != "no. " {
		t.Errorf("%+v, first %v", s, s.first)
	}
}

// No error makes tensors huge, unless those of the case are.
func TestSearchStaysSmall(t *testing.T) {
	for text, want := range map[string]bool{"float32[2, 2]": false, "float32[600, 600]": true} {
		calls, huge := 0, 0
		b := newBench(t, "ns::f(Tensor a, Tensor b) -> Tensor", func(_ *fakeEngine, args []any) ([]any, error) {
			if calls++; tensor.Numel(first(args).spec.Sizes) > 1<<18 {
				huge++
			}
			return nil, &engine.Thrown{Message: fmt.Sprintf("%d: value tensor of shape [2, 2] cannot be broadcast to indexing result of shape [900, 900]", calls)}
		})
		b.search(b.t, sample.NewRandom(0, "f", 0), b.call(t, text, text))
		if huge > 1 != want || calls < tries/3 {
			t.Errorf("%s: %d of %d calls are huge", text, huge, calls)
		}
	}
}

// A case that the dispatcher refuses is given up after a few calls, one that a kernel refuses after
// many, even if each of its errors is new. Calls that were made before count, and are not repeated.
func TestSearchGivesUp(t *testing.T) {
	for message, want := range map[string]int{"Could not run 'ns::f'": undispatched, "PyTorch's fallback for conj and neg tensors writes none": undispatched, "a must be larger": tries, "%s is new": mostTries} {
		calls := 0
		b := newBench(t, "ns::f(Tensor a) -> Tensor", func(*fakeEngine, []any) ([]any, error) {
			calls++
			return nil, &engine.Thrown{Message: strings.ReplaceAll(message, "%s", strings.Repeat("x", calls))}
		})
		if s := b.search(b.t, sample.NewRandom(0, "f", 0), b.call(t, "float32[2]")); calls > want || calls < want/3 || s.a != nil || s.err == nil {
			t.Errorf("%s: %d calls, want at most %d, %v", message, calls, want, s.err)
		}
	}
}

// Cases begin with the openings and the classes of each argument and end with the design.
func TestCases(t *testing.T) {
	b := newBench(t, "ns::f(Tensor a, int n) -> Tensor", copies)
	learned := 0
	b.t.OnLearned = func(*design.Learned) { learned++ }
	var started []int
	all := []report.CaseResult{}
	must.Do(t, b.Cases(b.t, Span{To: AllCases}, func(n int) { started = append(started, n) }, func(c *report.CaseResult) error { all = append(all, *c); return nil }))
	if len(all) != b.t.plan.Cases() || len(started) != len(all) || learned != 1 {
		t.Errorf("%d cases of %d, %d started, learned %d times", len(all), b.t.plan.Cases(), len(started), learned)
	}
	idle, tried := 0, 0
	for i, c := range all {
		if c.Case != i {
			t.Errorf("case %d is %d", i, c.Case)
		}
		if c.Idle {
			idle++
		}
		tried += len(c.Tried)
	}
	if idle < 2 || tried < 20 {
		t.Errorf("%d cases were idle, %d classes tried", idle, tried)
	}
	if b.earlier.release(); b.e.live != 0 {
		t.Errorf("%d tensors are left", b.e.live)
	}
	d := b.t.plan
	for _, c := range all[b.t.planned() : d.Apart()+len(d.Rows)] {
		if len(c.Tried) == 0 {
			t.Errorf("case %d tries nothing", c.Case)
		}
	}
	for _, c := range all[d.Apart()+len(d.Rows):] { // random calls and random pairs
		if (len(c.Tried) == 0) != (c.Case%2 == 0) {
			t.Errorf("case %d tries %v", c.Case, c.Tried)
		}
	}
	for n := range b.t.Origins {
		if n >= d.Apart() {
			t.Errorf("case %d, of several classes, is the origin of one", n)
		}
	}
	if len(d.Rows) == 0 || len(b.t.Origins) == 0 {
		t.Errorf("%d rows, %d origins", len(d.Rows), len(b.t.Origins))
	}
	if more := b.cases(t, Span{From: d.Cases() - 1, To: d.Cases() + 2, Resumed: true}); len(more) != 3 {
		t.Errorf("%d of the 3 cases that were asked for ran", len(more))
	}
	stop := errors.New("stop")
	n := 0
	if err := b.Cases(b.t, Span{To: AllCases}, func(int) {}, func(*report.CaseResult) error { n++; return stop }); !errors.Is(err, stop) || n != 1 {
		t.Errorf("after an error %d cases, %v", n, err)
	}
}

// Of an op of one's own the usual cases are a part, and the last one says how many are left; of PyTorch's they are all.
func TestUsualCases(t *testing.T) {
	const schema = "ns::f(Tensor a, int n) -> Tensor"
	all := newBench(t, schema, copies).cases(t, Span{To: AllCases})
	usual := newBench(t, schema, copies).cases(t, Span{To: UsualCases})
	if len(usual) != len(all) || usual[len(usual)-1].Later != 0 {
		t.Errorf("of PyTorch's op %d cases of %d are usual", len(usual), len(all))
	}
	refusing := func() func(e *fakeEngine, args []any) ([]any, error) { // its first calls, before there is a design
		calls := 0
		return func(e *fakeEngine, args []any) ([]any, error) {
			if calls++; calls <= 40 {
				return nil, &engine.Thrown{Message: "not yet"}
			}
			return copies(e, args)
		}
	}
	whole, b := newBench(t, schema, refusing()), newBench(t, schema, refusing())
	whole.t.operator.Added, b.t.operator.Added = true, true
	all, usual = whole.cases(t, Span{To: AllCases}), b.cases(t, Span{To: UsualCases})
	for i, c := range usual {
		if !slices.Equal(c.Tried, all[i].Tried) {
			t.Errorf("case %d tries %v, and %v among all", i, c.Tried, all[i].Tried)
		}
	}
	later := 0
	for i := range usual {
		later += usual[i].Later
	}
	last := usual[len(usual)-1]
	if len(usual) != b.t.plan.Usual() || last.Later == 0 || last.Later != later || len(usual)+last.Later != b.t.plan.Cases() || len(usual) > b.t.plan.Cases()/2 {
		t.Errorf("%d cases of %d are usual, and %d are left", len(usual), b.t.plan.Cases(), last.Later)
	}
}

// A worker that continues after another one first runs what its cases depend on, except the case
// that ended it; the results are the same.
func TestCasesAreResumed(t *testing.T) {
	const schema = "ns::f(Tensor a, int n) -> Tensor"
	whole := newBench(t, schema, returnsInput)
	all := whole.cases(t, Span{To: AllCases})
	from := whole.t.planned() + 3
	var started []int
	b := newBench(t, schema, returnsInput)
	var got []report.CaseResult
	err := b.Cases(b.t, Span{From: from, To: from + 5, Skip: []int{1}}, func(n int) { started = append(started, n) }, func(c *report.CaseResult) error { got = append(got, *c); return nil })
	if err != nil {
		t.Fatal(err)
	}
	want := []int{0}
	for n := 2; n < from+5; n++ {
		want = append(want, n)
	}
	if !slices.Equal(started, want) {
		t.Errorf("ran %v", started)
	}
	for i := range got {
		if w := all[from+i]; got[i].Case != w.Case || !slices.Equal(got[i].Tried, w.Tried) || got[i].Ran != w.Ran {
			t.Errorf("case %d: %v, want %v", w.Case, got[i].Tried, w.Tried)
		}
	}
	b = newBench(t, schema, copies)
	b.t.Learned = whole.t.Learned
	started = nil
	err = b.Cases(b.t, Span{From: from, To: from + 1, Resumed: true}, func(n int) { started = append(started, n) }, func(*report.CaseResult) error { return nil })
	if err != nil || !slices.Equal(started, []int{from}) {
		t.Errorf("with what another worker learned: ran %v, %v", started, err)
	}
}

// The limit of a case is known once its classes are.
func TestCost(t *testing.T) {
	b := newBench(t, "ns::f(Tensor a, int n) -> Tensor", copies)
	if cost := b.t.Cost(b.t.planned()); cost != "" {
		t.Errorf("before the design: %q", cost)
	}
	b.cases(t, Span{To: AllCases})
	d, costs := b.t.plan, map[string]int{}
	for n := range d.Cases() {
		costs[b.t.Cost(n)]++
	}
	for i, class := range d.Classes {
		if costly := b.t.Cost(b.t.planned()+i) == WordCostly; costly != class.Costly() {
			t.Errorf("class %d costs: %v", i, costly)
		}
	}
	if b.t.design() != d {
		t.Error("the design is made again")
	}
	if costs[""] != b.t.planned() || costs[WordVaried] == 0 || costs[WordCostly] < design.Randomly+1 || b.t.Cost(d.Cases()-1) != WordCostly {
		t.Errorf("%v", costs)
	}
	none := newBench(t, "ns::f(Tensor a) -> Tensor", thrown("no"))
	none.cases(t, Span{To: none.t.planned() + 1})
	if cost := none.t.Cost(none.t.planned()); cost != "" {
		t.Errorf("without a base: %q", cost)
	}
}

// An op whose openings are all refused continues with other random calls.
func TestCasesWithoutABase(t *testing.T) {
	b := newBench(t, "ns::f(Tensor a) -> Tensor", thrown("no"))
	last := b.t.planned() + 2
	all := b.cases(t, Span{To: last})
	c := all[last-1]
	if len(all) != last || c.Ran || c.Idle || c.Error != "no" || c.Closest == "" || len(c.Tried) != 0 {
		t.Errorf("%d cases, the last %+v", len(all), c)
	}
}

// An error that names the values of an argument makes them its classes.
func TestAsk(t *testing.T) {
	b := newBench(t, "ns::f(Tensor a, str mode, Tensor b) -> Tensor", func(e *fakeEngine, args []any) ([]any, error) {
		if args[1] != "nearest" && args[1] != "linear" {
			return nil, &engine.Thrown{Message: "expected mode to be one of 'nearest', 'linear'"}
		}
		return copies(e, args)
	})
	base := b.call(t, "float32[2]", "'nearest'", "float32[2]")
	var got []string
	for _, v := range b.ask(b.t, base, 1) {
		got = append(got, v.String())
	}
	if diff := cmp.Diff([]string{`"nearest"`, `"linear"`}, got); diff != "" {
		t.Error(diff)
	}
	if values := b.ask(b.t, base, 0); values != nil {
		t.Errorf("of a tensor: %v", values)
	}
	b.e.kernels["ns::f"] = copies
	if values := b.ask(b.t, base, 1); values != nil {
		t.Errorf("of a kernel that takes anything: %v", values)
	}
	b.e.kernels["ns::f"] = func(*fakeEngine, []any) ([]any, error) { return nil, errors.New("one of 'a', 'b'") }
	if values := b.ask(b.t, base, 1); values != nil {
		t.Errorf("of another failure: %v", values)
	}
}

// For a case of a recipe that does not run as written, the reason is reported.
func TestUnfitRecipes(t *testing.T) {
	b := benchOf(t, "ns::f(Tensor a) -> Tensor", func(e *fakeEngine, args []any) ([]any, error) {
		if first(args).spec.DType != "int64" {
			return nil, &engine.Thrown{Message: "expected scalar type Long but found Float"}
		}
		return copies(e, args)
	}, func(*engine.Operator, *engine.Checks) {}, "- ops: [ns::f]\n  cases: [{a: 'int64[2]'}, {a: 'float32[2]'}]\n")
	all := b.cases(t, Span{To: 3})
	if all[0].Unfit != "" || !all[0].Ran || !strings.HasPrefix(all[1].Unfit, "this case ran with another a alone: expected scalar type Long") || all[2].Unfit != "" {
		t.Errorf("%q, %q and %q", all[0].Unfit, all[1].Unfit, all[2].Unfit)
	}
	if len(b.t.Recipes) != 2 || len(b.t.Ran) < 2 {
		t.Errorf("%d recipes and %d cases ran", len(b.t.Recipes), len(b.t.Ran))
	}
}

// The cases of a span depend only on those before it.
func TestPrepare(t *testing.T) {
	const schema = "ns::f(Tensor a, int n) -> Tensor"
	whole := newBench(t, schema, copies)
	whole.cases(t, Span{To: AllCases})
	openings, apart := whole.t.Gen.Openings(), whole.t.plan.Apart()
	upTo := func(from, to int) (all []int) {
		for n := from; n < to; n++ {
			all = append(all, n)
		}
		return all
	}
	for _, tt := range []struct {
		name     string
		from, to int
		want     []int
	}{
		{"an opening", 2, 3, []int{2}},
		{"from an opening on", 2, openings + 1, slices.Concat(upTo(2, openings), []int{0, 1, openings})},
		{"a pair of classes", apart + 3, apart + 4, append(upTo(0, apart), apart+3)},
	} {
		b := newBench(t, schema, copies)
		var started []int
		err := b.Cases(b.t, Span{From: tt.from, To: tt.to}, func(n int) { started = append(started, n) }, func(*report.CaseResult) error { return nil })
		if diff := cmp.Diff(tt.want, started); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", tt.name, err, diff)
		}
	}
}

// A case that was requested alone is called twice, so that a tensor kept by the kernel shows.
func TestSingle(t *testing.T) {
	for single, want := range map[bool]int{true: 2, false: 1} {
		b := newBench(t, "ns::f(Tensor a) -> Tensor", copies)
		b.Level = asserts.Content
		b.t.Single = single
		b.cases(t, Span{To: 1})
		if len(b.e.called) != want {
			t.Errorf("single %v: %d calls", single, len(b.e.called))
		}
	}
}

// The results of a call with a violation are not compared with those of the next one.
func TestNothingWrongIsHeld(t *testing.T) {
	for name, tt := range map[string]struct {
		kernel func(*fakeEngine, []any) ([]any, error)
		held   int
	}{"clean": {copies, 1}, "broken": {writes(engine.CPU), 0}} {
		b := newBench(t, "ns::f(Tensor a) -> Tensor", tt.kernel)
		b.t.AsItIs = true
		if b.cases(t, Span{To: 1}); len(b.earlier.tensors) != tt.held {
			t.Errorf("%s: %d tensors are held", name, len(b.earlier.tensors))
		}
	}
}

// A finding on an argument that shares its tensor with a written one is not reported.
func TestBorrowedFindings(t *testing.T) {
	b := benchOf(t, "ns::f(Tensor a, Tensor b) -> Tensor", func(e *fakeEngine, args []any) ([]any, error) {
		args[1].(*fakeTensor).write()
		return copies(e, args)
	}, func(*engine.Operator, *engine.Checks) {}, "- ops: [ns::f]\n  cases: [{a: 'int64[2]', b: 'same:a'}, {a: 'int64[2]', b: 'int64[2]'}]\n")
	var told []int
	b.t.Found = func(c *report.CaseResult) { told = append(told, c.Case) }
	all := b.cases(t, Span{To: 2})
	if len(all[0].Found) != 0 || words(all[1].Found) != "OA009 argument b on cpu" || !slices.Equal(told, []int{1}) {
		t.Errorf("found %s and %s, told of cases %v", words(all[0].Found), words(all[1].Found), told)
	}
}

// A recipe with tensors that the library lacks fits: it ran with similar ones.
func TestRecipeOfWhatIsLacking(t *testing.T) {
	b := benchOf(t, "ns::f(Tensor a) -> Tensor", copies, func(*engine.Operator, *engine.Checks) {}, "- ops: [ns::f]\n  cases: [{a: 'int8[2]'}]\n")
	b.e.lacks = func(d engine.Dense, f engine.Form) bool { return d.DType == "int8" || f != engine.Strided }
	all := b.cases(t, Span{To: AllCases})
	if c := all[0]; c.Unfit != "" || !c.Ran || c.Lacks["int8 strided"] != 1 {
		t.Errorf("%+v", c)
	}
	tried, both := 0, 0
	for _, c := range all {
		tried += len(c.Tried)
		if len(c.Tried) > 0 && len(c.Lacks) > 0 {
			both++
		}
		for lack := range c.Lacks {
			if slices.ContainsFunc(c.Tried, func(label string) bool { return strings.HasSuffix(lack, strings.TrimPrefix(label, "tensors:")) }) {
				t.Errorf("case %d tried what the library lacks, %s: %v", c.Case, lack, c.Tried)
			}
		}
	}
	if tried < 10 || both == 0 {
		t.Errorf("%d classes were tried, in %d cases beside what is lacking", tried, both)
	}
}

// The openings query the kernel for the values of each argument.
func TestValuesAreAskedFor(t *testing.T) {
	b := newBench(t, "ns::f(Tensor a, str mode='nearest') -> Tensor", func(e *fakeEngine, args []any) ([]any, error) {
		if args[1] != "nearest" && args[1] != "linear" && args[1] != (engine.Default{}) {
			return nil, &engine.Thrown{Message: "expected mode to be one of 'nearest', 'linear'"}
		}
		return copies(e, args)
	})
	b.cases(t, Span{To: b.t.planned()})
	if got := b.t.Offered[1]; len(got) != 2 || b.t.Offered[0] != nil {
		t.Errorf("%v", b.t.Offered)
	}
}

// A call with a class is changed a few times after errors, and keeps the class.
func TestSettle(t *testing.T) {
	wantsLong := func(e *fakeEngine, args []any) ([]any, error) {
		if first(args).spec.DType != "int64" {
			return nil, &engine.Thrown{Message: "expected scalar type Long but found Float"}
		}
		return copies(e, args)
	}
	calls := 0
	throwing := func(message string) func(*fakeEngine, []any) ([]any, error) {
		return func(*fakeEngine, []any) ([]any, error) { calls++; return nil, &engine.Thrown{Message: message} }
	}
	none := func(*sample.Case) {}
	for _, tt := range []struct {
		name   string
		kernel func(*fakeEngine, []any) ([]any, error)
		keep   func(*sample.Case)
		want   string // the call, or the error
		calls  int    // of throwing
	}{
		{"at once", copies, none, "ns::f(a=float32[2])", 0},
		{"changed", wantsLong, none, "ns::f(a=int64[2])", 0},
		{"kept", wantsLong, func(c *sample.Case) { c.Args[0].Tensor.DType = "float32" }, "expected scalar type Long but found Float", 0},
		{"huge", wantsLong, func(c *sample.Case) { c.Args[0].Tensor.Sizes = []int64{1 << 30} }, "expected scalar type Long but found Float", 0},
		{"no rule", throwing("not today"), none, "not today", 1},
		{"unchanged", throwing("expected scalar type Long but found Float"), func(c *sample.Case) { c.Args[0].Tensor.DType = "float32" }, "expected scalar type Long but found Float", 1},
		{"over and over", func(*fakeEngine, []any) ([]any, error) {
			calls++
			return nil, &engine.Thrown{Message: fmt.Sprintf("input too small (%d)", calls)}
		}, none, fmt.Sprintf("input too small (%d)", steps+1), steps + 1},
		{"beyond", throwing("not compiled: expected scalar type Long but found Float"), none, "not compiled: expected scalar type Long but found Float", 1},
		{"of ours", func(*fakeEngine, []any) ([]any, error) { calls++; return nil, errOurs }, none, errOurs.Error(), 1},
	} {
		b := newBench(t, "ns::f(Tensor a) -> Tensor", tt.kernel)
		calls = 0
		a, err := b.settle(b.t, b.call(t, "float32[2]"), sample.NewRandom(0, "f", 0), nil, tt.keep)
		got := fmt.Sprint(err)
		if err == nil {
			got = a.c.String()
		}
		if got != tt.want || calls != tt.calls {
			t.Errorf("%s: %s after %d calls, want %s after %d", tt.name, got, calls, tt.want, tt.calls)
		}
	}
	b := newBench(t, "ns::f(Tensor a, Tensor b) -> Tensor", throwing("divisible by 1"))
	calls = 0
	if _, err := b.settle(b.t, b.call(t, "float32[2]", "same:a"), sample.NewRandom(0, "f", 0), nil, none); err == nil || calls != 1 {
		t.Errorf("after a rule without an answer: %d calls, %v", calls, err)
	}
}
