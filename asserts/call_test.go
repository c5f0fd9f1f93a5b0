package asserts_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opassert/opassert/asserts"
)

// binary is a wrapper as the generator writes it, around any kernel.
func binary(op *asserts.Op, kernel func(self, other *tensor) *tensor, self, other *tensor) *tensor {
	call := asserts.Call{Record: make([]asserts.Observation, 5)}
	args := func() { self.Observe(call.Next(self)); other.Observe(call.Next(other)) }
	call.Begin(op)
	call.Before(args)
	result := kernel(self, other)
	call.After(args, func() { result.Observe(call.Next(result)) })
	return result
}

// binaryContext is binary for a kernel that takes a context.
func binaryContext(ctx context.Context, op *asserts.Op, kernel func(self, other *tensor) *tensor, self, other *tensor) *tensor {
	call := asserts.Call{Record: make([]asserts.Observation, 5)}
	args := func() { self.Observe(call.Next(self)); other.Observe(call.Next(other)) }
	call.BeginContext(ctx, op)
	call.Before(args)
	result := kernel(self, other)
	call.After(args, func() { result.Observe(call.Next(result)) })
	return result
}

// listing is a wrapper around a kernel from a list to a list.
func listing(op *asserts.Op, kernel func(ts []*tensor) []*tensor, ts []*tensor) []*tensor {
	call := asserts.Call{Record: make([]asserts.Observation, 12)}
	args := func() { observeList(&call, ts) }
	call.Begin(op)
	call.Before(args)
	results := kernel(ts)
	call.After(args, func() { observeList(&call, results) })
	return results
}

func observeList(call *asserts.Call, ts []*tensor) {
	call.List(len(ts))
	for _, t := range ts {
		t.Observe(call.Next(t))
	}
}

func healthy(self, other *tensor) *tensor { return newTensor(4) }

// aliasing violates OA007.
func aliasing(self, other *tensor) *tensor { return other.view() }

func newAdd() *asserts.Op { return opOf("add(Tensor self, Tensor other) -> Tensor") }

// collect sends violations of the test's calls to a Collector.
func collect(t *testing.T) *asserts.Collector {
	t.Helper()
	c := new(asserts.Collector)
	t.Cleanup(asserts.SetReporter(c))
	return c
}

// linesOf returns the violations of a Collector as lines.
func linesOf(c *asserts.Collector) []string {
	var lines []string
	for _, f := range c.Found() {
		lines = append(lines, said(f.Violation))
	}
	return lines
}

func TestCall(t *testing.T) {
	c := collect(t)
	op := newAdd()
	binary(op, healthy, newTensor(4), newTensor(4))
	binary(op, healthy, nil, newTensor(4))
	if got := linesOf(c); got != nil {
		t.Errorf("healthy calls: %v", got)
	}
	binary(op, aliasing, nil, newTensor(4))
	want := []string{"OA007 result / argument other: result shares memory with argument other"}
	if diff := cmp.Diff(want, linesOf(c)); diff != "" {
		t.Error(diff)
	}
}

func TestCallAtContentLevel(t *testing.T) {
	c := collect(t)
	defer asserts.SetLevel(asserts.Content)()
	self, other := newTensor(4), newTensor(4)
	binary(newAdd(), func(self, other *tensor) *tensor {
		other.impl.storage.bytes[2] = 7
		return newTensor(4)
	}, self, other)
	want := []string{"OA009 argument other: 1 of 4 bytes changed"}
	if diff := cmp.Diff(want, linesOf(c)); diff != "" {
		t.Error(diff)
	}
}

