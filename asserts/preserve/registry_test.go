package preserve

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/opassert/opassert/internal/dev/must"
)

// A goTensor is a handle as in a library.
type goTensor struct {
	token Token
	_     [2]int
}

// A lib is a library whose tensors can be released, and are released when they become unreachable.
type lib struct{ *Registry }

func newLib() lib { return lib{newRegistry("lib.Tensor", true)} }

//go:noinline
func (l lib) tensor(bytes int64) *goTensor {
	t := &goTensor{token: l.Made(bytes)}
	runtime.AddCleanup(t, l.Collected, t.token)
	return t
}

//go:noinline
func (l lib) free(t *goTensor) error { return l.Release(t.token) }

//go:noinline
func (l lib) use(t *goTensor) error { return l.Use(t.token) }

// The library's users.

//go:noinline
func makeHandle(l lib) *goTensor { return l.tensor(64) }

//go:noinline
func releaseHandle(l lib, t *goTensor) error { return l.free(t) }

//go:noinline
func releaseElsewhere(l lib, t *goTensor) error { return l.free(t) }

//go:noinline
func useHandle(l lib, t *goTensor) error { return l.use(t) }

func TestHandleFaults(t *testing.T) {
	l := newLib()
	a := makeHandle(l)
	must.Do(t, errors.Join(useHandle(l, a), releaseHandle(l, a)))
	for _, tt := range []struct {
		err   error
		code  Code
		again string
	}{
		{releaseElsewhere(l, a), DoubleRelease, "released again by\n    github.com/opassert/opassert/asserts/preserve.lib.free\n"},
		{useHandle(l, a), UseAfter, "used by\n    github.com/opassert/opassert/asserts/preserve.lib.use\n"},
	} {
		var f *RuleError
		if !errors.As(tt.err, &f) || f.Code != tt.code {
			t.Errorf("got %v, want %s", tt.err, tt.code)
			continue
		}
		for _, want := range []string{
			tt.code.String(), "1 handle of lib.Tensor, 64 bytes", tt.again,
			"made by\n    github.com/opassert/opassert/asserts/preserve.lib.tensor\n", "preserve.makeHandle\n", "registry_test.go:",
			"released by\n    github.com/opassert/opassert/asserts/preserve.lib.free\n", "preserve.releaseHandle\n",
		} {
			if !strings.Contains(f.Error(), want) {
				t.Errorf("the report does not say %q:\n%v", want, f)
			}
		}
	}
	if n := len(l.faults); n != 2 {
		t.Errorf("%d faults kept, want 2", n)
	}
	for range 3 * chunkSlots { // the slot has another handle
		releaseHandle(l, makeHandle(l))
	}
	b := makeHandle(l)
	if err := useHandle(l, a); !errors.As(err, new(*RuleError)) {
		t.Errorf("the slot of a released handle is used again: %v", err)
	}
	if err := releaseHandle(l, b); err != nil {
		t.Error(err)
	}
	runtime.KeepAlive(a)
}

// A record is a testing.TB that stores the reports.
type record struct {
	cleanups []func()
	faults   []*RuleError
	logged   []string
}

func (r *record) Helper()          {}
func (r *record) Cleanup(f func()) { r.cleanups = append(r.cleanups, f) }
func (r *record) Log(args ...any)  { r.logged = append(r.logged, fmt.Sprint(args...)) }
func (r *record) Error(args ...any) {
	for _, a := range args {
		r.faults = append(r.faults, a.(*RuleError))
	}
}

func (r *record) end() string {
	for _, f := range r.cleanups {
		f()
	}
	var all []string
	for _, f := range r.faults {
		all = append(all, fmt.Sprintf("%s %d/%d", f.Code.Name(), f.Handles, f.Bytes))
	}
	return strings.Join(all, ", ")
}

