package work

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/asserts/suite/compare"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/internal/probe"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
	"github.com/opassert/opassert/internal/dev/must"
)

// A watchingEngine fills memory, and has touches of a call.
type watchingEngine struct {
	*fakeEngine
	off       bool
	fill      byte
	ahead     bool
	aligned   bool
	reuses    bool
	touches   []asserts.Fault // for each call
	before    []asserts.Fault // for each call with tensors after a page
	unwatched string
	unfilled  string
}

func (e *watchingEngine) Watched() bool { return !e.off }
func (e *watchingEngine) Arrange(ahead, aligned bool, fill byte) {
	e.ahead, e.aligned, e.fill, e.reuses = ahead, aligned, fill, false
}
func (e *watchingEngine) Reuse(aligned bool, fill byte) {
	e.aligned, e.fill, e.reuses = aligned, fill, true
}

func (e *watchingEngine) MemoryFaults(*asserts.Op) ([]asserts.Fault, string, string) {
	if e.ahead {
		return e.before, e.unwatched, e.unfilled
	}
	return e.touches, e.unwatched, e.unfilled
}

// Memory faults of kernels are found, once each, and the checks are counted; a call that is not
// reproducible is distinguished from one that depends on the contents of memory.
func TestMemory(t *testing.T) {
	var w *watchingEngine
	calls := 0
	returns := func(data func() byte) func(*fakeEngine, []any) ([]any, error) {
		return func(e *fakeEngine, args []any) ([]any, error) {
			calls++
			out := e.like(first(args))
			(*out.data)[0] = data()
			return []any{out}, nil
		}
	}
	follows := returns(func() byte { return w.fill })
	leaves := func(e *fakeEngine, args []any) ([]any, error) {
		results, err := follows(e, args)
		(*results[0].(*fakeTensor).data)[1] = w.fill
		return results, err
	}
	counts := returns(func() byte { return byte(calls) })
	toggles := returns(func() byte { return byte(calls % 2) })
	chances := func(number int) func(*fakeEngine, []any) ([]any, error) { // depends on the memory, except in one call
		return returns(func() byte { return w.fill + map[bool]byte{true: 1}[calls == number] })
	}
	sides := returns(func() byte { return map[bool]byte{true: 1}[w.ahead] })
	sidesAndFollows := returns(func() byte { return map[bool]byte{true: 1}[w.ahead] + w.fill })
	fails := func(from int) func(*fakeEngine, []any) ([]any, error) {
		return func(e *fakeEngine, args []any) ([]any, error) {
			if calls+1 >= from {
				return nil, &engine.Thrown{Message: "no"}
			}
			return follows(e, args)
		}
	}
	writes := func(e *fakeEngine, args []any) ([]any, error) {
		calls++
		(*first(args).data)[0] = w.fill
		first(args).version++
		return []any{}, nil
	}
	without := func(change func(*fakeEngine)) func(*fakeEngine, []any) ([]any, error) { // from the first call on
		return func(e *fakeEngine, args []any) ([]any, error) {
			out, err := counts(e, args)
			change(e)
			return out, err
		}
	}
	all := func(e *fakeEngine, args []any) ([]any, error) {
		results, err := counts(e, args)
		more, _ := follows(e, args)
		for i, arg := range args {
			(*arg.(*fakeTensor).data)[0] = []byte{w.fill, byte(calls)}[i]
			arg.(*fakeTensor).version++
		}
		return append(results, more...), err
	}
	plain, outside := "t::f(Tensor a) -> Tensor", []asserts.Fault{{Code: asserts.OutOfBounds, Argument: "a"}}
	stopped := []asserts.Fault{{Code: asserts.OutOfBounds, Argument: "a", Frames: []string{"f.cpp:1"}}}
	for _, tt := range []struct {
		name, schema string
		kernel       func(*fakeEngine, []any) ([]any, error)
		touches      []asserts.Fault
		before       []asserts.Fault
		off          bool
		want         string
		tags         []string
		calls        int // of the kernel
		judged       int // number of times that OA020 was judged
	}{
		{name: "right", schema: plain, kernel: returns(func() byte { return 1 }), calls: 2, judged: 1},
		{name: "follows", schema: plain, kernel: follows, want: "OA020 result on cpu", calls: 23, judged: 1},
		{name: "counts", schema: plain, kernel: counts, want: "OA021 result on cpu", calls: 5},
		{name: "toggles", schema: plain, kernel: toggles, want: "OA021 result on cpu", calls: 5},
		{name: "differs at last", schema: plain, kernel: chances(23), want: "OA021 result on cpu", calls: 23},
		{name: "differs on the first side at last", schema: plain, kernel: chances(22), want: "OA021 result on cpu", calls: 23},
		{name: "writes", schema: "t::f_(Tensor(a!) a) -> ()", kernel: writes, want: "OA020 argument a on cpu", calls: 23, judged: 1},
		{name: "its work", schema: "t::my_empty(Tensor a) -> Tensor", kernel: leaves, calls: 5, judged: 1},
		{name: "its work, not filled", schema: "t::empty(Tensor a) -> Tensor", kernel: counts, calls: 5, judged: 1},
		{name: "its work in part", schema: "t::my_empty(Tensor a) -> Tensor", kernel: follows, want: "OA020 result on cpu", calls: 23, judged: 1},
		{name: "its work too", schema: "t::_empty_quantized(Tensor a) -> Tensor", kernel: follows, calls: 5, judged: 1},
		{name: "of what is empty", schema: "t::drop_empty_rows(Tensor a) -> Tensor", kernel: follows, calls: 23, judged: 1, want: "OA020 result on cpu"},
		{name: "random", schema: "t::f(Tensor a, Generator? g=None) -> Tensor", kernel: counts, calls: 2},
		{name: "tagged", schema: plain, kernel: counts, tags: []string{"core", "nondeterministic_seeded"}, calls: 2},
		{name: "tagged otherwise", schema: plain, kernel: counts, tags: []string{"core"}, want: "OA021 result on cpu", calls: 5},
		{name: "no tensors again", schema: plain, calls: 1,
			kernel: without(func(e *fakeEngine) { e.lacks = func(engine.Dense, engine.Form) bool { return true } })},
		{name: "no seed again", schema: plain, calls: 1, kernel: without(func(e *fakeEngine) { e.seed = errOurs })},
		{name: "each", schema: "t::f_(Tensor(a!) a, Tensor(b!) b) -> (Tensor, Tensor)", kernel: all, calls: 46,
			want: "OA020 argument a on cpu; OA020 result1 on cpu; OA021 argument b on cpu; OA021 result0 on cpu"},
		{name: "fails again", schema: plain, kernel: fails(2), calls: 1},
		{name: "fails on the first side", schema: plain, kernel: fails(3), calls: 2},
		{name: "fails at last", schema: plain, kernel: fails(4), calls: 3},
		{name: "before", schema: plain, kernel: follows, calls: 2, want: "OA018 argument a on cpu", before: outside},
		{name: "before, random", schema: "t::f(Tensor a, Generator? g=None) -> Tensor", kernel: counts, calls: 2, want: "OA018 argument a on cpu", before: outside},
		{name: "before, fails again", schema: plain, kernel: fails(2), calls: 1, before: outside},
		{name: "aligned", schema: plain, kernel: sides, calls: 5, judged: 1},
		{name: "aligned, follows", schema: plain, kernel: sidesAndFollows, want: "OA020 result on cpu", calls: 23, judged: 1},
		{name: "not watched", schema: plain, kernel: follows, off: true, calls: 1},
		{name: "outside", schema: plain, kernel: follows, calls: 2, want: "OA018 argument a on cpu", touches: outside, before: outside},
		{name: "outside, stopped", schema: plain, kernel: follows, calls: 1, want: "OA018 argument a on cpu", touches: stopped, before: outside},
		{name: "outside, throws again", schema: plain, kernel: fails(2), calls: 1, want: "OA018 argument a on cpu", touches: outside},
		{name: "known", schema: plain, kernel: func(e *fakeEngine, args []any) ([]any, error) {
			calls++
			(*first(args).data)[0]++
			return copies(e, args)
		}, calls: 2, want: "OA009 argument a on cpu", touches: []asserts.Fault{{Code: asserts.UndeclaredWrite, Argument: "a"}}},
		{name: "known of another", schema: "t::f(Tensor a, Tensor b) -> Tensor", kernel: func(e *fakeEngine, args []any) ([]any, error) {
			calls++
			(*first(args).data)[0]++
			return copies(e, args)
		}, calls: 2, want: "OA009 argument a on cpu; OA018 argument b on cpu", touches: []asserts.Fault{{Code: asserts.OutOfBounds, Argument: "b"}}},
		{name: "elsewhere", schema: plain, kernel: func(e *fakeEngine, args []any) ([]any, error) {
			calls++
			first(args).storage = asserts.NewID()
			return copies(e, args)
		}, calls: 2, want: "OA002 argument a on cpu", touches: []asserts.Fault{{Code: asserts.OutOfBounds}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			calls = 0
			b := newBench(t, tt.schema, tt.kernel)
			w = &watchingEngine{fakeEngine: b.e, off: tt.off, touches: tt.touches, before: tt.before}
			b.Engine, b.Level = w, asserts.Content
			b.t.operator.Schema.Tags = tt.tags
			var args []string
			for _, arg := range b.t.operator.Schema.Func.Args {
				args = append(args, map[bool]string{true: "uint8[2] const:9", false: "none"}[arg.Type.IsTensorLike()])
			}
			found, c := b.judged(t, args...)
			if got := words(found); got != tt.want {
				t.Errorf("found %q, want %q", got, tt.want)
			}
			n := c.Devices[engine.CPU].Judged[asserts.UninitialisedResult]
			if calls != tt.calls || n != tt.judged {
				t.Errorf("called %d times, want %d; judged %d, want %d", calls, tt.calls, n, tt.judged)
			}
		})
	}
}

