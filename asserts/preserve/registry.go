package preserve

import (
	"cmp"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/opassert/opassert/asserts"
)

// A Registry tracks the Go handles of a library: values that own a reference to something that Go's collector does not
// see. The library reports each handle made, used and released, and [CheckLeaks] finds those not released.
//
// It works in the debug build, with the tag opassert. In others methods return at once, and each [Token] is zero.
//
// A Registry is safe for use by several goroutines.
type Registry struct {
	kind string
	on   bool

	mu     sync.Mutex
	chunks [][]slot
	idle   []uint32 // slots without a handle, the longest unused first
	taken  int      // of idle
	faults []*RuleError
}

// A Token identifies one handle in its registry. It is a plain value stored with the handle, zero for none.
type Token struct{ slot, generation uint32 }

// A slot is the record of a handle in a registry. It is reused for another one, with the next generation.
type slot struct {
	generation uint32
	nth        int64 // of all handles
	released   bool
	bytes      int64
	scope      *testScope
	made       stack
	freed      stack
}

// handles is the number of handles that were made.
var handles atomic.Int64

// Slots are allocated in chunks and never move.
const chunkSlots = 1 << 10

// NewRegistry returns a Registry for handles of a kind, which reports name: "libtorch.Tensor".
func NewRegistry(kind string) *Registry { return newRegistry(kind, asserts.Enabled) }

func newRegistry(kind string, on bool) *Registry {
	r := &Registry{kind: kind, on: on}
	if on {
		registries.mu.Lock()
		defer registries.mu.Unlock()
		registries.list = append(registries.list, r)
	}
	return r
}

// Made tracks a handle that owns a number of bytes. Stacks begin at its caller: the library's own frames say which of
// the handles it is that one line of a test makes.
func (r *Registry) Made(bytes int64) Token {
	if !r.on {
		return Token{}
	}
	return r.made(bytes)
}

func (r *Registry) made(bytes int64) Token {
	from := callers(inMethod)
	in := currentScope()
	r.mu.Lock()
	index := r.take()
	s := r.at(index)
	*s = slot{generation: s.generation + 1, nth: handles.Add(1), bytes: bytes, scope: in, made: from}
	t := Token{index, s.generation}
	r.mu.Unlock()
	return t
}

// take returns the slot that has been without a handle for the longest time, so that for long a
// fault can be distinguished from a use of the next handle.
func (r *Registry) take() uint32 {
	if r.taken == len(r.idle) {
		r.taken, r.idle = 0, r.idle[:0]
		for i := range chunkSlots {
			r.idle = append(r.idle, uint32(len(r.chunks)*chunkSlots+i))
		}
		r.chunks = append(r.chunks, make([]slot, chunkSlots))
	}
	if r.taken == chunkSlots {
		r.idle = r.idle[:copy(r.idle, r.idle[r.taken:])]
		r.taken = 0
	}
	r.taken++
	return r.idle[r.taken-1]
}

func (r *Registry) at(index uint32) *slot { return &r.chunks[index/chunkSlots][index%chunkSlots] }

// find returns a handle's slot; nil if the handle was released and another handle has the slot.
func (r *Registry) find(t Token) *slot {
	if s := r.at(t.slot); s.generation == t.generation {
		return s
	}
	return nil
}

// Release records that a handle is released. The error is a [*RuleError] if it was released before.
func (r *Registry) Release(t Token) error {
	if t == (Token{}) {
		return nil
	}
	return r.release(t)
}

func (r *Registry) release(t Token) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.find(t)
	if s == nil || s.released {
		return r.fault(DoubleRelease, s)
	}
	s.released, s.freed = true, callers(inMethod)
	r.forget(t)
	return nil
}

// Use checks that a handle may be used. The error is a [*RuleError] if it was released.
func (r *Registry) Use(t Token) error {
	if t == (Token{}) {
		return nil
	}
	return r.use(t)
}

func (r *Registry) use(t Token) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s := r.find(t); s == nil || s.released {
		return r.fault(UseAfter, s)
	}
	return nil
}

// Collected records that a handle became unreachable before it was released, and that its reference
// is released now: a library whose handles have finalizers or cleanups calls it from there.
func (r *Registry) Collected(t Token) {
	if t == (Token{}) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.find(t)
	if s == nil || s.released {
		return
	}
	s.released = true
	r.forget(t)
}

