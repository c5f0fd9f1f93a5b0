package maker

import (
	"errors"
	"fmt"
	"slices"
	"unsafe"

	"github.com/opassert/opassert/asserts"
)

// A Spec describes a tensor to make.
type Spec struct {
	DType   string // PyTorch's name: "float32"
	Sizes   []int64
	Strides []int64 // in elements
	Offset  int64   // in elements
	Data    []byte  // the whole storage, in native byte order
}

// Dim returns the number of dimensions.
func (s Spec) Dim() int { return len(s.Sizes) }

// Len returns the number of elements.
func (s Spec) Len() int {
	n := 1
	for _, size := range s.Sizes {
		n *= int(size)
	}
	return n
}

// Contiguous reports whether the elements are in row-major order and fill the storage.
func (s Spec) Contiguous() bool { return s.Offset == 0 && s.rowMajor() }

// rowMajor reports whether the elements are in row-major order, without gaps.
func (s Spec) rowMajor() bool {
	stride := int64(1)
	for i, size := range slices.Backward(s.Sizes) {
		if size != 1 && s.Strides[i] != stride && s.Len() > 0 {
			return false
		}
		stride *= size
	}
	return true
}

// Storage returns the elements of the storage, for a library with strides. It fails if E is not the tensor's dtype.
func Storage[E asserts.Element](s Spec) ([]E, error) {
	var zero E
	if have := asserts.DTypeOf[E](); have != s.DType {
		return nil, Unsupported("dtype %s", s.DType)
	}
	out := make([]E, len(s.Data)/int(unsafe.Sizeof(zero)))
	copy(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(out))), len(out)*int(unsafe.Sizeof(zero))), s.Data)
	return out, nil
}

// Elements returns the tensor's elements in row-major order, for a library without strides: a slice
// of the storage, which like data[1:3] may have other elements before and after it. It fails if E
// is not the tensor's dtype, if dims are given and do not contain the number of dimensions, and for
// a tensor whose elements are not in row-major order: a copy would be another case.
func Elements[E asserts.Element](s Spec, dims ...int) ([]E, error) {
	if len(dims) > 0 && !slices.Contains(dims, s.Dim()) {
		return nil, Unsupported("tensors of %d dimensions", s.Dim())
	}
	if !s.rowMajor() {
		return nil, Unsupported("strides")
	}
	all, err := Storage[E](s)
	if err != nil {
		return nil, err
	}
	return all[s.Offset:][:s.Len()], nil
}

// Rows returns the elements of a matrix, row by row, and the distance in elements from one row to the next, longer in a
// part of a larger matrix. It fails if E is not the tensor's dtype, or the elements are in another order.
func Rows[E asserts.Element](s Spec) (data []E, stride int, err error) {
	if s.Dim() != 2 {
		return nil, 0, Unsupported("tensors of %d dimensions", s.Dim())
	}
	rows, cols := s.Sizes[0], s.Sizes[1]
	padded := rows > 1 && s.Strides[0] > cols
	if s.Len() > 0 && !s.rowMajor() && !(padded && (cols == 1 || s.Strides[1] == 1)) {
		return nil, 0, Unsupported("strides")
	}
	all, err := Storage[E](s)
	if err != nil || s.Len() == 0 {
		return nil, int(cols), err
	}
	stride = int(cols)
	if padded {
		stride = int(s.Strides[0])
	}
	return all[s.Offset:][:(int(rows)-1)*stride+int(cols)], stride, nil
}

// ErrUnsupported is the error that Unsupported wraps.
var ErrUnsupported = errors.New("not supported")

// Unsupported returns an error for a tensor that the library does not have, by the missing feature:
// "strides", "dtype float16". Any other error that wraps ErrUnsupported has the same effect.
func Unsupported(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrUnsupported}, args...)...)
}