// A call that changes an argument is not minimised to one that restores it.
func TestMinimiseShowsAsMuch(t *testing.T) {
	b := newBench(t, "t::f(Tensor a) -> Tensor", func(e *fakeEngine, args []any) ([]any, error) {
		if slices.Contains(first(args).spec.Sizes, 4) {
			(*first(args).data)[0]++
		}
		return copies(e, args)
	})
	b.Engine, b.Level = &watchingEngine{fakeEngine: b.e, touches: []asserts.Fault{{Code: asserts.UndeclaredWrite, Argument: "a", Symptom: asserts.Restored}}}, asserts.Content
	a := must.Get(b.Try(b.t, b.call(t, "uint8[5, 4]")))(t)
	found := b.judge(b.t, a, new(report.CaseResult))
	if words(found) != "OA009 argument a on cpu" {
		t.Fatalf("found %s", words(found))
	}
	if c, f := b.minimise(b.t, a.c, found[0]); c.String() != "t::f(a=uint8[4])" || f.Violation.Symptom == asserts.Restored {
		t.Errorf("minimised to %v, which shows %+v", c, f.Violation)
	}
}

// A kernel for a device may leave memory unwritten if the CPU's does, too; otherwise that is a
// finding.
func TestLeftOnCPU(t *testing.T) {
	var w *watchingEngine
	leaves := func(on ...engine.Device) func(*fakeEngine, []any) ([]any, error) {
		return func(e *fakeEngine, args []any) ([]any, error) {
			out := e.like(first(args))
			if slices.Contains(on, out.device) {
				(*out.data)[0] = w.fill
			}
			return []any{out}, nil
		}
	}
	for _, tt := range []struct {
		name, want string
		kernel     func(*fakeEngine, []any) ([]any, error)
		arg, why   string
	}{
		{"of what is not plain, on the CPU alone", "OA020 result on cpu", leaves(engine.CPU), "uint8[2] const:9 functional", ""},
		{"both", "", leaves("openreg", engine.CPU), "uint8[2] const:9", "the kernel for the CPU leaves memory unwritten, too"},
		{"both, of what is not plain", "", leaves("openreg", engine.CPU), "uint8[2] const:9 functional", "it is unknown whether the kernel for the CPU leaves memory unwritten: a tensor that is not plain has no twin on cpu"},
		{"the device alone", "OA020 result on openreg", leaves("openreg"), "uint8[2] const:9", ""},
		{"the CPU alone", "", leaves(engine.CPU), "uint8[2] const:9", ""},
		{"no kernel on the CPU", "OA020 result on openreg", func(e *fakeEngine, args []any) ([]any, error) {
			if first(args).device == engine.CPU {
				return nil, &engine.Thrown{Message: "no"}
			}
			return leaves("openreg")(e, args)
		}, "uint8[2] const:9", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t, "t::f(Tensor a) -> Tensor", tt.kernel)
			b.e.devices = []engine.Device{"openreg", engine.CPU}
			if strings.HasSuffix(tt.want, "on cpu") {
				b.e.devices = b.e.devices[1:]
			}
			w = &watchingEngine{fakeEngine: b.e}
			b.Engine = w
			found, c := b.judged(t, tt.arg)
			why := ""
			for _, s := range c.Devices["openreg"].Skips {
				if s.Code == asserts.UninitialisedResult {
					why = s.Reason
				}
			}
			if got := words(found); got != tt.want || why != tt.why {
				t.Errorf("found %q, want %q; skipped %q, want %q", got, tt.want, why, tt.why)
			}
			b.earlier.release()
			if b.e.live > 0 {
				t.Errorf("%d tensors are left", b.e.live)
			}
		})
	}
}