func TestCallOfLists(t *testing.T) {
	op := opOf("f(Tensor?[] ts) -> Tensor[]")
	fresh := func(ts []*tensor) []*tensor { return tensors(len(ts)) }
	tests := []struct {
		name   string
		ts     []*tensor
		kernel func(ts []*tensor) []*tensor
		want   []string
	}{
		{"healthy", tensors(3), fresh, nil},
		{"empty", nil, fresh, nil},
		{"undefined elements", []*tensor{nil, newTensor(4), nil}, fresh, nil},
		{"longer than the array", tensors(40), fresh, nil},
		{"fewer results", tensors(9), func([]*tensor) []*tensor { return nil }, nil},
		{
			"an element replaced in the caller's list", tensors(40),
			func(ts []*tensor) []*tensor { ts[33] = newTensor(4); return nil },
			[]string{"OA001 argument ts[33]"},
		},
		{
			"an element put where there was none", []*tensor{newTensor(4), nil},
			func(ts []*tensor) []*tensor { ts[1] = newTensor(4); return nil },
			[]string{"OA001 argument ts[1]"},
		},
		{
			"the list itself returned", tensors(2), func(ts []*tensor) []*tensor { return ts },
			[]string{"OA007 result[0] / argument ts[0]", "OA007 result[1] / argument ts[1]"},
		},
		{
			"one tensor returned twice", tensors(2), func([]*tensor) []*tensor { t := newTensor(4); return []*tensor{t, newTensor(4), t} },
			[]string{"OA008 result[2] / result[0]"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			defer asserts.SetReporter(reporter(func(vs asserts.Violations) {
				for _, v := range vs {
					line, _, _ := strings.Cut(said(v), ":")
					got = append(got, line)
				}
			}))()
			listing(op, test.kernel, test.ts)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

type reporter func(asserts.Violations)

func (r reporter) Report(vs asserts.Violations) { r(vs) }

// The arguments of a call that failed are judged, its results are not.
func TestCallWithoutResults(t *testing.T) {
	c := collect(t)
	op := opOf("f_(Tensor(a!) self) -> Tensor(a!)")
	self := newTensor(4)
	call := asserts.Call{Record: make([]asserts.Observation, 3)}
	args := func() { call.Observe(self) }
	call.Begin(op)
	call.Before(args)
	self.impl.storage = newTensor(4).impl.storage
	call.AfterError(errors.New("failed"), args, func() { t.Error("the results are observed") })
	if got := linesOf(c); len(got) != 1 || !strings.HasPrefix(got[0], "OA002 argument self") {
		t.Errorf("found %v, want OA002 alone", got)
	}
}

// The same for an op of lists.
func TestListCallWithoutResults(t *testing.T) {
	c := collect(t)
	ts := tensors(2)
	call := asserts.Call{Record: make([]asserts.Observation, 6)}
	args := func() { observeList(&call, ts) }
	call.Begin(opOf("f(Tensor[] ts) -> Tensor[]"))
	call.Before(args)
	call.After(args, nil)
	if got := linesOf(c); got != nil {
		t.Errorf("found %v", got)
	}
}

// A panic of the kernel goes through.
func TestPanic(t *testing.T) {
	collect(t)
	boom := errors.New("boom")
	defer func() {
		if got := recover(); got != boom {
			t.Errorf("recovered %v, want the kernel's own panic", got)
		}
	}()
	binary(newAdd(), func(self, other *tensor) *tensor { panic(boom) }, newTensor(4), newTensor(4))
}

// wantPanic, when deferred, requires a panic with a text.
func wantPanic(t *testing.T, want string) {
	t.Helper()
	if text, _ := recover().(string); !strings.Contains(text, want) {
		t.Errorf("panic %q, want %q", text, want)
	}
}

// A wrapper forgets an argument after the call.
func TestArgumentsOnce(t *testing.T) {
	defer wantPanic(t, "2 tensors were recorded before the call and 1 after it")
	call := asserts.Call{Record: make([]asserts.Observation, 5)}
	call.Begin(newAdd())
	call.Before(func() { call.Observe(newTensor(4)); call.Observe(newTensor(4)) })
	call.After(func() { call.Observe(newTensor(4)) }, nil)
}

// A wrapper's array is too small for its op.
func TestSmallArray(t *testing.T) {
	op := newAdd()
	for range 2 { // the first call of an op begins on another path
		func() {
			defer wantPanic(t, "aten::add: Record has 4 elements, and the op takes 5")
			call := asserts.Call{Record: make([]asserts.Observation, 4)}
			call.Begin(op)
		}()
	}
}

// A wrapper forgets to call List.
func TestListRecordedAsTensors(t *testing.T) {
	c := collect(t)
	self := newTensor(4)
	record := func(results ...*tensor) {
		call := asserts.Call{Record: make([]asserts.Observation, 5)}
		args := func() { call.Observe(self) }
		call.Begin(opOf("f(Tensor self) -> Tensor[]"))
		call.Before(args)
		call.After(args, func() {
			for _, r := range results {
				call.Observe(r)
			}
		})
	}
	record(self.view())
	if got := linesOf(c); len(got) != 1 || !strings.HasPrefix(got[0], "OA007 result[0]") {
		t.Errorf("found %v, want OA007", got)
	}
	defer wantPanic(t, "2 returns were recorded, the op has 1")
	record(newTensor(4), newTensor(4))
}

// A wrapper of an op of lists records one return too many.
func TestTooManyReturns(t *testing.T) {
	defer wantPanic(t, "2 returns were recorded, the op has 1")
	call := asserts.Call{Record: make([]asserts.Observation, 8)}
	args := func() { call.List(0) }
	call.Begin(opOf("f(Tensor[] ts) -> Tensor"))
	call.Before(args)
	call.After(args, func() { call.Observe(newTensor(4)); call.Observe(newTensor(4)) })
}

// An engine's IDs look like the head of a list.
func TestLargeIDs(t *testing.T) {
	c := collect(t)
	ts := tensors(2)
	for i, t := range ts {
		t.impl.storage.id = 1<<63 | asserts.ID(i)
	}
	listing(opOf("f(Tensor?[] ts) -> Tensor[]"), func(ts []*tensor) []*tensor { return []*tensor{ts[1].view()} }, ts)
	binary(opOf("g(Tensor self, Tensor other) -> Tensor"), aliasing, ts[0], ts[1])
	got := linesOf(c)
	if len(got) != 2 || !strings.HasPrefix(got[0], "OA007 result[0] / argument ts[1]") || !strings.HasPrefix(got[1], "OA007 result / argument other") {
		t.Errorf("found %v, want OA007 twice", got)
	}
}

// An Op is copied and changed after its first call.
func TestCopiedOp(t *testing.T) {
	c := collect(t)
	op := opOf("f(Tensor self, Tensor other) -> Tensor")
	binary(op, healthy, newTensor(4), newTensor(4))
	lax := *op
	lax.Checks = []asserts.Check{}
	binary(&lax, aliasing, newTensor(4), newTensor(4))
	if got := linesOf(c); got != nil {
		t.Errorf("without checks: %v", got)
	}
	binary(op, aliasing, newTensor(4), newTensor(4))
	if got := linesOf(c); len(got) != 1 {
		t.Errorf("the first op: %v", got)
	}
}

func TestValidate(t *testing.T) {
	tests := []struct {
		check asserts.Check
		want  string
	}{
		{asserts.Check{Code: asserts.InputImpl, On: 1}, ""},
		{asserts.Check{Code: asserts.InputImpl, On: -1}, `OA001 is not about subject -1`},
		{asserts.Check{Code: asserts.InputImpl, On: 2}, `OA001 is not about subject 2`},
		{asserts.Check{Code: asserts.InputImpl}, `OA001 is not about subject 0`},
		{asserts.Check{Code: asserts.FreshImpl, On: 1}, `OA003 is not about subject 1`},
		{asserts.Check{Code: asserts.FreshImpl, On: -2}, `OA003 is not about subject -2`},
		{asserts.Check{Code: asserts.ViewStorage, On: -1, Against: 2}, `OA004 on "result" is not compared with subject 2`},
		{asserts.Check{Code: asserts.ViewStorage, On: -1}, `OA004 on "result" is not compared with subject 0`},
		{asserts.Check{Code: asserts.OutputAlias, On: -1, Against: 1}, `OA008 on "result" is not compared with subject 1`},
		{asserts.Check{Code: asserts.OutputAlias, On: -1, Against: -2}, `OA008 on "result" is not compared with subject -2`},
		{asserts.Check{Code: asserts.OutputAlias, On: -1, Against: -1}, ""},
		{asserts.Check{Code: asserts.MetaAlias, On: -1}, ""},
		{asserts.Check{Code: asserts.MetaAlias, On: 1}, `OA011 is not about subject 1`},
		{asserts.Check{Code: asserts.SchemaLint, On: 1}, `OA012 is not judged on a call`},
		{asserts.Check{Code: 63, On: 1}, `OA063 is not judged on a call`},
	}
	for _, test := range tests {
		op := opOf("f(Tensor(a) self) -> Tensor(a)[]")
		op.Checks = append(op.Checks, test.check)
		err := op.Validate()
		switch {
		case test.want == "" && err != nil:
			t.Errorf("%v: %v", test.check, err)
		case test.want != "" && (err == nil || err.Error() != "aten::f: "+test.want):
			t.Errorf("%v: %v, want %s", test.check, err, test.want)
		}
		// The wrong lines of the plan are left out, and the others judged.
		o := see(1, 2)
		asserts.Judge(op, &asserts.Seen{Level: asserts.Content, Before: list{o}, After: list{o}, Results: list{see(3, 2)}}, asserts.Aware())
	}
}

// A wrapper does not fit its op.
func TestMisfit(t *testing.T) {
	tests := []struct {
		name   string
		schema string
		want   string
	}{
		{"too few arguments", "add(Tensor self, Tensor other, Tensor third) -> Tensor", "2 arguments were recorded, the op has 3"},
		{"too many returns", "add(Tensor self, Tensor other) -> ()", "1 returns were recorded, the op has 0"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			defer wantPanic(t, "wrapper of aten::add: "+test.want)
			call := asserts.Call{Record: make([]asserts.Observation, 7)}
			args := func() { call.Observe(newTensor(4)); call.Observe(newTensor(4)) }
			call.Begin(opOf(test.schema))
			call.Before(args)
			call.After(args, func() { call.Observe(newTensor(4)) })
		})
	}
}

func TestSite(t *testing.T) {
	c := collect(t)
	_, file, line, _ := runtime.Caller(0)
	binary(newAdd(), aliasing, newTensor(4), newTensor(4))
	var wg sync.WaitGroup
	wg.Add(1)
	go func() {
		defer wg.Done()
		binary(newAdd(), aliasing, newTensor(4), newTensor(4))
	}()
	wg.Wait()
	x := newTensor(4)
	reflect.ValueOf(binary).Call([]reflect.Value{reflect.ValueOf(newAdd()), reflect.ValueOf(aliasing), reflect.ValueOf(x), reflect.ValueOf(x)})
	found := c.Found()
	if len(found) != 3 {
		t.Fatalf("%d violations, want 3", len(found))
	}
	for i, at := range []int{line + 1, line + 6, line + 10} {
		want := asserts.Site{File: "asserts/" + filepath.Base(file), Line: at}
		if got := found[i].Site; got.File != want.File || got.Line != want.Line || !strings.Contains(got.Func, "TestSite") {
			t.Errorf("site %v in %s, want line %d", got, got.Func, at)
		}
	}
	// The wrapper is the outermost function of a goroutine.
	done := make(chan struct{})
	go binary(newAdd(), func(self, other *tensor) *tensor { defer close(done); return other }, newTensor(4), newTensor(4))
	<-done
	for len(c.Found()) < 4 {
		runtime.Gosched()
	}
	if !slices.ContainsFunc(c.Found(), func(f asserts.Found) bool { return strings.HasSuffix(f.Site.Func, ".binary") }) {
		t.Errorf("found %v, want one in the wrapper", c.Found())
	}
}

// A call that is not checked observes no tensor and is not counted.
func TestOffLooksAtNothing(t *testing.T) {
	asserts.ForgetSummary()
	defer asserts.SetSample(0)()
	defer asserts.SetLevel(asserts.Off)()
	observed := func() { t.Error("observed") }
	call := asserts.Call{Record: make([]asserts.Observation, 8)}
	call.Begin(opOf("f(Tensor self, Tensor[] ts) -> Tensor"))
	call.Before(observed)
	call.After(observed, observed)
	call.AfterError(nil, observed, observed)
	if s := asserts.Summarize(); s.Calls != 0 || s.SampledOut != 0 {
		t.Errorf("counted %d calls, %d out of the sample", s.Calls, s.SampledOut)
	}
}

func TestUndefinedResult(t *testing.T) {
	c := collect(t)
	call := asserts.Call{Record: make([]asserts.Observation, 1)}
	none := func() {}
	call.Begin(opOf("f() -> Tensor?"))
	call.Before(none)
	call.After(none, func() { call.Observe(nil) })
	if got := linesOf(c); got != nil {
		t.Errorf("reported %v", got)
	}
}

// A call that looks usual is judged if an engine observed more.
func TestJudgeSeenLooksCloser(t *testing.T) {
	float := contents(func(c *asserts.Snapshot) { c.DType, c.Sizes, c.Strides = "float32", nil, nil })
	one, graded := holding("ab"), contents(func(c *asserts.Snapshot) { c.RequiresGrad = true })
	usual := func() *asserts.Seen {
		return &asserts.Seen{
			Level: asserts.Content, Before: list{see(1, 2, one)}, After: list{see(1, 2, one)}, Results: list{see(5, 6, holding("cd"))},
		}
	}
	for _, tt := range []struct {
		name  string
		level asserts.Level
		edit  func(*asserts.Seen)
		want  string
	}{
		{"as usual", asserts.Content, func(*asserts.Seen) {}, ""},
		{"through autograd", asserts.Content, func(s *asserts.Seen) {
			s.Autograd = true
			for _, o := range []*asserts.Observation{&s.Before[0], &s.After[0], &s.Results[0]} {
				holding("abcd")(o)
				float(o)
			}
			graded(&s.Before[0])
			graded(&s.After[0])
		}, "OA014 "},
		{"the call before", asserts.Content, func(s *asserts.Seen) {
			s.Earlier = []asserts.Earlier{{Then: see(7, 8, one), Now: see(7, 8, holding("aB"))}}
		}, "OA005 "},
		{"late", asserts.Content, func(s *asserts.Seen) { s.Late = list{see(1, 2, holding("aB")), s.Results[0]} }, "OA016 "},
		{"alone", asserts.Content, func(s *asserts.Seen) { s.Alone, s.After[0].ImplUses = true, 2 }, "OA016 "},
		{"made for the call", asserts.Content, func(s *asserts.Seen) {
			s.Alone, s.Made = true, true
			s.Before[0].ImplUses = 2
		}, "OA016 "},
		{"at another level", asserts.Identity, func(s *asserts.Seen) { s.After[0] = see(1, 2, holding("aB")) }, "OA009 "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := collect(t)
			defer asserts.SetLevel(tt.level)()
			var call asserts.Call
			seen := usual()
			tt.edit(seen)
			defer asserts.SetAlone(seen.Made)()
			call.BeginSeen(wholeOp("f(Tensor self) -> Tensor"))
			call.JudgeSeen(seen)
			if got := strings.Join(linesOf(c), "\n"); !strings.HasPrefix(got, tt.want) || (got == "") != (tt.want == "") {
				t.Errorf("reported %q, want %q", got, tt.want)
			}
		})
	}
}

// The skips of a usual call without version counters are counted, and so are those of the policy.
func TestSkipsOfUsualCalls(t *testing.T) {
	unversioned := asserts.Row{Trait: asserts.NoVersion, Skip: asserts.CodesOf(asserts.VersionBump), Reason: "no version"}
	more := unversioned
	more.Skip |= asserts.CodesOf(asserts.UndeclaredWrite)
	for _, tt := range []struct {
		row  asserts.Row
		want []asserts.Code
	}{
		{unversioned, []asserts.Code{asserts.VersionBump}},
		{more, []asserts.Code{asserts.UndeclaredWrite, asserts.VersionBump}},
	} {
		asserts.ForgetSummary()
		func() {
			defer asserts.SetLevel(asserts.Content)()
			defer asserts.SetPolicy(&asserts.Policy{Rows: []asserts.Row{tt.row}})()
			self, other := see(1, 2, holding("ab"), traits(asserts.NoVersion)), see(3, 4, holding("ab"), traits(asserts.NoVersion))
			var call asserts.Call
			call.BeginSeen(wholeOp("f_(Tensor(a!) self, Tensor other) -> Tensor(a!)"))
			written := see(1, 2, holding("aB"), traits(asserts.NoVersion))
			call.JudgeSeen(&asserts.Seen{Level: asserts.Content, Before: list{self, other}, After: list{written, other}, Results: list{written}})
		}()
		var got []asserts.Code
		for _, s := range asserts.Summarize().Skips {
			if s.Code == asserts.VersionBump || s.Code == asserts.UndeclaredWrite {
				got = append(got, s.Code)
			}
		}
		if slices.Sort(got); !slices.Equal(got, tt.want) {
			t.Errorf("a policy that skips %v: skipped %v, want %v", tt.row.Skip, got, tt.want)
		}
	}
}

// The observations of an engine are judged like those of a wrapper.
func TestJudgeSeen(t *testing.T) {
	c := collect(t)
	args := list{see(1, 2), see(3, 4)}
	op := newAdd()
	judge := func(level asserts.Level, result asserts.Observation) {
		defer asserts.SetLevel(level)()
		var call asserts.Call
		if got := call.BeginSeen(op); got != level {
			t.Errorf("observes at level %v, want %v", got, level)
		}
		call.JudgeSeen(&asserts.Seen{Level: level, Before: args, After: args, Results: list{result}})
	}
	asserts.ForgetSummary()
	fresh, aliased := see(5, 6), see(5, 4)
	judge(asserts.Off, aliased)
	judge(asserts.Identity, fresh)
	if got := linesOf(c); got != nil {
		t.Errorf("reported %v", got)
	}
	judge(asserts.Identity, aliased)
	judge(asserts.Identity, aliased)
	judge(asserts.Content, fresh)
	if got := linesOf(c); len(got) != 1 || !strings.HasPrefix(got[0], "OA007 ") {
		t.Errorf("reported %v, want OA007", got)
	}
	// Of the four calls, one was checked.
	if s := asserts.Summarize(); s.Calls != 4 || s.Checks[asserts.UndeclaredWrite] != 2 {
		t.Errorf("counted %d calls and %d looks at contents, want 4 and 2", s.Calls, s.Checks[asserts.UndeclaredWrite])
	}
}

func TestNoAllocations(t *testing.T) {
	x, y, ts := newTensor(16), newTensor(16), tensors(16)
	calls := map[string]func(){
		"1 tensor":            func() { look(x) },
		"in place":            func() { mark(x) },
		"3 tensors":           func() { add(x, y) },
		"a list of 16":        func() { cat(ts) },
		"undefined":           func() { add(x, nil) },
		"one tensor twice":    func() { add(x, x) },
		"with a context":      func() { binaryContext(t.Context(), &opAdd, kernelAdd, x, y) },
		"a call out of order": func() { binary(&opAdd, kernelAdd, x, y) },
	}
	for name, call := range calls {
		for _, level := range []asserts.Level{asserts.Off, asserts.Identity} {
			restore := asserts.SetLevel(level)
			if n := testing.AllocsPerRun(100, call); n != 0 {
				t.Errorf("%s at level %v: %v allocations", name, level, n)
			}
			restore()
		}
	}
}

// TestConcurrentCalls is for the race detector.
func TestConcurrentCalls(t *testing.T) {
	c := collect(t)
	asserts.ForgetSummary()
	op, lists := newAdd(), opOf("f(Tensor?[] ts) -> Tensor[]")
	const goroutines, calls = 8, 100
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			for i := range calls {
				kernel := healthy
				if i%10 == 0 {
					kernel = aliasing
				}
				binary(op, kernel, newTensor(4), newTensor(4))
				listing(lists, func(ts []*tensor) []*tensor { return tensors(2) }, tensors(3))
				switch {
				case g == 0 && i%5 == 0:
					asserts.EnterMode(asserts.Mode{Name: "m", Invalidates: asserts.CodesOf(asserts.FreshImpl)})()
				case g == 1 && i%5 == 0:
					asserts.SetLevel(asserts.Content)()
				case g == 2:
					asserts.Summarize()
				}
			}
		})
	}
	wg.Wait()
	found := c.Found()
	if len(found) != 1 || found[0].Count != goroutines*calls/10 {
		t.Errorf("found %v, want one, %d times", found, goroutines*calls/10)
	}
	if s := asserts.Summarize(); s.Calls != 2*goroutines*calls {
		t.Errorf("%d calls, want %d", s.Calls, 2*goroutines*calls)
	}
}

