package asserts

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
)

// TB is the part of [testing.TB] that [NewT] needs.
type TB interface {
	Cleanup(func())
	Fail()
	Output() io.Writer
}

// T reports violations as failures of one test, which continues.
type T struct {
	tb   TB
	mu   sync.Mutex
	done bool
	seen Collector
}

// NewT makes violations failures of the test, reported at the line that called
// the wrapper. Until the test ends these calls belong to it:
//
//   - those that get the context of [T.Context];
//   - those on the goroutine that called NewT;
//   - those on goroutines which that one started itself.
//
// Violations on other goroutines, started by a pool or by a goroutine of the test, go to the process's reporter, since
// their test is unknown: pass the context to them. Parallel subtests are independent, each with a NewT of its own.
func NewT(tb TB) *T {
	t := &T{tb: tb}
	self, _ := goroutines()
	tests.add(self, t)
	tb.Cleanup(func() {
		tests.remove(self, t)
		t.end()
	})
	return t
}

// Context returns a context whose calls are the test's, on any goroutine.
func (t *T) Context(ctx context.Context) context.Context { return WithReporter(ctx, t) }

// Report reports to the test, or to the process's reporter once the test is over.
func (t *T) Report(vs Violations) {
	if !t.take(vs) {
		configure()
		current.Load().reporter.Report(vs)
	}
}

func (t *T) take(vs Violations) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.done {
		return false
	}
	if len(vs.errors()) > 0 {
		t.tb.Fail()
	}
	for _, v := range vs {
		if t.seen.add(v) {
			fmt.Fprintf(t.tb.Output(), "%s:%d: %v\n", filepath.Base(v.Site.File), v.Site.Line, v)
		}
	}
	return true
}

func (t *T) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.done = true
	for _, f := range t.seen.Found() {
		if f.Count > 1 {
			fmt.Fprintf(t.tb.Output(), "%s:%d: %s: %d times\n", filepath.Base(f.Site.File), f.Site.Line, f.Title(), f.Count)
		}
	}
}

// tests holds the running tests, by goroutine.
var tests running

type running struct {
	live atomic.Int64
	mu   sync.Mutex
	byID map[uint64][]*T // the most recent NewT of a goroutine is first
}

func (r *running) add(goroutine uint64, t *T) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.byID == nil {
		r.byID = make(map[uint64][]*T)
	}
	r.byID[goroutine] = append([]*T{t}, r.byID[goroutine]...)
	r.live.Add(1)
}

func (r *running) remove(goroutine uint64, t *T) {
	r.mu.Lock()
	defer r.mu.Unlock()
	rest := slices.DeleteFunc(r.byID[goroutine], func(other *T) bool { return other == t })
	r.byID[goroutine] = rest
	if len(rest) == 0 { //mutate:equivalent false: only saves memory
		delete(r.byID, goroutine)
	}
	r.live.Add(-1)
}

// owner returns the test that this goroutine belongs to, or nil.
func (r *running) owner() *T {
	if r.live.Load() == 0 { //mutate:equivalent false: only saves time
		return nil
	}
	self, creator := goroutines()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, id := range []uint64{self, creator} {
		if ts := r.byID[id]; len(ts) > 0 {
			return ts[0]
		}
	}
	return nil
}
