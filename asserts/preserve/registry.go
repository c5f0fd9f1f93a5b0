package preserve

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"weak"
)

// A Registry keeps at most one living Go handle for each impl of an engine. K
// is the engine's name for an impl, H what handles point to: at least 16 bytes
// or a pointer, for the collector takes its time with less.
//
// A handle owns one reference to its impl. It gives it back by
// [Registry.Release] or else when nobody has the handle any more. So while an
// engine uses the impl of a handle, it must keep the handle reachable
// (runtime.KeepAlive).
//
// A Registry is safe for use by several goroutines.
type Registry[K comparable, H any] struct {
	free func(K)

	mu      sync.Mutex
	living  map[K]*entry[K, H]               // by impl
	entries map[weak.Pointer[H]]*entry[K, H] // until the handle is collected
	faults  []*Fault
}

type entry[K comparable, H any] struct {
	key      K
	handle   weak.Pointer[H]
	number   uint64
	made     stack
	released stack
	gone     bool // its reference was given back
}

// A Fault is a rule that the use of Go handles broke.
type Fault struct {
	Code     Code
	Handle   string // its type and its impl
	Made     string // the stack that made it
	Released string // the stack that released it; "" if it was not
	number   uint64
}

// Error gives the fault with its stacks.
func (f *Fault) Error() string {
	s := fmt.Sprintf("%s %s  %s\n  rule      %s\n  made by\n%s", f.Code, f.Code.Name(), f.Handle, f.Code.Rule(), f.Made)
	if f.Released != "" {
		s += "\n  released by\n" + f.Released
	}
	return s
}

// NewRegistry gives a Registry for an engine whose references free gives back.
// It is called from any goroutine.
func NewRegistry[K comparable, H any](free func(K)) *Registry[K, H] {
	r := &Registry[K, H]{
		free:    free,
		living:  map[K]*entry[K, H]{},
		entries: map[weak.Pointer[H]]*entry[K, H]{},
	}
	shelve(&registries, r)
	return r
}

// Handle gives the handle of an impl: the one that lives, or what make makes.
// The caller brings a reference to the impl. A new handle takes it over;
// otherwise it is given back. make must not call the Registry.
func (r *Registry[K, H]) Handle(key K, make func() *H) *H {
	h, fresh := r.handle(key, make)
	if !fresh {
		r.free(key)
	}
	return h
}

func (r *Registry[K, H]) handle(key K, make func() *H) (h *H, fresh bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e := r.living[key]; e != nil {
		if h := e.handle.Value(); h != nil {
			return h, false
		}
	}
	h = make()
	e := &entry[K, H]{key: key, handle: weak.Make(h), number: lastNumber.Add(1), made: callers()}
	r.living[key] = e
	r.entries[e.handle] = e
	runtime.AddCleanup(h, r.collected, e.handle)
	return h, true
}

// collected is called some time after a handle became unreachable.
func (r *Registry[K, H]) collected(h weak.Pointer[H]) {
	r.mu.Lock()
	e := r.entries[h]
	delete(r.entries, h)
	held := !e.gone
	r.end(e)
	r.mu.Unlock()
	if held {
		r.free(e.key)
	}
}

func (r *Registry[K, H]) end(e *entry[K, H]) {
	e.gone = true
	if r.living[e.key] == e {
		delete(r.living, e.key)
	}
}

// Release gives a handle's reference back. The error is a [*Fault] when that
// was done already.
func (r *Registry[K, H]) Release(h *H) error {
	r.mu.Lock()
	e, err := r.find(h, DoubleRelease)
	if err == nil {
		e.released = callers()
		r.end(e)
	}
	r.mu.Unlock()
	if err == nil {
		r.free(e.key)
	}
	return err
}

// Use checks that a handle may be used. The error is a [*Fault] when it was
// released.
func (r *Registry[K, H]) Use(h *H) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, err := r.find(h, UseAfter)
	return err
}

// find gives the entry of a handle that is not released.
func (r *Registry[K, H]) find(h *H, broken Code) (*entry[K, H], error) {
	e := r.entries[weak.Make(h)]
	if e == nil {
		return nil, fmt.Errorf("%T: not a handle of this registry", h)
	}
	if e.gone {
		f := r.fault(broken, e)
		r.faults = append(r.faults, f)
		return nil, f
	}
	return e, nil
}

func (r *Registry[K, H]) fault(c Code, e *entry[K, H]) *Fault {
	return &Fault{
		Code: c, Handle: fmt.Sprintf("%T of impl %v", (*H)(nil), e.key),
		Made: e.made.String(), Released: e.released.String(), number: lastNumber.Add(1),
	}
}

// Living gives the number of impls that have a handle.
func (r *Registry[K, H]) Living() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.living)
}

// Faults gives the faults met so far, double releases and uses after release.
func (r *Registry[K, H]) Faults() []*Fault {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.faults)
}

// Leaks gives a fault for each handle that is reachable and not released, in
// the order in which they were made.
func (r *Registry[K, H]) Leaks() []*Fault { return r.leaksSince(0) }

func (r *Registry[K, H]) leaksSince(number uint64) []*Fault {
	runtime.GC()
	r.mu.Lock()
	defer r.mu.Unlock()
	var leaks []*Fault
	var found []*entry[K, H]
	for _, e := range r.living {
		if e.number > number && e.handle.Value() != nil {
			found = append(found, e)
		}
	}
	slices.SortFunc(found, func(a, b *entry[K, H]) int { return int(a.number) - int(b.number) })
	for _, e := range found {
		leaks = append(leaks, r.fault(Leak, e))
	}
	return leaks
}

func (r *Registry[K, H]) faultsSince(number uint64) []*Fault {
	return slices.DeleteFunc(r.Faults(), func(f *Fault) bool { return f.number <= number })
}

// Handles and faults are numbered in one order, over all registries.
var lastNumber atomic.Uint64

// A stack is where a call came from.
type stack [16]uintptr

func callers() (s stack) {
	runtime.Callers(3, s[:])
	return s
}

func (s stack) String() string {
	n := slices.Index(s[:], 0)
	if n == 0 {
		return ""
	}
	if n < 0 {
		n = len(s)
	}
	var lines []string
	for frames := runtime.CallersFrames(s[:n]); ; {
		f, more := frames.Next()
		lines = append(lines, fmt.Sprintf("    %s\n        %s:%d", f.Function, f.File, f.Line))
		if !more {
			return strings.Join(lines, "\n")
		}
	}
}
