package libtorch

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/preserve"
)

// A handle refers to a slot, which owns one reference to an object of libtorch. It is a plain value: copies refer to
// the same slot. The slot counts its uses, so that a release waits for calls in progress, and has a generation, so that
// an old handle differs from a new one in the same slot. In the debug build package preserve tracks it by the token.
//
// The zero handle refers to nothing: an undefined tensor.
type handle struct {
	slot, generation uint32
	token            preserve.Token
}

// handles are the tensors and objects that preserve.CheckLeaks finds in a test.
var handles = preserve.NewRegistry("libtorch")

// A slot's state is its generation in the upper half; below it whether it is closed, and the number of uses.
type slot struct {
	state   atomic.Uint64
	address int64
	drop    func(int64)
}

const (
	closed = 1 << 31
	users  = closed - 1
)

// Slots are allocated in chunks and never move.
const chunkSlots = 1 << 10

var table struct {
	chunks [1 << 14]atomic.Pointer[[chunkSlots]slot]

	mu   sync.Mutex
	made uint32
	idle []uint32 // slots without a handle
}

func at(index uint32) *slot { return &table.chunks[index/chunkSlots].Load()[index%chunkSlots] }

func release(impl int64) { cross(crossing{function: fnRelease, first: impl}, nil, nil) }

func drop(object int64) { cross(crossing{function: fnDrop, first: object}, nil, nil) }

// newTensor takes over a reference to a TensorImpl.
func newTensor(impl int64) Tensor {
	var bytes int64
	if asserts.Enabled {
		bytes, _ = ask("measure", crossing{function: fnBytes, first: impl}, (*reader).word)
	}
	return Tensor{newHandle(impl, release, bytes)}
}

func newObject(address int64) Object { return Object{newHandle(address, drop, 0)} }

// newHandle takes over a reference, which drop releases.
func newHandle(address int64, drop func(int64), bytes int64) handle {
	index := takeSlot()
	s := at(index)
	s.address, s.drop = address, drop
	generation := uint32(s.state.Load()>>32) + 1
	s.state.Store(uint64(generation) << 32)
	h := handle{slot: index, generation: generation}
	if asserts.Enabled {
		h.token = handles.Made(bytes)
	}
	return h
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

// use returns the address, which remains valid until done.
func (h handle) use() (int64, error) {
	if h.generation == 0 {
		return 0, fmt.Errorf("libtorch: the zero handle was used")
	}
	s := at(h.slot)
	for {
		state := s.state.Load()
		if !s.live(h.generation, state) {
			return 0, h.misused(false)
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

// release closes the slot; its last user releases the reference.
func (h handle) release() error {
	if h.generation == 0 {
		return nil
	}
	s := at(h.slot)
	for {
		state := s.state.Load()
		if !s.live(h.generation, state) {
			return h.misused(true)
		}
		if s.state.CompareAndSwap(state, state|closed) {
			if state&users == 0 {
				s.discard(h.slot)
			}
			if asserts.Enabled {
				return handles.Release(h.token)
			}
			return nil
		}
	}
}

func (h handle) misused(release bool) error {
	e := &HandleError{Released: release}
	if asserts.Enabled {
		use := handles.Use
		if release {
			use = handles.Release
		}
		errors.As(use(h.token), &e.Fault)
	}
	return e
}

func (s *slot) discard(index uint32) {
	s.drop(s.address)
	table.mu.Lock()
	table.idle = append(table.idle, index)
	table.mu.Unlock()
}
