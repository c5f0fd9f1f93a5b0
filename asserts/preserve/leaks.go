package preserve

import (
	"context"
	"runtime"
	"runtime/pprof"
	"slices"
	"sync"
	"time"
	"unsafe"
)

// TB is the part of [testing.TB] that CheckLeaks needs.
type TB interface {
	Helper()
	Cleanup(func())
	Error(...any)
	Log(...any)
}

// CheckLeaks fails a test, at its end, for the Go handles made by it that are then neither released nor collected, and
// for every double release and use after release. Leaks are grouped by the stack that made them.
//
// A handle is made by a test if its goroutine is the test's, or was started by one of these: so tests that run in
// parallel are kept apart. An older goroutine makes handles for the only test that runs; while several do, for none.
//
// Without the build tag opassert no handles are tracked, and the test logs that.
func CheckLeaks(t TB) {
	t.Helper()
	if len(allRegistries()) == 0 {
		t.Log("preserve: this build does not track handles; run go test -tags opassert")
		return
	}
	s := openScope()
	t.Cleanup(func() {
		t.Helper()
		defer s.close()
		for _, r := range allRegistries() {
			for _, f := range slices.Concat(r.faultsOf(s), r.leaksOf(s)) {
				t.Error(f)
			}
		}
	})
}

func (r *Registry) faultsOf(s *testScope) []*RuleError {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(r.faults), func(f *RuleError) bool { return f.scope != s })
}

// patience is how often the collector is run to find unreachable handles.
const patience = 6

func (r *Registry) leaksOf(s *testScope) []*RuleError {
	return r.collect(patience, func(h *slot) bool { return h.scope == s && !h.released })
}

// Handles returns how many handles were made so far.
func Handles() int64 { return handles.Load() }

// LeaksSince returns the leaks of handles made since there were n, if need be after some runs of the collector.
func LeaksSince(n int64, collections int) (all []*RuleError) {
	for _, r := range allRegistries() {
		all = append(all, r.collect(collections, func(h *slot) bool { return h.nth > n && !h.released })...)
	}
	return all
}

// collect returns the leaks, if need be after the collector has released what is unreachable.
func (r *Registry) collect(times int, leaked func(*slot) bool) []*RuleError {
	leaks := r.leaks(leaked)
	for i := range times {
		if len(leaks) == 0 {
			break
		}
		runtime.GC()
		time.Sleep(time.Millisecond << i) // cleanups run on goroutines of their own
		leaks = r.leaks(leaked)
	}
	return leaks
}

// A testScope is a test that checks its handles.
type testScope struct{ label unsafe.Pointer }

// scopes are the open scopes, by the label of their goroutines.
var scopes sync.Map

// currentScope returns the scope of this goroutine, or the only one; nil if it has none.
func currentScope() (only *testScope) {
	if s, ok := scopes.Load(goroutineLabels()); ok {
		return s.(*testScope)
	}
	for _, s := range scopes.Range {
		if only != nil {
			return nil
		}
		only = s.(*testScope)
	}
	return only
}

// openScope assigns this goroutine, and those that it starts, to a new scope. Goroutines inherit the labels that tell.
func openScope() *testScope {
	pprof.SetGoroutineLabels(pprof.WithLabels(context.Background(), pprof.Labels("opassert", "leaks")))
	s := &testScope{goroutineLabels()}
	scopes.Store(s.label, s)
	return s
}

func (s *testScope) close() {
	scopes.Delete(s.label)
	if goroutineLabels() == s.label {
		pprof.SetGoroutineLabels(context.Background())
	}
}
