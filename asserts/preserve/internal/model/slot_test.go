package model

// An ID names an impl and is never reused, like those of [asserts.NewID].
type ID uint64

// An Interp names an interpreter; 0 is none.
type Interp uint32

// An Address is the position of an object in a [Machine]'s heap; 0 is none. As in a real heap, the
// address of a deallocated object is soon reused.
type Address uint32

// A SlotState is the contents of a slot at one moment.
type SlotState struct {
	Interp Interp // the interpreter that claimed the slot, forever
	Object Address
	Owns   bool // the impl owns the object, and not the object the impl; or it has a reference to it, see [Counting]
}

// A Slot is where an impl keeps its object.
//
// Source: c10/core/impl/PyObjectSlot.h.
type Slot interface {
	Load() SlotState
	// CompareAndSwap replaces the old state by a new one, and reports whether it was the old one.
	CompareAndSwap(old, new SlotState) bool
}

// A Ref is one strong reference to an impl. When the last one is released the
// engine frees the impl, and first calls [Machine.Decref] on the object that
// the impl's slot owns, if it owns one (PyObjectSlot::maybe_destroy_pyobj). With
// [Counting] it calls [Machine.Incref] for the second one and Decref after it.
type Ref interface {
	ID() ID
	UseCount() int32 // strong references, this one included
	Slot() Slot
	Retain() Ref
	Release()
}

// A Copier is a Ref whose impl can be copied onto the same data, for a second
// interpreter; storages are, tensors are not.
//
// Source: c10/core/RefcountedDeleter.h, newStorageImplFromRefcountedDataPtr.
type Copier interface{ Copy() Ref }

// An Engine owns the impls that a [Machine] makes objects for.
type Engine interface {
	// Lock returns a new reference to an impl, or false when it was freed.
	Lock(ID) (Ref, bool)
}

// A Context is the context in which host code runs.
type Context struct {
	Interp   Interp
	Hermetic bool // c10::impl::HermeticPyObjectTLS::get_state()
}
