package c10

import (
	"sync/atomic"

	"github.com/opassert/opassert/asserts"
)

// StorageImpl is a block of bytes with a use count.
//
// Source: c10/core/StorageImpl.h.
type StorageImpl struct {
	id     asserts.ID
	uses   atomic.Int32
	data   []byte // nil without bytes: on meta, and of a wrapper
	nbytes int64
}

// newStorage returns a storage with one reference, the caller's. Without bytes it has only their number.
func newStorage(data []byte, nbytes int64) *StorageImpl {
	s := &StorageImpl{id: asserts.NewID(), data: data, nbytes: nbytes}
	s.uses.Store(1)
	return s
}

func (s *StorageImpl) retain() *StorageImpl {
	s.uses.Add(1)
	return s
}

func (s *StorageImpl) release() {
	switch n := s.uses.Add(-1); {
	case n == 0:
		s.data = nil
	case n < 0:
		panic(Errorf("StorageImpl %d: released more often than retained", s.id))
	}
}

// grow makes room for n bytes; the object stays, its bytes move.
//
// Source: aten/src/ATen/native/Resize.cpp, resize_bytes_cpu.
func (s *StorageImpl) grow(n int64) {
	if n <= s.nbytes {
		return
	}
	if s.data != nil {
		data := make([]byte, n)
		copy(data, s.data)
		s.data = data
	}
	s.nbytes = n
}
