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

// A PyObjectState is the contents of a slot.
type PyObjectState struct {
	Interpreter Interpreter // whose object it is
	Object      PyObject
	Owns        bool // the impl owns the object, instead of the reverse
}

// A PyObjectSlot holds the host-language object of an impl. Its only rule: freeing
// the impl drops the reference that it owns.
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

// CompareAndSwap replaces the state old by new, and reports whether it did.
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
