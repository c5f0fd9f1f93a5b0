package c10

import "sync/atomic"

// UseCount is the number of references to the TensorImpl, this one included.
func (t *Tensor) UseCount() int32 { return t.get().uses.Load() }

// A WeakTensor refers to a TensorImpl without keeping it.
//
// Source: c10/util/intrusive_ptr.h, weak_intrusive_ptr.
type WeakTensor struct{ impl *TensorImpl }

// Weak returns a weak reference to the TensorImpl.
func (t *Tensor) Weak() WeakTensor { return WeakTensor{t.get()} }

// Lock returns a new handle, or false when the TensorImpl was freed.
func (w WeakTensor) Lock() (*Tensor, bool) {
	if w.impl == nil || !lock(&w.impl.uses) {
		return nil, false
	}
	return &Tensor{w.impl}, true
}

// A WeakStorage refers to a StorageImpl without keeping it.
type WeakStorage struct{ impl *StorageImpl }

// Weak returns a weak reference to the StorageImpl.
func (s *Storage) Weak() WeakStorage { return WeakStorage{s.get()} }

// Lock returns a new handle, or false when the StorageImpl was freed.
func (w WeakStorage) Lock() (*Storage, bool) {
	if w.impl == nil || !lock(&w.impl.uses) {
		return nil, false
	}
	return &Storage{w.impl}, true
}

// lock adds a reference if the count is not 0, and reports whether it did.
func lock(uses *atomic.Int32) bool {
	for {
		n := uses.Load()
		if n <= 0 {
			return false
		}
		if uses.CompareAndSwap(n, n+1) {
			return true
		}
	}
}
