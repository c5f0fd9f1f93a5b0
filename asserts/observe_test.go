package asserts_test

import (
	"hash/fnv"
	"slices"
	"unsafe"

	"github.com/opassert/opassert/asserts"
)

// tensor is a minimal tensor type: a handle on a TensorImpl on a StorageImpl. Tests set the counts.
type tensor struct{ impl *impl }

type impl struct {
	id      asserts.ID
	uses    int32
	version uint32
	traits  asserts.Traits
	storage *storage
	sizes   []int64
	strides []int64
	offset  int64
	inner   *tensor // the tensor that it wraps; nil if it has a storage
}

type storage struct {
	id    asserts.ID
	uses  int32
	bytes []byte
}

// newTensor returns a vector of n bytes with one reference.
func newTensor(n int) *tensor {
	return &tensor{&impl{
		id:      asserts.NewID(),
		uses:    1,
		storage: &storage{id: asserts.NewID(), uses: 1, bytes: make([]byte, n)},
		sizes:   []int64{int64(n)},
		strides: []int64{1},
	}}
}

// view makes a tensor on the same storage.
func (t *tensor) view() *tensor {
	t.impl.storage.uses++
	v := *t.impl
	v.id, v.uses = asserts.NewID(), 1
	return &tensor{&v}
}

// holder makes a tensor that wraps another one.
func holder(inner *tensor) *tensor {
	return &tensor{&impl{id: asserts.NewID(), uses: 1, inner: inner}}
}

func (t *tensor) Observe(o *asserts.Observation, level asserts.Level) {
	if t == nil || t.impl == nil {
		return
	}
	i := t.impl
	o.Impl, o.ImplUses, o.Version, o.Traits = i.id, i.uses, i.version, i.traits
	if s := i.storage; s != nil {
		o.Storage, o.StorageUses = s.id, s.uses
		if level >= asserts.Content {
			o.Look(func() { o.Content = i.content() })
		}
	}
	if i.inner != nil && level >= asserts.Content {
		part := o.Inside("inner", i.inner, level)
		o.Look(func() { o.Content = &asserts.Snapshot{Parts: []asserts.Part{part}} })
	}
}

func (i *impl) content() *asserts.Snapshot {
	digest := fnv.New64a()
	digest.Write(i.storage.bytes)
	return &asserts.Snapshot{
		DType:   "uint8",
		Device:  "cpu",
		Sizes:   slices.Clone(i.sizes),
		Strides: slices.Clone(i.strides),
		Offset:  i.offset,
		Nbytes:  int64(len(i.storage.bytes)),
		Memory:  uintptr(unsafe.Pointer(unsafe.SliceData(i.storage.bytes))),
		Digest:  digest.Sum64(),
		Bytes:   slices.Clone(i.storage.bytes),
	}
}
