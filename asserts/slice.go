package asserts

import (
	"hash/maphash"
	"reflect"
	"slices"
	"strconv"
	"unsafe"

	"github.com/opassert/opassert/internal/tensor"
)

// PointerID names the object that p leads to, as the TensorImpl of a library
// whose tensors are pointers. The ID of nil is 0, and so is that of an object without
// bytes, such as the array of an empty slice: Go has one address for all of them. The
// ID is valid as long as the object is reachable, and the caller of a kernel references
// its arguments and its results.
func PointerID[T any](p *T) ID {
	if at := uintptr(unsafe.Pointer(p)); at != withoutBytes {
		return ID(at)
	}
	return 0
}

// withoutBytes is the address of all objects without bytes.
var withoutBytes = reflect.New(reflect.TypeFor[struct{}]()).Pointer()

// SliceID names the array behind a slice, as the StorageImpl of a library whose
// tensors are slices. Go does not say where an array begins, but slices of
// slices keep its end: s[i:j] has the ID of s, whatever i and j are. A slice
// that was given a capacity of its own, s[i:j:k], has another ID although it
// shares the array; a library that makes such slices keeps a serial number from
// [NewID] beside them instead. A slice without capacity has no array and no ID.
// Where a write may put a result into a new array, as those of math/big and of
// append do, the array is not the storage: the ID is that of the object that holds it.
// Where its length depends on the value and is not a shape, as that of a number's words, the
// [Snapshot] has no sizes, and the ItemSize [Packed].
func SliceID[T any](s []T) ID {
	var zero T
	if cap(s) == 0 || unsafe.Sizeof(zero) == 0 {
		return 0
	}
	return ID(uintptr(unsafe.Pointer(&s[:cap(s)][cap(s)-1])))
}

// SliceContent is the [Content] of a tensor over elements without pointers. It
// is about storage[:len(storage)]: pass the whole array where the library has
// it, so that a write beside a view is seen too. Sizes, strides and offset are
// the tensor's own, in elements; they are copied. A library that keeps elements in
// another type than their own sets DType, and storage[i] is element i still; of a
// storage of bytes, the elements are as large as DType says. One that keeps several
// elements in storage[i], as a bitset does, sets DType, and ItemSize to [Packed].
// Where storage is a copy, made since the library does not let its array be seen,
// Memory is set to 0: it is where the copy is.
//
// The content level reads every element, before the call and after it: no other
// goroutine may write them meanwhile.
func SliceContent[T Element](storage []T, sizes, strides []int64, offset int64) *Snapshot {
	return fill(newSnapshot(), storage, sizes, strides, offset)
}

// ReadSlice sets the Content of an observation, within [Observation.Look], as [SliceContent]
// returns it, and is faster: the Snapshot belongs to the call, and is another one's when
// it is over.
func ReadSlice[T Element](o *Observation, storage []T, sizes, strides []int64, offset int64) {
	o.Content = fill(o.pending().snapshot(), storage, sizes, strides, offset)
}

// A smallSnapshot is a Snapshot with its slices, where these are small: one allocation
// and not four.
type smallSnapshot struct {
	Snapshot
	sizes, strides [4]int64
	few            [128]byte
	copied         []byte // in few, or as large as the largest storage needed
}

func newSnapshot() *smallSnapshot {
	s := new(smallSnapshot)
	s.copied = s.few[:0]
	return s
}

func fill[T Element](made *smallSnapshot, storage []T, sizes, strides []int64, offset int64) *Snapshot {
	var zero T
	raw := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(storage))), len(storage)*int(unsafe.Sizeof(zero)))
	made.Snapshot = Snapshot{
		DType: DTypeOf[T](), Device: tensor.CPU,
		Sizes: append(made.sizes[:0], sizes...), Strides: append(made.strides[:0], strides...), Offset: offset,
		Nbytes: int64(len(raw)), Digest: maphash.Bytes(sliceSeed, raw), Bytes: made.copy(raw),
		Memory: uintptr(unsafe.Pointer(unsafe.SliceData(raw))),
	}
	if size := int64(unsafe.Sizeof(zero)); size > 1 {
		made.ItemSize = size
	}
	return &made.Snapshot
}

// copy returns the bytes of a storage that a Snapshot keeps.
func (s *smallSnapshot) copy(raw []byte) []byte {
	if len(raw) > SnapshotLimit {
		return nil
	}
	s.copied = append(s.copied[:0], raw...)
	return s.copied
}

// ObserveSlice fills in the observation of a tensor t of these sizes, whose
// elements lie in row-major order in data, for a library that counts neither
// references nor versions. A nil t is an undefined tensor.
func ObserveSlice[T any, E Element](o *Observation, level Level, t *T, data []E, sizes ...int64) {
	if t == nil {
		return
	}
	o.Impl, o.Storage = PointerID(t), SliceID(data)
	o.ImplUses, o.StorageUses, o.Traits = NotCounted, NotCounted, NoVersion
	if level < Content {
		return
	}
	o.Look(func() {
		ReadSlice(o, data, sizes, sizes, 0)
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
func DTypeOf[T Element]() string {
	switch kind := reflect.TypeFor[T]().Kind(); kind {
	case reflect.Int, reflect.Uint:
		return kind.String() + strconv.Itoa(strconv.IntSize)
	default:
		return kind.String()
	}
}

// sliceSeed makes digests comparable within one process.
var sliceSeed = maphash.MakeSeed()
