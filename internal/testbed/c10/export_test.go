package c10

import "github.com/opassert/opassert/asserts"

// ID names the TensorImpl.
func (t *Tensor) ID() asserts.ID { return t.get().id }

// UseCount is the number of references to the TensorImpl, this one included.
func (t *Tensor) UseCount() int32 { return t.get().uses.Load() }

// A Storage is a handle that owns one reference to a StorageImpl.
//
// Source: c10/core/Storage.h.
type Storage struct{ impl *StorageImpl }

func (s *Storage) get() *StorageImpl {
	if s == nil || s.impl == nil {
		panic(Errorf("use of a released Storage"))
	}
	return s.impl
}

// Release drops the handle's reference.
func (s *Storage) Release() {
	impl := s.get()
	s.impl = nil
	impl.release()
}

// Storage returns a handle on the tensor's StorageImpl. Sparse tensors have none.
func (t *Tensor) Storage() *Storage {
	s := t.get().storage
	Check(s != nil, "a %v tensor has no storage", t.Layout())
	return &Storage{s.retain()}
}

// ID names the StorageImpl.
func (s *Storage) ID() asserts.ID { return s.get().id }

// UseCount is the number of references to the StorageImpl, this one included.
func (s *Storage) UseCount() int32 { return s.get().uses.Load() }

// Wrap makes a wrapper subclass that holds a reference to a plain tensor. The wrapper
// has its own storage, without bytes; kind says whether its views share that storage.
//
// Source: torch/csrc/autograd/python_variable.cpp, THPVariable_make_wrapper_subclass.
func Wrap(inner *Tensor, kind TensorKind) *Tensor {
	x := inner.get()
	Check(kind.wraps(), "a %v cannot wrap", kind)
	Check(x.kind == Plain && x.layout == Strided, "only a plain, strided tensor can be wrapped")
	o := inner.Options()
	o.Kind = kind
	impl := newImpl(o, x.sizes)
	impl.strides, impl.offset = x.strides, x.offset
	impl.inner = inner.Retain()
	impl.storage = newStorage(nil, x.storage.nbytes)
	return &Tensor{impl}
}

// Inner returns the tensor that a wrapper subclass holds, nil for other tensors. The
// wrapper still owns it.
func (t *Tensor) Inner() *Tensor { return t.get().inner }
