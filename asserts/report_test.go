package asserts_test

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/internal/dev/golden"
	"github.com/opassert/opassert/internal/dev/must"
)

func TestPanicReporter(t *testing.T) {
	all := violations(t)
	for _, vs := range []asserts.Violations{all[:1], all[:2]} {
		func() {
			defer func() {
				err, ok := recover().(error)
				if !ok {
					t.Fatalf("%d violations panic with no error", len(vs))
				}
				for _, v := range vs {
					if !errors.Is(err, v) {
						t.Errorf("%v is not in the panic's %T", v.Title(), err)
					}
				}
			}()
			asserts.Panic.Report(vs)
			t.Error("no panic")
		}()
	}
}

func TestLog(t *testing.T) {
	var b bytes.Buffer
	log := asserts.Log(&b)
	all := violations(t)
	log.Report(all[:2])
	log.Report(all[1:2])
	log.Report(all[:1])
	if diff := cmp.Diff(all[:2].Error(), strings.TrimSuffix(strings.ReplaceAll(b.String(), "\nOA002", "\n\nOA002"), "\n")); diff != "" {
		t.Error(diff)
	}
}

func TestCollector(t *testing.T) {
	var c asserts.Collector
	all := violations(t)
	elsewhere := *all[0]
	elsewhere.Site.Line++
	other := *all[0]
	other.Subject.Element = 0
	var wg sync.WaitGroup
	for range 5 {
		wg.Go(func() { c.Report(asserts.Violations{all[0], all[4], &elsewhere, &other}) })
	}
	wg.Wait()
	var got []string
	counts := make(map[string]int)
	for _, f := range c.Found() {
		line := f.Code.String() + " " + f.Op + " " + f.Site.String()
		got = append(got, line)
		counts[line] = f.Count
	}
	want := []string{
		"OA003 aten::embedding /src/model/block.go:42",
		"OA001 aten::index_put /src/model/block.go:42",
		"OA001 aten::index_put /src/model/block.go:43",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if counts[want[0]] != 5 || counts[want[1]] != 10 || counts[want[2]] != 5 {
		t.Errorf("counted %v", counts)
	}
	c.Reset()
	if found := c.Found(); len(found) > 0 {
		t.Errorf("%v after Reset", found)
	}
}

// A summary without the parts that may be left out.
func TestSummaryOfLittle(t *testing.T) {
	s := asserts.Summary{Calls: 1, Found: []asserts.Found{{Violation: violations(t)[0], Count: 2}}}
	s.Found[0].Site = asserts.Site{}
	var b bytes.Buffer
	must.Do(t, s.Write(&b))
	want := "opassert: calls 1, checks 0, violations 2\n  2 x OA001 input-impl  aten::index_put  argument 1 \"indices\"[1]\n"
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
}

// No call of an op is in the sample.
func TestSampledOut(t *testing.T) {
	defer asserts.SetSample(0)()
	asserts.ForgetSummary()
	op := newAdd()
	for n := range uint64(3) {
		if s := asserts.Summarize(); s.SampledOut != n {
			t.Errorf("%d calls out of the sample, want %d", s.SampledOut, n)
		}
		binary(op, healthy, newTensor(4), newTensor(4))
	}
	if s := asserts.Summarize(); s.SampledOut != 3 || s.Calls != 0 {
		t.Errorf("%d calls out of the sample, want 3, and %d in it", s.SampledOut, s.Calls)
	}
}

func TestSummary(t *testing.T) {
	collect(t)
	asserts.ForgetSummary()
	op := newAdd()
	for i := range 4 {
		kernel := healthy
		if i == 3 {
			kernel = aliasing
		}
		binary(op, kernel, newTensor(4), newTensor(4))
	}
	sparse := newTensor(4)
	sparse.impl.storage = nil
	func() {
		defer asserts.SetLevel(asserts.Content)()
		binary(op, healthy, sparse, newTensor(4))
	}()
	func() {
		defer asserts.SetSample(0)()
		binary(op, healthy, newTensor(4), newTensor(4))
	}()
	s := asserts.Summarize()
	if s.Calls != 5 || s.SampledOut != 1 {
		t.Errorf("%d calls, %d out of the sample", s.Calls, s.SampledOut)
	}
	for code, want := range map[asserts.Code]int{asserts.InputImpl: 10, asserts.FreshImpl: 5, asserts.UndeclaredAlias: 10, asserts.UndeclaredWrite: 2, asserts.MetaAlias: 0} {
		if got := s.Checks[code]; got != want {
			t.Errorf("%v: %d checks, want %d", code, got, want)
		}
	}
	for i := range s.Found {
		s.Found[i].Site = asserts.Site{File: "add_test.go", Line: 7}
	}
	var b bytes.Buffer
	must.Do(t, s.Write(&b))
	golden.Compare(t, "summary.txt", b.String())
	if results := s.Results(); len(results) != 3 || results[0].Status != asserts.Violated || results[1].Status != asserts.Skipped {
		t.Errorf("as results: %+v", results)
	}
}

// A testLog is a fake testing.TB.
type testLog struct {
	bytes.Buffer
	mu      sync.Mutex
	failed  bool
	cleanup []func()
}

func (l *testLog) Fail()             { l.mu.Lock(); defer l.mu.Unlock(); l.failed = true }
func (l *testLog) Output() io.Writer { return &l.Buffer }
func (l *testLog) Cleanup(f func())  { l.cleanup = append(l.cleanup, f) }
func (l *testLog) end() {
	for _, f := range slices.Backward(l.cleanup) {
		f()
	}
}

var _ asserts.TB = testing.TB(nil)

func TestT(t *testing.T) {
	outside := collect(t)
	log := new(testLog)
	asserts.NewT(log)
	op := newAdd()
	binary(op, healthy, newTensor(4), newTensor(4))
	if log.failed {
		t.Error("a healthy call fails the test")
	}
	for range 3 {
		binary(op, aliasing, newTensor(4), newTensor(4))
	}
	var wg sync.WaitGroup
	wg.Go(func() { binary(op, aliasing, newTensor(4), newTensor(4)) })
	wg.Wait()
	log.end()
	if !log.failed || len(outside.Found()) > 0 {
		t.Errorf("failed %v, and outside %v", log.failed, linesOf(outside))
	}
	text := log.String()
	if n := strings.Count("\n"+text, "\nreport_test.go:"); n != 3 || !strings.HasPrefix(text, "report_test.go:") {
		t.Errorf("%d lines of the test, want two violations and a count\n%s", n, text)
	}
	if !strings.Contains(text, "result shares memory with argument other") || !strings.Contains(text, ": 3 times\n") {
		t.Errorf("no evidence, or no count, in\n%s", text)
	}
	binary(op, aliasing, newTensor(4), newTensor(4))
	if len(outside.Found()) != 1 || log.String() != text {
		t.Error("a violation after the test is the test's")
	}
}

// Tests that run at the same time have violations of their own.
func TestParallelT(t *testing.T) {
	outside := collect(t)
	ops := map[string]*asserts.Op{"one": newAdd(), "two": newAdd(), "three": newAdd(), "none": newAdd()}
	logs := make(map[string]*testLog)
	for name, op := range ops {
		op.Name = "aten::" + name
		logs[name] = new(testLog)
	}
	var running, done, all sync.WaitGroup
	running.Add(len(ops))
	done.Add(len(ops))
	for name, op := range ops {
		all.Go(func() {
			defer logs[name].end()
			var at *asserts.T
			if name != "none" {
				at = asserts.NewT(logs[name])
			}
			running.Done()
			running.Wait()
			defer done.Wait()
			defer done.Done()
			binary(op, aliasing, newTensor(4), newTensor(4))
			if name == "none" {
				return
			}
			var wg sync.WaitGroup
			wg.Go(func() {
				deep(100, func() { binary(op, aliasing, newTensor(4), newTensor(4)) })
				// From two goroutines away only the context leads to the test.
				wg.Go(func() { binaryContext(at.Context(t.Context()), op, aliasing, newTensor(4), newTensor(4)) })
			})
			wg.Wait()
		})
	}
	all.Wait()
	for name, log := range logs {
		want := 3
		if name == "none" {
			want = 0
		}
		if n := strings.Count(log.String(), "{op: "+name+","); n != want || strings.Count(log.String(), "undeclared-alias") != want {
			t.Errorf("%s: %d violations of its own, want %d, in\n%s", name, n, want, log)
		}
	}
	if got := outside.Found(); len(got) != 1 || got[0].Op != "aten::none" {
		t.Errorf("outside: %v, want that of the test without a T", got)
	}
}

// deep calls f on a deep stack.
func deep(n int, f func()) {
	if n > 0 {
		deep(n-1, f)
		return
	}
	f()
}

// A test has a call report elsewhere, and a context outlives its test.
func TestTAndContext(t *testing.T) {
	outside := collect(t)
	log, elsewhere := new(testLog), new(asserts.Collector)
	at := asserts.NewT(log)
	binaryContext(asserts.WithReporter(t.Context(), elsewhere), newAdd(), aliasing, newTensor(4), newTensor(4))
	if log.failed || len(elsewhere.Found()) != 1 {
		t.Errorf("the test failed %v, and elsewhere there is %v", log.failed, linesOf(elsewhere))
	}
	log.end()
	binaryContext(at.Context(t.Context()), newAdd(), aliasing, newTensor(4), newTensor(4))
	if log.failed || len(outside.Found()) != 1 {
		t.Errorf("the test that is over failed %v, and outside there is %v", log.failed, linesOf(outside))
	}
}

// A test and its subtest have a T on the same goroutine.
func TestNestedT(t *testing.T) {
	outer, inner := new(testLog), new(testLog)
	asserts.NewT(outer)
	asserts.NewT(inner)
	binary(newAdd(), aliasing, newTensor(4), newTensor(4))
	inner.end()
	if outer.failed || !inner.failed {
		t.Errorf("outer failed %v, inner %v", outer.failed, inner.failed)
	}
	binary(newAdd(), aliasing, newTensor(4), newTensor(4))
	outer.end()
	if !outer.failed {
		t.Error("the outer test does not have the violation after the inner one")
	}
}