// A write that no page stopped is reported with the kernel's frames if one stops it on the other
// side.
func TestFrames(t *testing.T) {
	b := newBench(t, "t::f(Tensor a, Tensor b) -> Tensor", copies)
	outside := func(argument, saw string, frames ...string) asserts.Fault {
		return asserts.Fault{Code: asserts.OutOfBounds, Argument: argument, Saw: saw, Frames: frames}
	}
	b.Engine, b.Level = &watchingEngine{
		fakeEngine: b.e,
		touches:    []asserts.Fault{outside("a", "a pattern of a"), outside("b", "a pattern of b")},
		before:     []asserts.Fault{outside("b", "a page of b", "f.cpp:1", "g.cpp:2")},
	}, asserts.Content
	var saw []string
	found, _ := b.judged(t, "uint8[2]", "uint8[2]")
	for _, f := range found {
		saw = append(saw, f.Violation.Saw)
	}
	if want := []string{"a pattern of a", "a page of b, in f.cpp:1 < g.cpp:2"}; !slices.Equal(saw, want) {
		t.Errorf("saw %q, want %q", saw, want)
	}
}

// If the call on the other side throws, its frames are not used.
func TestFramesOfNone(t *testing.T) {
	calls := 0
	b := newBench(t, "t::f(Tensor a) -> Tensor", func(e *fakeEngine, args []any) ([]any, error) {
		if calls++; calls > 1 {
			return nil, &engine.Thrown{Message: "no"}
		}
		return copies(e, args)
	})
	b.Engine, b.Level = &watchingEngine{
		fakeEngine: b.e,
		touches:    []asserts.Fault{{Code: asserts.OutOfBounds, Argument: "a", Saw: "a pattern"}},
		before:     []asserts.Fault{{Code: asserts.OutOfBounds, Argument: "a", Saw: "a page", Frames: []string{"f.cpp:1"}}},
	}, asserts.Content
	found, _ := b.judged(t, "uint8[2]")
	if len(found) != 1 || found[0].Violation.Saw != "a pattern" {
		t.Errorf("found %q", words(found))
	}
}

