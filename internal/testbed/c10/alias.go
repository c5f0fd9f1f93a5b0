package c10

import "slices"

// AsStrided returns a view: a new TensorImpl on the same storage, with the version counter of its base. Offset is in
// elements from the start of the storage. The kernels of all strided views end here.
//
// Source: aten/src/ATen/native/TensorShape.cpp, as_strided_tensorimpl.
func (t *Tensor) AsStrided(sizes, strides []int64, offset int64) *Tensor {
	return t.AsStridedDType(t.DType(), sizes, strides, offset)
}

// AsStridedDType is AsStrided for a view that reads the bytes as another type, in which strides and offset count.
func (t *Tensor) AsStridedDType(d DType, sizes, strides []int64, offset int64) *Tensor {
	base := t.get()
	Check(base.layout == Strided, "as_strided of a %v tensor", base.layout)
	base.storage.checkCovers(d, sizes, strides, offset)
	impl := newImpl(TensorOptions{DType: d, Device: base.device, Kind: base.kind}, slices.Clone(sizes))
	impl.strides = slices.Clone(strides)
	impl.offset = offset
	impl.version = base.version
	if base.inner != nil {
		impl.inner = base.inner.AsStridedDType(d, sizes, strides, offset)
	}
	if base.kind == WrapperSubclass {
		impl.storage = newStorage(nil, base.storage.nbytes)
	} else {
		impl.storage = base.storage.retain()
	}
	return &Tensor{impl}
}

// Alias returns a view of the whole tensor, sparse ones included.
//
// Source: c10/core/TensorImpl.h, TensorImpl::shallow_copy_and_detach.
func (t *Tensor) Alias() *Tensor {
	base := t.get()
	if base.sparse == nil {
		return t.AsStrided(base.sizes, base.strides, base.offset)
	}
	impl := newImpl(t.Options(), base.sizes)
	impl.layout = base.layout
	impl.version = base.version
	impl.sparse = base.sparse.retain()
	return &Tensor{impl}
}

// SetSizesAndStrides changes how the tensor reads its storage.
//
// Source: c10/core/TensorImpl.h, TensorImpl::set_sizes_and_strides.
func (t *Tensor) SetSizesAndStrides(sizes, strides []int64, offset int64) {
	x := t.get()
	Check(x.layout == Strided, "cannot set the strides of a %v tensor", x.layout)
	x.storage.checkCovers(x.dtype, sizes, strides, offset)
	x.sizes, x.strides, x.offset = slices.Clone(sizes), slices.Clone(strides), offset
	if x.inner != nil {
		x.inner.SetSizesAndStrides(sizes, strides, offset)
	}
}

// SetSizesAndStridesUnchecked is SetSizesAndStrides without the check that the storage is large enough, as in libtorch.
func (t *Tensor) SetSizesAndStridesUnchecked(sizes, strides []int64, offset int64) {
	x := t.get()
	x.sizes, x.strides, x.offset = slices.Clone(sizes), slices.Clone(strides), offset
}

// Resize makes the tensor contiguous with new sizes, and its storage larger
// where that is needed. The storage stays the same object. Unchanged sizes change nothing.
//
// Source: aten/src/ATen/native/Resize.h, resize_impl_cpu_.
func (t *Tensor) Resize(sizes []int64) {
	x := t.get()
	Check(x.layout == Strided, "resize of a %v tensor", x.layout)
	if slices.Equal(x.sizes, sizes) {
		return
	}
	strides := ContiguousStrides(sizes)
	checkSizes(sizes, strides)
	x.storage.grow((x.offset + Numel(sizes)) * x.dtype.Size())
	x.sizes, x.strides = slices.Clone(sizes), strides
	if x.inner != nil {
		x.inner.Resize(sizes)
	}
}

// SetStorage sets storage, sizes, strides and offset to those of another tensor.
//
// Source: aten/src/ATen/native/TensorFactories.cpp, set_tensor_.
func (t *Tensor) SetStorage(source *Tensor) {
	x, from := t.get(), source.get()
	Check(x.dtype == from.dtype, "set_ of a %v tensor to %v storage", x.dtype, from.dtype)
	Check(x.layout == Strided && from.layout == Strided, "set_ takes strided tensors")
	Check(x.kind.wraps() == from.kind.wraps(), "set_ of a %v to a %v", x.kind, from.kind)
	old := x.storage
	x.storage = from.storage.retain()
	old.release()
	x.sizes, x.strides, x.offset = from.sizes, from.strides, from.offset
	if x.inner != nil {
		x.inner.SetStorage(from.inner)
	}
}

func (s *StorageImpl) checkCovers(d DType, sizes, strides []int64, offset int64) {
	checkSizes(sizes, strides)
	Check(offset >= 0, "negative storage offset %d", offset)
	need, room := span(sizes, strides), s.nbytes/d.Size() // in elements: a sum may overflow
	Check(Numel(sizes) == 0 || need <= room && offset <= room-need,
		"sizes %v, strides %v, offset %d reach beyond a storage of %d bytes", sizes, strides, offset, s.nbytes)
}
