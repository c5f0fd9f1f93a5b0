package c10

import (
	"sync/atomic"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/internal/tensor"
)

// TensorImpl is a tensor: a storage, sizes, strides and an offset.
//
// Sizes and strides are never changed in place, so that tensors can share them: new metadata are new ones.
//
// Source: c10/core/TensorImpl.h.
type TensorImpl struct {
	id      asserts.ID
	uses    atomic.Int32
	storage *StorageImpl   // nil for sparse layouts
	version *atomic.Uint32 // shared by the views of one base; nil for inference tensors
	kind    TensorKind
	dtype   DType
	device  Device
	layout  Layout
	sizes   []int64
	strides []int64 // in elements
	offset  int64   // in elements
	inner   *Tensor // of a wrapper subclass
	sparse  *sparse
}

// newImpl returns a TensorImpl with one reference, the caller's, and a version counter of its own.
func newImpl(o TensorOptions, sizes []int64) *TensorImpl {
	impl := &TensorImpl{id: asserts.NewID(), kind: o.Kind, dtype: o.DType, device: o.Device, sizes: sizes}
	impl.uses.Store(1)
	if !o.Inference {
		impl.version = new(atomic.Uint32)
	}
	return impl
}

func (x *TensorImpl) retain() *TensorImpl {
	x.uses.Add(1)
	return x
}

func (x *TensorImpl) release() {
	switch n := x.uses.Add(-1); {
	case n == 0:
		x.free()
	case n < 0:
		panic(Errorf("TensorImpl %d: released more often than retained", x.id))
	}
}

// free releases the references that the impl holds.
//
// Source: c10/core/TensorImpl.cpp, TensorImpl::release_resources.
func (x *TensorImpl) free() {
	if x.storage != nil {
		x.storage.release()
	}
	if x.inner != nil {
		x.inner.Release()
	}
	if x.sparse != nil {
		x.sparse.release()
	}
}

// A Tensor is a handle that owns one reference to a TensorImpl. A nil *Tensor is undefined.
//
// Source: aten/src/ATen/core/TensorBase.h.
type Tensor struct{ impl *TensorImpl }

func (t *Tensor) get() *TensorImpl {
	if t == nil {
		panic(Errorf("use of an undefined tensor"))
	}
	if t.impl == nil {
		panic(Errorf("use of a released tensor"))
	}
	return t.impl
}

// Retain returns a second handle on the same TensorImpl.
func (t *Tensor) Retain() *Tensor { return &Tensor{t.get().retain()} }

// Release drops the handle's reference; the handle must not be used afterwards. It does nothing to an undefined tensor.
func (t *Tensor) Release() {
	if t == nil {
		return
	}
	if t.impl == nil {
		panic(Errorf("tensor released twice"))
	}
	impl := t.impl
	t.impl = nil
	impl.release()
}

// Rebind makes the handle refer to another tensor, as assignment to an at::Tensor& does.
func (t *Tensor) Rebind(to *Tensor) {
	old := t.get()
	t.impl = to.get().retain()
	old.release()
}

// Is reports whether two handles refer to the same TensorImpl.
func (t *Tensor) Is(other *Tensor) bool { return t.get() == other.get() }

// SharesStorage reports whether two tensors have the same StorageImpl.
func (t *Tensor) SharesStorage(other *Tensor) bool {
	s := t.get().storage
	return s != nil && s == other.get().storage
}

// RetainStorage adds a reference to the tensor's StorageImpl, which stays.
func (t *Tensor) RetainStorage() { t.get().storage.retain() }

// Sizes returns the size of each dimension; not to be changed.
func (t *Tensor) Sizes() []int64 { return t.get().sizes }

// Strides returns the distance in elements along each dimension; not to be changed. Sparse tensors have none.
func (t *Tensor) Strides() []int64 {
	Check(t.Layout() == Strided, "a %v tensor has no strides", t.Layout())
	return t.get().strides
}

// Offset returns where in the storage the first element is, in elements.
func (t *Tensor) Offset() int64 { return t.get().offset }

// Dim is the number of dimensions.
func (t *Tensor) Dim() int64 { return int64(len(t.get().sizes)) }

// Size returns the size of a dimension; a negative one counts from the end.
func (t *Tensor) Size(dim int64) int64 { return t.get().sizes[WrapDim(dim, t.Dim())] }

// Numel is the number of elements.
func (t *Tensor) Numel() int64 { return Numel(t.get().sizes) }

func (t *Tensor) DType() DType   { return t.get().dtype }
func (t *Tensor) Layout() Layout { return t.get().layout }

// IsMeta reports whether the tensor has no bytes.
func (t *Tensor) IsMeta() bool { return t.get().device == Meta }

// Options returns the options for a tensor like this one. Inference is left out:
// results of inference tensors are inference tensors only in inference mode.
func (t *Tensor) Options() TensorOptions {
	x := t.get()
	return TensorOptions{DType: x.dtype, Device: x.device, Kind: x.kind}
}

// IsContiguous reports whether the elements are contiguous, in order.
func (t *Tensor) IsContiguous() bool {
	x := t.get()
	other := int64(1)
	for d := len(x.sizes) - 1; d >= 0; d-- {
		if x.sizes[d] != 1 && x.strides[d] != other {
			return Numel(x.sizes) == 0
		}
		other *= x.sizes[d]
	}
	return true
}

// Version is the number of writes to the tensor and to other views of its base; it panics for an inference tensor.
//
// Source: c10/core/TensorImpl.h, VariableVersion::current_version.
func (t *Tensor) Version() uint32 {
	v := t.get().version
	Check(v != nil, "an inference tensor does not track its version")
	return v.Load()
}

// MarkWritten counts one write to the tensor's bytes. Kernels call it once for each argument that they change.
//
// Source: c10/core/TensorImpl.h, TensorImpl::bump_version.
func (t *Tensor) MarkWritten() {
	x := t.get()
	if x.version != nil {
		x.version.Add(1)
	}
	if x.inner != nil {
		x.inner.MarkWritten()
	}
}

// Numel returns the number of elements of a tensor of these sizes.
func Numel(sizes []int64) int64 { return tensor.Numel(sizes) }

// ContiguousStrides returns the strides of a contiguous tensor of these sizes.
func ContiguousStrides(sizes []int64) []int64 { return tensor.ContiguousStrides(sizes) }

// WrapDim counts a dimension from the start that was counted from the end. A 0-dim tensor counts as of one dimension.
//
// Source: c10/core/WrapDimMinimal.h, maybe_wrap_dim.
func WrapDim(dim, dims int64) int64 {
	n := max(dims, 1)
	Check(-n <= dim && dim < n, "dimension %d is outside [%d, %d]", dim, -n, n-1)
	if dim < 0 {
		dim += n
	}
	return dim
}