// A fakelessEngine has no fakes.
type fakelessEngine struct{ *watchingEngine }

func (fakelessEngine) NoFake(*asserts.Op) string { return "" }
func (fakelessEngine) Fake(*asserts.Op, []any) (*compare.Fake, string) {
	return &compare.Fake{Missing: true}, ""
}

// A note about a return does not hide an error about it.
func TestMemoryBesideNote(t *testing.T) {
	b := newBench(t, "t::f(Tensor a) -> Tensor", copies)
	b.e.devices = b.e.devices[:1]
	b.Engine = fakelessEngine{&watchingEngine{fakeEngine: b.e, touches: []asserts.Fault{{Code: asserts.OutOfBounds, Return: 1}}}}
	if found, _ := b.judged(t, "float32[2]"); words(found) != "OA011 result on cpu, fake; OA018 result on cpu" {
		t.Errorf("found %q", words(found))
	}
}

// Illegal accesses of a call before it threw are found, its writes by their bytes; an error that is
// not the kernel's shows nothing.
func TestJudgeThrownFaults(t *testing.T) {
	outside := asserts.Fault{Code: asserts.OutOfBounds, Argument: "a", Saw: "outside"}
	for _, tt := range []struct {
		name    string
		err     error
		touches []asserts.Fault
		want    string
	}{
		{"outside", &engine.Thrown{Message: "no"}, []asserts.Fault{outside}, "outside, and then it threw: no"},
		{"freed", &engine.Thrown{Message: "no"}, []asserts.Fault{{Code: asserts.UseAfterFree, Saw: "freed"}}, "freed, and then it threw: no"},
		{"read only", &engine.Thrown{Message: "no"}, []asserts.Fault{{Code: asserts.UndeclaredWrite, Argument: "a", Saw: "written"}}, ""},
		{"nothing", &engine.Thrown{Message: "no"}, nil, ""},
		{"ours", errOurs, []asserts.Fault{outside}, ""},
	} {
		b := newBench(t, "t::f(Tensor(a!) a) -> Tensor", func(*fakeEngine, []any) ([]any, error) { return nil, tt.err })
		b.Engine, b.Level = &watchingEngine{fakeEngine: b.e, touches: tt.touches}, asserts.Content
		if _, err := b.Try(b.t, b.call(t, "float32[2]")); err == nil {
			t.Fatalf("%s: no error", tt.name)
		}
		var c report.CaseResult
		for _, call := range b.t.threw {
			b.addJudged(b.t, call, &c)
		}
		got := ""
		for _, f := range c.Found {
			got += f.Violation.Saw
		}
		if got != tt.want || len(b.t.threw) > len(c.Found) {
			t.Errorf("%s: found %q in %d calls, want %q", tt.name, got, len(b.t.threw), tt.want)
		}
	}
}

