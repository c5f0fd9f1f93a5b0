package c10

import "sync/atomic"

// An Interpreter identifies an interpreter of the process; 0 means none.
//
// Source: c10/core/impl/PyInterpreter.h.
type Interpreter uint64

// A PyObject is the host-language object of a TensorImpl or a StorageImpl. It
// is a pointer: states are compared with ==.
type PyObject interface {
	// Decref drops the reference that an impl owned. It is called once, when
	// an impl whose slot owns the object is freed.
	Decref()
}

// A PyObjectState is the contents of a slot at one moment.
type PyObjectState struct {
	Interpreter Interpreter // whose object it is
	Object      PyObject
	Owns        bool // the impl owns the object, and not the object the impl
}

// A PyObjectSlot is where an impl keeps its host-language object. It has no
// rules of its own but one: freeing the impl drops the reference it owns.
//
// Source: c10/core/impl/PyObjectSlot.h.
type PyObjectSlot struct{ state atomic.Pointer[PyObjectState] }

// Load returns the state; the zero value is an empty slot.
func (s *PyObjectSlot) Load() PyObjectState {
	if p := s.state.Load(); p != nil {
		return *p
	}
	return PyObjectState{}
}

// CompareAndSwap puts a new state in place of the old one, and reports whether
// the old one was there.
func (s *PyObjectSlot) CompareAndSwap(old, new PyObjectState) bool {
	p := s.state.Load()
	if p == nil && old != (PyObjectState{}) || p != nil && *p != old {
		return false
	}
	return s.state.CompareAndSwap(p, &new)
}

// free is called when the impl is freed.
//
// Source: c10/core/impl/PyObjectSlot.cpp, maybe_destroy_pyobj.
func (s *PyObjectSlot) free() {
	p := s.state.Swap(nil)
	if p != nil && p.Owns {
		p.Object.Decref()
	}
}