// The record starts in an array of any possible size, with lists of any length between other
// arguments.
func TestListsOfEverySize(t *testing.T) {
	op := opOf("f(Tensor self, Tensor[] xs, Tensor w, Tensor?[] ys) -> (Tensor, Tensor[], Tensor)")
	sizes := []int{0, 1, 2, 16, 17, 33, 34, 35, 70}
	for _, buffer := range []int{6, 7, 74} {
		for _, n := range sizes {
			for _, m := range sizes {
				c := new(asserts.Collector)
				restore := asserts.SetReporter(c)
				lists(op, buffer, newTensor(4), tensors(n), newTensor(4), tensors(m))
				restore()
				want := []string{"OA007 result2 / argument w: result2 shares memory with argument w"}
				if m > 0 {
					last := fmt.Sprintf("result1[%d] / argument ys[%d]: result1[%d] shares memory with argument ys[%d]", m-1, m-1, m-1, m-1)
					want = []string{"OA007 " + last, want[0]}
				}
				if diff := cmp.Diff(want, linesOf(c)); diff != "" {
					t.Fatalf("lists of %d and %d, an array of %d:\n%s", n, m, buffer, diff)
				}
			}
		}
	}
}

// lists is a wrapper around a kernel that returns a new tensor; new ones, and a view of the last of
// ys; and a view of w.
func lists(op *asserts.Op, buffer int, self *tensor, xs []*tensor, w *tensor, ys []*tensor) {
	call := asserts.Call{Record: make([]asserts.Observation, buffer)}
	args := func() {
		call.Observe(self)
		observeList(&call, xs)
		call.Observe(w)
		observeList(&call, ys)
	}
	call.Begin(op)
	call.Before(args)
	fresh := tensors(len(ys))
	if n := len(ys); n > 0 {
		fresh[n-1] = ys[n-1].view()
	}
	call.After(args, func() {
		call.Observe(newTensor(4))
		observeList(&call, fresh)
		call.Observe(w.view())
	})
}

// A list without elements takes one element of the record, and the tensors after it fit.
func TestEmptyListBeforeOthers(t *testing.T) {
	c := collect(t)
	w := newTensor(4)
	call := asserts.Call{Record: make([]asserts.Observation, 9)}
	args := func() {
		call.List(0)
		for range 3 {
			call.Observe(nil)
		}
		call.Observe(w)
	}
	call.Begin(opOf("f(Tensor[] xs, Tensor a, Tensor b, Tensor c, Tensor w) -> Tensor"))
	call.Before(args)
	call.After(args, func() { call.Observe(w.view()) })
	want := []string{"OA007 result / argument w: result shares memory with argument w"}
	if diff := cmp.Diff(want, linesOf(c)); diff != "" {
		t.Error(diff)
	}
}
