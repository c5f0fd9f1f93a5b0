package model_test

import (
	"sync"

	"github.com/opassert/opassert/asserts/preserve/internal/model"
	"github.com/opassert/opassert/internal/testbed/c10"
)

// An embeddedEngine is the embedded engine as a [model.Machine] sees it: its tensors and
// storages are the impls, and the slots are theirs.
type embeddedEngine struct {
	// Decref releases the object that a freed impl owns. It is the machine's, unless the host must
	// take the interpreter's lock first.
	Decref func(model.Context, model.Address)

	mu   sync.Mutex
	weak map[model.ID]func() (model.Ref, bool)
}

// newEmbedded returns a machine for the objects of the embedded engine's tensors
// and storages, and the engine that makes their Refs.
func newEmbedded(p model.Protocol) (*model.Machine, *embeddedEngine) {
	e := &embeddedEngine{weak: map[model.ID]func() (model.Ref, bool){}}
	m := model.NewMachine(e, p)
	e.Decref = m.Decref
	return m, e
}

// Lock returns a new reference to an impl for which a Ref was made, or false
// when it was freed.
func (e *embeddedEngine) Lock(id model.ID) (model.Ref, bool) {
	e.mu.Lock()
	lock := e.weak[id]
	e.mu.Unlock()
	if lock == nil {
		return nil, false
	}
	r, ok := lock()
	if !ok {
		e.mu.Lock()
		delete(e.weak, id)
		e.mu.Unlock()
	}
	return r, ok
}

func (e *embeddedEngine) know(id model.ID, lock func() (model.Ref, bool)) {
	e.mu.Lock()
	if e.weak[id] == nil {
		e.weak[id] = lock
	}
	e.mu.Unlock()
}

// Tensor returns a handle as a Ref, which owns it from now on.
func (e *embeddedEngine) Tensor(t *c10.Tensor) model.Ref {
	w := t.Weak()
	e.know(model.ID(t.ID()), func() (model.Ref, bool) {
		t, ok := w.Lock()
		return tensor{e, t}, ok
	})
	return tensor{e, t}
}

// Storage returns a handle as a Ref, which owns it from now on.
func (e *embeddedEngine) Storage(s *c10.Storage) model.Ref {
	w := s.Weak()
	e.know(model.ID(s.ID()), func() (model.Ref, bool) {
		s, ok := w.Lock()
		return storage{e, s}, ok
	})
	return storage{e, s}
}

type tensor struct {
	e *embeddedEngine
	t *c10.Tensor
}

func (r tensor) ID() model.ID      { return model.ID(r.t.ID()) }
func (r tensor) UseCount() int32   { return r.t.UseCount() }
func (r tensor) Slot() model.Slot  { return slot{r.e, r.t.Slot()} }
func (r tensor) Retain() model.Ref { return tensor{r.e, r.t.Retain()} }
func (r tensor) Release()          { r.t.Release() }

type storage struct {
	e *embeddedEngine
	s *c10.Storage
}

func (r storage) ID() model.ID     { return model.ID(r.s.ID()) }
func (r storage) UseCount() int32  { return r.s.UseCount() }
func (r storage) Slot() model.Slot { return slot{r.e, r.s.Slot()} }
func (r storage) Release()         { r.s.Release() }

func (r storage) Retain() model.Ref {
	s, _ := r.s.Weak().Lock() // r keeps it alive
	return storage{r.e, s}
}

// A pyObject is, in the embedded engine's slot, an object of the machine.
type pyObject struct {
	e      *embeddedEngine
	interp model.Interp
	at     model.Address
}

// Decref is called by an impl that is freed and owns the object.
func (o *pyObject) Decref() { o.e.Decref(model.Context{Interp: o.interp}, o.at) }

type slot struct {
	e *embeddedEngine
	s *c10.PyObjectSlot
}

func (s slot) Load() model.SlotState { return state(s.s.Load()) }

func state(s c10.PyObjectState) model.SlotState {
	out := model.SlotState{Interp: model.Interp(s.Interpreter), Owns: s.Owns}
	if o, ok := s.Object.(*pyObject); ok {
		out.Object = o.at
	}
	return out
}

func (s slot) CompareAndSwap(old, new model.SlotState) bool {
	now := s.s.Load()
	if state(now) != old {
		return false
	}
	next := c10.PyObjectState{Interpreter: c10.Interpreter(new.Interp), Owns: new.Owns}
	switch {
	case new.Object == old.Object:
		next.Object = now.Object
	case new.Object != 0:
		next.Object = &pyObject{s.e, new.Interp, new.Object}
	}
	return s.s.CompareAndSwap(now, next)
}
