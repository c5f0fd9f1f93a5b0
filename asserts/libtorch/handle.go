package libtorch

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// A handle names a slot, which owns one reference to an object of libtorch.
// It is a plain value: copies name the same reference. The slot counts how
// often it is in use, so that a release waits for the calls that are on their
// way; and its generation, so that an old handle is told from a new one in
// the same slot. Where the handle came from goes with the handle, since the
// slot may have other work by the time that somebody asks.
//
// The zero handle names nothing: an undefined tensor.
type handle struct{ slot, generation, origin uint32 }

// A slot's state is its generation in the upper half; below that whether it
// is closed, and how many uses there are.
type slot struct {
	state   atomic.Uint64
	address int64
	drop    func(int64)
	origin  atomic.Uint32
}

const (
	closed = 1 << 31
	users  = closed - 1
)

// Slots are made a chunk at a time and never move.
const chunkSlots = 1 << 10

var table struct {
	chunks [1 << 14]atomic.Pointer[[chunkSlots]slot]

	mu   sync.Mutex
	made uint32
	idle []uint32 // slots without a handle
}

func at(index uint32) *slot {
	return &table.chunks[index/chunkSlots].Load()[index%chunkSlots]
}

// newHandle takes over a reference, which drop releases.
func newHandle(address int64, drop func(int64), origin uint32) handle {
	index := takeSlot()
	s := at(index)
	s.address, s.drop = address, drop
	s.origin.Store(origin)
	generation := uint32(s.state.Load()>>32) + 1
	s.state.Store(uint64(generation) << 32)
	return handle{slot: index, generation: generation, origin: origin}
}

func takeSlot() uint32 {
	t := &table
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.idle) == 0 {
		chunk := new([chunkSlots]slot)
		for i := range chunk {
			chunk[i].state.Store(closed)
			t.idle = append(t.idle, t.made+chunkSlots-1-uint32(i))
		}
		t.chunks[t.made/chunkSlots].Store(chunk)
		t.made += chunkSlots
	}
	index := t.idle[len(t.idle)-1]
	t.idle = t.idle[:len(t.idle)-1]
	return index
}

func (s *slot) live(generation uint32, state uint64) bool {
	return uint32(state>>32) == generation && state&closed == 0
}

// use returns the address, which stays good until done.
func (h handle) use() (int64, error) {
	if h.generation == 0 {
		return 0, fmt.Errorf("libtorch: the zero handle was used")
	}
	s := at(h.slot)
	for {
		state := s.state.Load()
		if !s.live(h.generation, state) {
			return 0, &HandleError{Created: originText(h.origin)}
		}
		if s.state.CompareAndSwap(state, state+1) {
			return s.address, nil
		}
	}
}

func (h handle) done() {
	s := at(h.slot)
	if state := s.state.Add(^uint64(0)); state&closed != 0 && state&users == 0 {
		s.discard(h.slot)
	}
}

// release closes the slot; the last to use it releases the reference.
func (h handle) release() error {
	if h.generation == 0 {
		return nil
	}
	s := at(h.slot)
	for {
		state := s.state.Load()
		if !s.live(h.generation, state) {
			return &HandleError{Released: true, Created: originText(h.origin)}
		}
		if s.state.CompareAndSwap(state, state|closed) {
			if state&users == 0 {
				s.discard(h.slot)
			}
			return nil
		}
	}
}

func (s *slot) discard(index uint32) {
	s.drop(s.address)
	table.mu.Lock()
	table.idle = append(table.idle, index)
	table.mu.Unlock()
}

// Origins are the stacks that made handles, each kept once and for good: a
// program has few.
const originFrames = 12

var origins struct {
	sync.RWMutex
	index  map[[originFrames]uintptr]uint32
	stacks [][originFrames]uintptr
}

// origin names the stack of whoever called into the package.
func origin() uint32 {
	var pcs [originFrames]uintptr
	runtime.Callers(3, pcs[:])
	origins.RLock()
	n, ok := origins.index[pcs]
	origins.RUnlock()
	if ok {
		return n
	}
	origins.Lock()
	defer origins.Unlock()
	if n, ok := origins.index[pcs]; ok {
		return n
	}
	if origins.index == nil {
		origins.index = make(map[[originFrames]uintptr]uint32)
	}
	n = uint32(len(origins.stacks))
	origins.stacks = append(origins.stacks, pcs)
	origins.index[pcs] = n
	return n
}

func originText(n uint32) string {
	origins.RLock()
	pcs := origins.stacks[n]
	origins.RUnlock()
	var b strings.Builder
	frames := runtime.CallersFrames(slices.DeleteFunc(pcs[:], func(pc uintptr) bool { return pc == 0 }))
	for {
		f, more := frames.Next()
		fmt.Fprintf(&b, "\t%s\n\t\t%s:%d\n", f.Function, f.File, f.Line)
		if !more {
			return b.String()
		}
	}
}

// A Leak is a stack that made handles which are not released.
type Leak struct {
	Handles int
	Created string // the stack, a line a frame
}

// Live lists the handles that there are, most first: what a program that has
// released its own sees here, it forgot.
func Live() []Leak {
	table.mu.Lock()
	made := table.made
	table.mu.Unlock()
	counts := make(map[uint32]int)
	for i := range made {
		if s := at(i); s.state.Load()&closed == 0 {
			counts[s.origin.Load()]++
		}
	}
	var leaks []Leak
	for n, count := range counts {
		leaks = append(leaks, Leak{Handles: count, Created: originText(n)})
	}
	slices.SortFunc(leaks, func(a, b Leak) int {
		if a.Handles != b.Handles {
			return b.Handles - a.Handles
		}
		return strings.Compare(a.Created, b.Created)
	})
	return leaks
}
