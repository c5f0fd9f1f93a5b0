package asserts

import (
	"hash/maphash"
	"math"
	"reflect"
	"slices"
	"strconv"
	"unsafe"

	"github.com/opassert/opassert/internal/tensor"
)

// PointerID identifies the object that p points to, as the TensorImpl of a library whose tensors are pointers. The ID
// of nil is 0, and so is that of an object of size zero, as the array of an empty slice: Go has one address for all of
// them. It is valid as long as the object is reachable, and a kernel's caller references its arguments and results.
func PointerID[T any](p *T) ID {
	if at := uintptr(unsafe.Pointer(p)); at != withoutBytes {
		return ID(at)
	}
	return 0
}

// withoutBytes is the address of all objects of size zero.
var withoutBytes = reflect.New(reflect.TypeFor[struct{}]()).Pointer()

// SliceID identifies the array behind a slice, as the StorageImpl of a library whose tensors are slices. The beginning
// of an array cannot be found, but slicing preserves its end: s[i:j] has the ID of s, whatever i and j are. A slice
// with another capacity, s[i:j:k], has another ID although it shares the array; a library that makes such slices stores
// a serial number from [NewID] with them instead. A slice without capacity has no array and no ID.
//
// If a write may move the elements to a new array, as in math/big and with append, the storage is the object that
// refers to the array, and its ID is to be used. If the array's length depends on values and is not a size, as for the
// words of a number, the [Snapshot] has no sizes and the ItemSize [Packed].
func SliceID[T any](s []T) ID {
	var zero T
	if cap(s) == 0 || unsafe.Sizeof(zero) == 0 {
		return 0
	}
	return ID(uintptr(unsafe.Pointer(&s[:cap(s)][cap(s)-1])))
}

// SliceContent returns the [Content] of a tensor over elements without pointers. It covers storage[:len(storage)]: pass
// the whole array if possible, so that writes beside a view are found. Sizes, strides and offset are the tensor's, in
// elements; they are copied. A library that stores elements as another type sets DType in the result, and storage[i] is
// still element i; in a storage of bytes, the elements have the size of DType. A library with several elements in
// storage[i], such as a bitset, sets DType, and ItemSize to [Packed]. If storage is a copy, since the library does not
// expose its array, set Memory to 0.
//
// The content level reads every element, before the call and after it: no other goroutine may write them meanwhile.
func SliceContent[T Element](storage []T, sizes, strides []int64, offset int64) *Snapshot {
	return fill(newSnapshot(), &storage, len(storage), sizes, strides, offset)
}

// ReadSlice sets the Content of an observation, within [Observation.Look], as [SliceContent]
// returns it, and is faster: the Snapshot belongs to the call, and another call reuses it.
func ReadSlice[T Element](o *Observation, storage []T, sizes, strides []int64, offset int64) {
	o.read(&storage, len(storage), sizes, strides, offset)
}

func (o *Observation) read(storage array, n int, sizes, strides []int64, offset int64) {
	o.Content = fill(o.pending().snapshot(), storage, n, sizes, strides, offset)
}

// An array is a pointer to a slice whose elements have no static type. Of a function with type parameters the compiler
// forgets in other packages that it does not keep its arguments, and would move the record of each call to the heap. So
// those of this file are small enough to be inlined, and call functions without.
type array any

// header returns the slice, with the length and capacity in elements.
func header(a array) *[]byte { return (*[2]*[]byte)(unsafe.Pointer(&a))[1] }

// A smallSnapshot is a Snapshot with its slices in one allocation, if they are small.
type smallSnapshot struct {
	Snapshot
	sizes, strides [4]int64
	few            [128]byte
	copied         []byte // as large as the largest storage so far
}

func newSnapshot() *smallSnapshot {
	s := new(smallSnapshot)
	s.copied = s.few[:0]
	return s
}

// fill sets a Snapshot from the first n elements of a storage.
func fill(made *smallSnapshot, storage array, n int, sizes, strides []int64, offset int64) *Snapshot {
	elem := reflect.TypeOf(storage).Elem().Elem()
	raw := unsafe.Slice(unsafe.SliceData(*header(storage)), n*int(elem.Size()))
	made.Snapshot = Snapshot{
		DType: dtypeOf(elem), Device: tensor.CPU,
		Sizes: append(made.sizes[:0], sizes...), Strides: append(made.strides[:0], strides...), Offset: offset,
		Nbytes: int64(len(raw)), Digest: maphash.Bytes(sliceSeed, raw), Bytes: made.copy(raw),
		Memory: uintptr(unsafe.Pointer(unsafe.SliceData(raw))),
	}
	if size := int64(elem.Size()); size > 1 {
		made.ItemSize = size
	}
	return &made.Snapshot
}

func (s *smallSnapshot) copy(raw []byte) []byte {
	if len(raw) > SnapshotLimit {
		return nil
	}
	s.copied = append(s.copied[:0], raw...)
	return s.copied
}

// ObserveSlice fills in the observation of a tensor t of these sizes, whose elements are in
// row-major order in data, for a library that counts neither references nor versions. A nil t is an
// undefined tensor. The content level reads to the capacity, where append writes.
func ObserveSlice[T any, E Element](o *Observation, level Level, t *T, data []E, sizes ...int64) {
	o.slice(level, unsafe.Pointer(t), &data, unsafe.Sizeof(data[0]), sizes) // to be inlined: see array
}

func (o *Observation) slice(level Level, t unsafe.Pointer, data array, size uintptr, sizes []int64) {
	if t == nil {
		return
	}
	o.Impl = PointerID((*byte)(t))
	if s := header(data); cap(*s) > 0 {
		bytes := uintptr(cap(*s)) * size
		o.Storage = ID(uintptr(unsafe.Pointer(unsafe.SliceData(*s))) + bytes - size)
		o.Version = uint32(min(bytes, math.MaxUint32))
	}
	o.ImplUses, o.StorageUses, o.Traits = NotCounted, NotCounted, NoVersion
	if level >= Content {
		o.sliceContents(data, sizes)
	}
}

//go:noinline
func (o *Observation) sliceContents(data array, sizes []int64) {
	o.Version = 0
	o.Look(func() {
		o.read(data, cap(*header(data)), sizes, sizes, 0)
		stride := int64(1)
		for d, n := range slices.Backward(o.Content.Sizes) {
			o.Content.Strides[d] = stride
			stride *= max(n, 1)
		}
	})
}

// An Element is a type of elements of a slice-backed tensor.
type Element interface {
	~bool | ~int8 | ~int16 | ~int32 | ~int64 | ~int | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uint |
		~float32 | ~float64 | ~complex64 | ~complex128
}

// DTypeOf names a Go type as PyTorch does: "float64".
func DTypeOf[T Element]() string { return dtypeOf(reflect.TypeFor[T]()) }

func dtypeOf(elem reflect.Type) string {
	switch kind := elem.Kind(); kind {
	case reflect.Int, reflect.Uint:
		return kind.String() + strconv.Itoa(strconv.IntSize)
	default:
		return kind.String()
	}
}

// sliceSeed makes digests comparable within one process.
var sliceSeed = maphash.MakeSeed()