func TestCheckLeaks(t *testing.T) {
	l := newLib()
	before := makeHandle(l)
	for _, tt := range []struct {
		name string
		play func() (kept []*goTensor)
		want string
	}{
		{"released", func() []*goTensor { h := makeHandle(l); l.free(h); return nil }, ""},
		{"dropped", func() []*goTensor { makeHandle(l); return nil }, ""},
		{"older than the test", func() []*goTensor { l.use(before); return nil }, ""},
		{"leaked", func() []*goTensor { return []*goTensor{makeHandle(l)} }, "leak 1/64"},
		{"leaked by two stacks", func() (kept []*goTensor) {
			for range 3 {
				kept = append(kept, makeHandle(l))
			}
			return append(kept, l.tensor(1000))
		}, "leak 1/1000, leak 3/192"},
		{"leaked by a goroutine", func() (kept []*goTensor) {
			var wg sync.WaitGroup
			wg.Go(func() { kept = []*goTensor{makeHandle(l)} })
			wg.Wait()
			return kept
		}, "leak 1/64"},
		{"released twice, and used", func() []*goTensor {
			h := makeHandle(l)
			l.free(h)
			l.free(h)
			l.use(h)
			return nil
		}, "double-release 1/64, use-after-dealloc 1/64"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := &record{}
			CheckLeaks(r)
			kept := tt.play()
			if tt.name == "dropped" {
				for range 3 {
					runtime.GC()
				}
			}
			if got := r.end(); got != tt.want {
				t.Errorf("reported %q, want %q", got, tt.want)
			}
			runtime.KeepAlive(kept)
		})
	}
	if n := len(l.Leaks()); n == 0 {
		t.Error("no leak while a handle is held")
	}
	runtime.KeepAlive(before)
}

// Split and wrapped make handles in the library, each once or twice on a line.
//
//go:noinline
func (l lib) split() [2]*goTensor {
	return [2]*goTensor{l.tensor(8), l.tensor(8)}
}

//go:noinline
func (l lib) wrapped() (kept []*goTensor) {
	parts := l.split()
	whole := l.tensor(100)
	return append(parts[:], whole)
}

// The library's frames tell the handles apart that one line of a test makes; handles of one line are one leak.
func TestLeaksHaveTheLibrarysFrames(t *testing.T) {
	l, r := newLib(), &record{}
	CheckLeaks(r)
	kept := l.wrapped()
	if got := r.end(); got != "leak 1/100, leak 2/16" {
		t.Errorf("reported %q", got)
	}
	for i, want := range []string{
		"preserve.lib.tensor preserve.lib.wrapped preserve.TestLeaksHaveTheLibrarysFrames testing.tRunner runtime.goexit",
		"preserve.lib.tensor preserve.lib.split preserve.lib.wrapped preserve.TestLeaksHaveTheLibrarysFrames testing.tRunner runtime.goexit",
	} {
		var got []string
		for line := range strings.Lines(r.faults[i].Made) {
			if name, ok := strings.CutPrefix(line, "    "); ok && name[0] != ' ' {
				got = append(got, strings.TrimSpace(name[strings.LastIndexByte(name, '/')+1:]))
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("made by %v, want %s", got, want)
		}
	}
	runtime.KeepAlive(kept)
}

// Tests that run at the same time, with one closure for all, each get their own handles.
func TestParallel(t *testing.T) {
	l := newLib()
	var ready, done sync.WaitGroup
	ready.Add(8)
	done.Add(8)
	got := make([]string, 8)
	var kept sync.Map
	for i := range got {
		go func() {
			defer done.Done()
			r := &record{}
			CheckLeaks(r)
			ready.Done()
			ready.Wait()
			for n := range i { // test i leaks i handles, half of them in a goroutine of its own
				var wg sync.WaitGroup
				if n%2 == 0 {
					wg.Go(func() { kept.Store([2]int{i, n}, makeHandle(l)) })
				} else {
					kept.Store([2]int{i, n}, makeHandle(l))
				}
				wg.Wait()
			}
			got[i] = r.end()
		}()
	}
	done.Wait()
	for i, s := range got {
		n := 0
		for part := range strings.SplitSeq(s, ", ") {
			var handles, bytes int
			if fmt.Sscanf(part, "leak %d/%d", &handles, &bytes); bytes != 64*handles {
				t.Errorf("test %d: %s", i, part)
			}
			n += handles
		}
		if n != i {
			t.Errorf("test %d leaked %d handles, found %d", i, i, n)
		}
	}
	kept.Clear()
}

func TestOff(t *testing.T) {
	r := newRegistry("off", false)
	tok := r.Made(1)
	if err := errors.Join(r.Use(tok), r.Release(tok), r.Release(tok)); err != nil || tok != (Token{}) || len(r.Leaks()) > 0 {
		t.Error(err, tok, r.Leaks())
	}
}

// Many goroutines make, use and release handles while the collector runs.
func TestRegistryRace(t *testing.T) {
	l := newLib()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := range 2000 {
				h := l.tensor(8)
				if err := l.use(h); err != nil {
					t.Error(err)
				}
				if i%2 == 0 {
					if err := l.free(h); err != nil {
						t.Error(err)
					}
				}
				if i%500 == 0 {
					runtime.GC()
					l.Leaks()
				}
				runtime.KeepAlive(h)
			}
		})
	}
	wg.Wait()
	for range 10 {
		if runtime.GC(); len(l.Leaks()) == 0 {
			return
		}
		runtime.Gosched()
	}
}