// A call that threw is repeated on the other side, once for each message, up to a limit.
func TestThrewOnOtherSide(t *testing.T) {
	calls, message := 0, "no"
	b := newBench(t, "t::f(Tensor(a!) a) -> Tensor", func(*fakeEngine, []any) ([]any, error) {
		if calls++; message == "ours" {
			return nil, errOurs
		}
		return nil, &engine.Thrown{Message: message}
	})
	w := &watchingEngine{fakeEngine: b.e, before: []asserts.Fault{{Code: asserts.OutOfBounds, Argument: "a", Saw: "before"}}}
	b.Engine, b.Level = w, asserts.Content
	try := func(text string) (n, found int) {
		calls, message, b.t.threw = 0, text, nil
		if _, err := b.Try(b.t, b.call(t, "float32[2]")); err == nil {
			t.Fatal("no error")
		}
		return calls, len(b.t.threw)
	}
	for _, tt := range []struct {
		text         string
		calls, found int
		change       func()
	}{
		{"not watched", 1, 0, func() { w.off = true }},
		{"no", 2, 1, func() { w.off = false }},
		{"no", 1, 0, func() {}},
		{"Could not run 'f'", 1, 0, func() {}},
		{"ours", 1, 0, func() {}},
		{"another", 1, 1, func() { w.touches = w.before }},
		{"another", 2, 1, func() { w.touches = nil }},
	} {
		tt.change()
		if n, found := try(tt.text); n != tt.calls || found != tt.found {
			t.Errorf("%s: %d calls and %d found, want %d and %d", tt.text, n, found, tt.calls, tt.found)
		}
	}
	for i := range probe.Guard.Budget {
		try(fmt.Sprint(i))
	}
	if n, _ := try("too many"); n != 1 {
		t.Errorf("%d calls behind %d messages", n, probe.Guard.Budget)
	}
	if b.e.live > 0 {
		t.Errorf("%d tensors are left", b.e.live)
	}
}

// Memory that is not watched, or not filled, is a skip with its reason for the checks that depend
// on it; whether a call is reproducible is judged anyway.
func TestUnwatched(t *testing.T) {
	for _, reasons := range [][2]string{{"too large", "not filled"}, {"too large", ""}, {"", "not filled"}} {
		b := newBench(t, "t::f(Tensor a) -> Tensor", copies)
		b.Engine, b.Level = &watchingEngine{fakeEngine: b.e, unwatched: reasons[0], unfilled: reasons[1]}, asserts.Content
		_, c := b.judged(t, "float32[2]")
		tally := c.Devices[engine.CPU]
		for code, want := range map[asserts.Code]string{asserts.OutOfBounds: reasons[0], asserts.UseAfterFree: reasons[0], asserts.UninitialisedResult: reasons[1], asserts.NondeterministicResult: ""} {
			skipped := slices.Contains(tally.Skips, asserts.Skip{Code: code, Reason: want, Count: 1})
			if skipped != (want != "") || (tally.Judged[code] == 1) == skipped {
				t.Errorf("%v: judged %d times, skips %v, want %q", code, tally.Judged[code], tally.Skips, want)
			}
		}
	}
}

