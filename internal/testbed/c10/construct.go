package c10

import "slices"

// Empty makes a contiguous tensor; its bytes are zero.
//
// Source: aten/src/ATen/EmptyTensor.cpp, empty_cpu and empty_meta.
func Empty(sizes []int64, o TensorOptions) *Tensor {
	return EmptyStrided(sizes, ContiguousStrides(sizes), o)
}

// EmptyStrided makes a tensor with the given strides, in elements.
func EmptyStrided(sizes, strides []int64, o TensorOptions) *Tensor {
	checkSizes(sizes, strides)
	impl := newImpl(o, slices.Clone(sizes))
	impl.strides = slices.Clone(strides)
	nbytes := span(sizes, strides) * o.DType.Size()
	var data []byte
	if o.Kind.wraps() {
		plain := o
		plain.Kind = Plain
		impl.inner = EmptyStrided(sizes, strides, plain)
	} else if o.Device != Meta {
		data = make([]byte, nbytes)
	}
	impl.storage = newStorage(data, nbytes)
	return &Tensor{impl}
}

// Full makes a contiguous tensor of one value.
func Full(sizes []int64, value float64, o TensorOptions) *Tensor {
	t := Empty(sizes, o)
	t.Fill(value)
	return t
}

// FromFloats makes a contiguous tensor of the values, converted to o.DType.
func FromFloats(values []float64, sizes []int64, o TensorOptions) *Tensor {
	Check(int64(len(values)) == Numel(sizes), "%d values for a tensor of %d", len(values), Numel(sizes))
	t := Empty(sizes, o)
	for i, v := range values {
		t.SetFloat(int64(i), v)
	}
	return t
}

// FromInts makes a contiguous tensor of type int64.
func FromInts(values []int64, sizes []int64, o TensorOptions) *Tensor {
	Check(int64(len(values)) == Numel(sizes), "%d values for a tensor of %d", len(values), Numel(sizes))
	t := Empty(sizes, o.With(Int64))
	for i, v := range values {
		t.SetInt(int64(i), v)
	}
	return t
}

// FromBytes makes a contiguous CPU tensor that takes over the caller's memory.
//
// Source: aten/src/ATen/ops/from_blob.h.
func FromBytes(data []byte, sizes []int64, d DType) *Tensor {
	need := Numel(sizes) * d.Size()
	Check(data != nil && int64(len(data)) >= need, "%d bytes for a tensor of %d", len(data), need)
	impl := newImpl(TensorOptions{DType: d}, slices.Clone(sizes))
	impl.strides = ContiguousStrides(sizes)
	impl.storage = newStorage(data, int64(len(data)))
	return &Tensor{impl}
}

// span is the number of elements from the first to the last, both included.
//
// Source: c10/core or ATen/detail, computeStorageNbytes.
func span(sizes, strides []int64) int64 {
	last := int64(0)
	for d, n := range sizes {
		if n == 0 {
			return 0
		}
		last += (n - 1) * strides[d]
	}
	return last + 1
}

func checkSizes(sizes, strides []int64) {
	Check(len(sizes) == len(strides), "%d sizes with %d strides", len(sizes), len(strides))
	for d := range sizes {
		Check(sizes[d] >= 0, "negative size in %v", sizes)
		Check(strides[d] >= 0, "negative stride in %v", strides)
	}
}

// OnMeta returns a tensor on meta with the sizes, strides and offset of this one.
func (t *Tensor) OnMeta() *Tensor {
	o := t.Options()
	o.Device = Meta
	storage := t.get().storage
	Check(storage != nil, "a %v tensor has no storage", t.Layout())
	room := Empty([]int64{storage.nbytes / t.DType().Size()}, o)
	defer room.Release()
	return room.AsStrided(t.Sizes(), t.Strides(), t.Offset())
}
