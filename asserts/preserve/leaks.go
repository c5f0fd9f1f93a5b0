package preserve

import (
	"slices"
	"sync"
	"weak"
)

// TB is what CheckLeaks needs of a [testing.TB].
type TB interface {
	Helper()
	Cleanup(func())
	Error(...any)
}

// CheckLeaks fails a test, at its end, for every Go handle made since the call
// that is neither released nor out of reach then, and for every double release
// and use after release meanwhile. It sees all registries, so it is not for
// tests that run in parallel with others that make handles.
func CheckLeaks(t TB) {
	t.Helper()
	since := lastNumber.Load()
	t.Cleanup(func() {
		t.Helper()
		for _, r := range registries.all() {
			for _, f := range slices.Concat(r.faultsSince(since), r.leaksSince(since)) {
				t.Error(f)
			}
		}
	})
}

// A book is a Registry of any kind.
type book interface {
	leaksSince(uint64) []*Fault
	faultsSince(uint64) []*Fault
}

// registries knows every Registry that is in use.
var registries shelf

type shelf struct {
	mu    sync.Mutex
	books []func() book // nil when it is out of use
}

func (s *shelf) all() []book {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []book
	s.books = slices.DeleteFunc(s.books, func(get func() book) bool {
		b := get()
		if b != nil {
			all = append(all, b)
		}
		return b == nil
	})
	return all
}

func shelve[K comparable, H any](s *shelf, r *Registry[K, H]) {
	w := weak.Make(r)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.books = append(s.books, func() book {
		if r := w.Value(); r != nil {
			return r
		}
		return nil
	})
}