// Results that are not reproducible, in storages without copied bytes, are a skip.
func TestUnkept(t *testing.T) {
	fill := byte(0)
	b := newBench(t, "t::f(Tensor a) -> Tensor", func(e *fakeEngine, args []any) ([]any, error) {
		out := e.like(first(args))
		fill++
		(*out.data)[0] = fill
		return []any{out}, nil
	})
	b.Engine, b.Level = &watchingEngine{fakeEngine: b.e}, asserts.Content
	b.e.notCopied = true
	_, c := b.judged(t, "uint8[2]")
	tally := c.Devices[engine.CPU]
	for _, code := range []asserts.Code{asserts.UninitialisedResult, asserts.NondeterministicResult} {
		skipped := slices.Contains(tally.Skips, asserts.Skip{Code: code, Reason: "no bytes are copied of a storage of more than 65536", Count: 1})
		if tally.Judged[code] != 0 || !skipped {
			t.Errorf("%v: judged %d times, skips %v", code, tally.Judged[code], tally.Skips)
		}
	}
}

// Where memory is watched it is arranged.
func TestArrange(t *testing.T) {
	b := newBench(t, "t::f(Tensor a) -> Tensor", copies)
	for _, off := range []bool{true, false} {
		w := &watchingEngine{fakeEngine: b.e, off: off}
		b.Engine = w
		if b.arrange(b.t, probe.Setup{GuardBefore: true, Fill: 7}); w.ahead == off || w.fill == 7 == off {
			t.Errorf("off %t: ahead %t, filled with %d", off, w.ahead, w.fill)
		}
	}
}

// An op that refuses tensors by their alignment gets aligned ones from then on, where memory is
// watched, and the call that it refused is made again.
func TestAligns(t *testing.T) {
	for _, tt := range []struct {
		name, message string
		off, dies     bool
		tries         int
		aligned       bool
	}{
		{"aligned", "self must be aligned to 16 bytes", false, false, 2, true},
		{"misaligned", "Misaligned address", false, false, 2, true},
		{"alignment", "expected an alignment of 64", false, false, 2, true},
		{"another word", "align_corners goes with interpolating modes alone", false, false, 2, false}, // again on the other side
		{"not watched", "self must be aligned to 16 bytes", true, false, 1, false},
		{"no refusal of the kernel", "self must be aligned to 16 bytes", false, true, 1, false},
	} {
		var w *watchingEngine
		tries := 0
		b := newBench(t, "t::f(Tensor a) -> Tensor", func(e *fakeEngine, args []any) ([]any, error) {
			tries++
			switch {
			case tt.dies:
				return nil, errors.New(tt.message)
			case !w.aligned:
				return nil, &engine.Thrown{Message: tt.message}
			}
			return copies(e, args)
		})
		w = &watchingEngine{fakeEngine: b.e, off: tt.off}
		b.Engine, b.Level = w, asserts.Content
		_, err := b.Try(b.t, b.call(t, "uint8[3]"))
		if (err == nil) != tt.aligned || tries != tt.tries || b.t.aligned != tt.aligned {
			t.Errorf("%s: %d calls, error %v, aligned %v", tt.name, tries, err, b.t.aligned)
		}
	}

	// It is asked once: a kernel that refuses aligned ones, too, is left.
	tries := 0
	b := newBench(t, "t::f(Tensor a) -> Tensor", func(*fakeEngine, []any) ([]any, error) {
		tries++
		return nil, &engine.Thrown{Message: "not aligned"}
	})
	b.Engine = &watchingEngine{fakeEngine: b.e}
	if _, err := b.Try(b.t, b.call(t, "uint8[3]")); err == nil || tries != 3 {
		t.Errorf("%d calls of an op that always refuses, error %v", tries, err)
	}
}

// The last call with reproducible results keeps its arguments, although its case becomes another base.
func TestSteadyCallIsKept(t *testing.T) {
	b := newBench(t, "ns::f(Tensor a, float by) -> Tensor", copies)
	b.Engine, b.Level = &watchingEngine{fakeEngine: b.e}, asserts.Content
	c := b.call(t, "float32[2]", "1.0")
	b.judgeMemory(b.t, must.Get(b.Try(b.t, c))(t), nil, &report.CaseResult{Devices: make(report.Devices)})
	want := c.String()
	b.useNontrivialNumber(b.t, []*sample.Case{c}, 1)
	if got := b.t.steady.c.String(); got != want || c.String() == want {
		t.Errorf("%s has become %s, as %s", want, got, c)
	}
}
