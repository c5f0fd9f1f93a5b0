package preserve

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// A goTensor is a handle as an engine's Go side has it.
type goTensor struct {
	impl uintptr
	name string
}

// A counted engine counts the references that Go holds.
type counted struct {
	mu   sync.Mutex
	refs map[uintptr]int
	*Registry[uintptr, goTensor]
}

func newCounted() *counted {
	c := &counted{refs: map[uintptr]int{}}
	c.Registry = NewRegistry[uintptr, goTensor](func(impl uintptr) {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.refs[impl]--; c.refs[impl] < 0 {
			panic(fmt.Sprintf("impl %d: freed more often than referenced", impl))
		}
	})
	return c
}

func (c *counted) tensor(impl uintptr) *goTensor {
	c.mu.Lock()
	c.refs[impl]++
	c.mu.Unlock()
	return c.Handle(impl, func() *goTensor { return &goTensor{impl: impl, name: "t"} })
}

func (c *counted) held(impl uintptr) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.refs[impl]
}

// eventually waits for the collector.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for wait := time.Millisecond; wait < 5*time.Second; wait *= 2 {
		runtime.GC()
		if ok() {
			return
		}
		time.Sleep(wait)
	}
	t.Errorf("%s: not so after 5 seconds", what)
}

func TestOneHandle(t *testing.T) {
	c := newCounted()
	a := c.tensor(1)
	if b := c.tensor(1); b != a {
		t.Error("two handles for one impl")
	}
	if b := c.tensor(2); b == a {
		t.Error("one handle for two impls")
	}
	if n := c.held(1); n != 1 {
		t.Errorf("Go holds %d references, want 1", n)
	}
	if err := errors.Join(c.Use(a), c.Release(a)); err != nil {
		t.Error(err)
	}
	if n := c.held(1); n != 0 {
		t.Errorf("Go holds %d references after the release", n)
	}
	if b := c.tensor(1); b == a {
		t.Error("a released handle came back")
	}
}

func TestCollectedHandle(t *testing.T) {
	c := newCounted()
	c.tensor(1)
	eventually(t, "the reference is given back", func() bool { return c.held(1) == 0 })
	if n := c.Living(); n != 0 {
		t.Errorf("%d handles live", n)
	}
	a := c.tensor(1)
	if err := c.Use(a); err != nil {
		t.Error(err)
	}
	if err := c.Release(a); err != nil {
		t.Error(err)
	}
	a = nil
	eventually(t, "the registry forgets", func() bool {
		c.Registry.mu.Lock()
		defer c.Registry.mu.Unlock()
		return len(c.entries) == 0
	})
	if n := c.held(1); n != 0 {
		t.Errorf("Go holds %d references", n)
	}
}

func makeHandle(c *counted, impl uintptr) *goTensor { return c.tensor(impl) }
func releaseHandle(c *counted, h *goTensor) error   { return c.Release(h) }

func TestHandleFaults(t *testing.T) {
	c := newCounted()
	a := makeHandle(c, 7)
	if err := releaseHandle(c, a); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		err  error
		code Code
	}{
		{c.Release(a), DoubleRelease},
		{c.Use(a), UseAfter},
	} {
		var f *Fault
		if !errors.As(tt.err, &f) || f.Code != tt.code {
			t.Errorf("got %v, want %s", tt.err, tt.code)
			continue
		}
		for _, want := range []string{tt.code.String(), "*preserve.goTensor of impl 7", "makeHandle", "releaseHandle", "registry_test.go:"} {
			if !strings.Contains(f.Error(), want) {
				t.Errorf("the report does not say %q:\n%v", want, f)
			}
		}
	}
	if n := len(c.Faults()); n != 2 {
		t.Errorf("%d faults kept, want 2", n)
	}
	if err := c.Use(&goTensor{}); err == nil || errors.As(err, new(*Fault)) {
		t.Errorf("a foreign handle: %v", err)
	}
	if n := c.held(7); n != 0 {
		t.Errorf("Go holds %d references", n)
	}
}

// A record is a testing.TB that keeps what is reported.
type record struct {
	cleanups []func()
	errors   []error
}

func (r *record) Helper()          {}
func (r *record) Cleanup(f func()) { r.cleanups = append(r.cleanups, f) }
func (r *record) Error(args ...any) {
	for _, a := range args {
		r.errors = append(r.errors, a.(error))
	}
}

func (r *record) end() []Code {
	for _, f := range r.cleanups {
		f()
	}
	var codes []Code
	for _, err := range r.errors {
		codes = append(codes, err.(*Fault).Code)
	}
	return codes
}

func TestCheckLeaks(t *testing.T) {
	c := newCounted()
	before := makeHandle(c, 1)
	for _, tt := range []struct {
		name string
		play func() (kept *goTensor)
		want []Code
	}{
		{"released", func() *goTensor { h := makeHandle(c, 2); c.Release(h); return h }, nil},
		{"dropped", func() *goTensor { makeHandle(c, 2); return nil }, nil},
		{"older than the test", func() *goTensor { return makeHandle(c, 1) }, nil},
		{"leaked", func() *goTensor { return makeHandle(c, 3) }, []Code{Leak}},
		{"released twice, and used", func() *goTensor {
			h := makeHandle(c, 4)
			c.Release(h)
			c.Release(h)
			c.Use(h)
			return nil
		}, []Code{DoubleRelease, UseAfter}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := &record{}
			CheckLeaks(r)
			kept := tt.play()
			if got := r.end(); fmt.Sprint(got) != fmt.Sprint(tt.want) {
				t.Errorf("reported %v, want %v", got, tt.want)
			}
			for _, err := range r.errors {
				if !strings.Contains(err.Error(), "makeHandle") {
					t.Errorf("no creation stack in\n%v", err)
				}
			}
			runtime.KeepAlive(kept)
		})
	}
	runtime.KeepAlive(before)
	if n := len(c.Leaks()); n == 0 {
		t.Error("no leak while a handle is held")
	}
	runtime.KeepAlive(before)
}

// Many goroutines wrap and release the same few impls while the collector runs.
func TestRegistryRace(t *testing.T) {
	c := newCounted()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := range 2000 {
				impl := uintptr(i % 3)
				h := c.tensor(impl)
				if h.impl != impl {
					t.Errorf("got impl %d for %d", h.impl, impl)
				}
				if i%500 == 0 {
					runtime.GC()
				}
				runtime.KeepAlive(h)
			}
		})
	}
	for i := range 2000 {
		h := c.tensor(uintptr(100 + i))
		if err := c.Release(h); err != nil {
			t.Error(err)
		}
	}
	wg.Wait()
	eventually(t, "every reference is given back", func() bool { return c.held(0)+c.held(1)+c.held(2) == 0 })
}

func BenchmarkRegistry(b *testing.B) {
	r := NewRegistry[uintptr, goTensor](func(uintptr) {})
	b.Run("again", func(b *testing.B) {
		b.ReportAllocs()
		h := r.Handle(1, func() *goTensor { return &goTensor{} })
		for b.Loop() {
			r.Handle(1, func() *goTensor { return &goTensor{} })
		}
		runtime.KeepAlive(h)
	})
	b.Run("use", func(b *testing.B) {
		b.ReportAllocs()
		h := r.Handle(1, func() *goTensor { return &goTensor{} })
		for b.Loop() {
			if err := r.Use(h); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("make and release", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			r.Release(r.Handle(2, func() *goTensor { return &goTensor{} }))
		}
	})
}