// forget frees the slot for another handle.
func (r *Registry) forget(t Token) { r.idle = append(r.idle, t.slot) }

// A RuleError is a broken rule in the use of Go handles.
type RuleError struct {
	Code    Code
	Kind    string // of the handles
	Handles int    // 1, unless it leaks
	Bytes   int64  // that they own
	Made    string // the stack that made them; "" if no longer known
	Freed   string // the stack that released it first; "" if no longer known
	Again   string // the stack that released it again, or used it
	scope   *testScope
}

// Error returns the fault with its stacks.
func (f *RuleError) Error() string {
	var b strings.Builder
	what := "1 handle"
	if f.Handles != 1 {
		what = fmt.Sprintf("%d handles", f.Handles)
	}
	fmt.Fprintf(&b, "%s %s  %s of %s, %d bytes\n  rule    %s\n  breaks  %s\n  fix     %s",
		f.Code, f.Code.Name(), what, f.Kind, f.Bytes, f.Code.Rule(), f.Code.Breaks(), f.Code.Fix())
	for _, s := range []struct{ what, stack string }{
		{"made by", f.Made}, {"released by", f.Freed}, {map[Code]string{UseAfter: "used by"}[f.Code], f.Again},
	} {
		if s.stack != "" {
			fmt.Fprintf(&b, "\n  %s\n%s", cmp.Or(s.what, "released again by"), s.stack)
		}
	}
	return b.String()
}

// maxFaults is the number of faults that a registry keeps.
const maxFaults = 100

// fault records a fault of the handle in a slot; nil if it is no longer known.
func (r *Registry) fault(c Code, s *slot) error {
	f := &RuleError{Code: c, Kind: r.kind, Handles: 1, Again: callers(inMethod + 1).text(), scope: currentScope()}
	if s != nil {
		f.Bytes, f.Made, f.Freed = s.bytes, s.made.text(), s.freed.text()
		f.scope = cmp.Or(f.scope, s.scope)
	}
	if len(r.faults) < maxFaults {
		r.faults = append(r.faults, f)
	}
	return f
}

// Leaks returns a fault for each stack that made handles which are not released and not collected, most bytes first.
func (r *Registry) Leaks() []*RuleError {
	return r.leaks(func(s *slot) bool { return !s.released })
}

func (r *Registry) leaks(leaked func(*slot) bool) []*RuleError {
	r.mu.Lock()
	defer r.mu.Unlock()
	groups, texts := map[string]*RuleError{}, map[stack]string{}
	for _, c := range r.chunks {
		for i := range c {
			s := &c[i]
			if s.generation == 0 || !leaked(s) {
				continue
			}
			if texts[s.made] == "" {
				texts[s.made] = s.made.text()
			}
			made := texts[s.made]
			if groups[made] == nil {
				groups[made] = &RuleError{Code: Leak, Kind: r.kind, Made: made}
			}
			groups[made].Handles++
			groups[made].Bytes += s.bytes
		}
	}
	all := slices.Collect(maps.Values(groups))
	slices.SortStableFunc(all, func(a, b *RuleError) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(b.Handles, a.Handles), cmp.Compare(a.Made, b.Made))
	})
	return all
}

// A stack is the origin of a call: the callers of the registry, with those in the library.
type stack [32]uintptr

// inMethod is what to skip in a method of the registry: Callers, callers, and the method with the exported one.
const inMethod = 4

func callers(skip int) (s stack) {
	runtime.Callers(skip, s[:])
	return s
}

func (s stack) text() string {
	var lines []string
	for frames := runtime.CallersFrames(s[:]); ; { // which skips zeros
		f, more := frames.Next()
		if f.Function != "" {
			lines = append(lines, fmt.Sprintf("    %s\n        %s:%d", f.Function, f.File, f.Line))
		}
		if !more {
			return strings.Join(lines, "\n")
		}
	}
}

var registries struct {
	mu   sync.Mutex
	list []*Registry
}

func allRegistries() []*Registry {
	registries.mu.Lock()
	defer registries.mu.Unlock()
	return slices.Clone(registries.list)
}
