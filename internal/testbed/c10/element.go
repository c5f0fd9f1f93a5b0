package c10

import (
	"encoding/binary"

	"github.com/opassert/opassert/internal/tensor"
)

// Elements are numbered in the order of the sizes, the last dimension running fastest, whatever the strides. A meta
// tensor has no bytes: its elements read as zero and writes to it are dropped, so a kernel whose control flow does not
// depend on values is also its meta kernel.

func (t *Tensor) element(i int64) []byte {
	x := t.get()
	for x.inner != nil {
		x = x.inner.get()
	}
	Check(x.layout == Strided, "elements of a %v tensor", x.layout)
	Check(0 <= i && i < Numel(x.sizes), "element %d of a tensor of sizes %v", i, x.sizes)
	if x.device == Meta {
		return nil
	}
	at := tensor.Position(i, x.sizes, x.strides, x.offset) * x.dtype.Size()
	return x.storage.data[at : at+x.dtype.Size()]
}

// SetBytes copies bytes to the start of the storage that holds the elements.
func (t *Tensor) SetBytes(data []byte) {
	x := t.get()
	for x.inner != nil {
		x = x.inner.get()
	}
	Check(x.layout == Strided && len(data) <= len(x.storage.data), "%d bytes for a storage of %d", len(data),
		len(x.storage.data))
	copy(x.storage.data, data)
}

// Float reads an element as float64.
func (t *Tensor) Float(i int64) float64 {
	b := t.element(i)
	if b == nil {
		return 0
	}
	if t.impl.dtype == Complex64 {
		panic(Errorf("a complex element as a real number"))
	}
	return dtypes[t.impl.dtype].Get(b)
}

// SetFloat writes an element, converted to the tensor's type.
func (t *Tensor) SetFloat(i int64, v float64) {
	if b := t.element(i); b != nil {
		dtypes[t.impl.dtype].Put(b, v, 0)
	}
}

// Int reads an element as int64; fractions are truncated.
func (t *Tensor) Int(i int64) int64 {
	if b := t.element(i); b != nil && t.DType() == Int64 {
		return int64(binary.LittleEndian.Uint64(b))
	}
	return int64(t.Float(i))
}

// SetInt writes an element, converted to the tensor's type.
func (t *Tensor) SetInt(i, v int64) {
	if b := t.element(i); b != nil && t.DType() == Int64 { // as a float64 it may lose bits
		binary.LittleEndian.PutUint64(b, uint64(v))
		return
	}
	t.SetFloat(i, float64(v))
}

// Fill writes one value to all elements.
func (t *Tensor) Fill(v float64) {
	for i := range t.Numel() {
		t.SetFloat(i, v)
	}
}

// CopyElement writes element j of src to element i, bit for bit where the types are the same.
func (t *Tensor) CopyElement(i int64, src *Tensor, j int64) {
	switch from := src.element(j); {
	case t.DType() == src.DType():
		copy(t.element(i), from)
	case src.DType() < Float32:
		t.SetInt(i, src.Int(j))
	default:
		t.SetFloat(i, src.Float(j))
	}
}

// Bytes returns the bytes of the whole storage, nil on meta. It is for tests, not for kernels.
func (t *Tensor) Bytes() []byte {
	x := t.get()
	for x.inner != nil {
		x = x.inner.get()
	}
	Check(x.storage != nil, "a %v tensor has no storage", x.layout)
	return x.storage.data
}
