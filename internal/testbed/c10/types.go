package c10

import (
	"fmt"

	"github.com/opassert/opassert/internal/tensor"
)

// A DType is the type of an element. In the order of promotion: an operation on two types returns the later one.
//
// Source: c10/core/ScalarType.h. Promotion is simpler than PyTorch's: a 0-dim tensor counts as any other.
type DType uint8

const (
	Bool DType = iota
	Uint8
	Int32
	Int64
	Float32
	Float64
	Complex64
)

var dtypes = [...]tensor.DType{tensor.Bool, tensor.Uint8, tensor.Int32, tensor.Int64, tensor.Float32, tensor.Float64,
	tensor.Complex64}

func (d DType) String() string { return dtypes[d].String() }

// Size is the size of an element in bytes.
func (d DType) Size() int64 { return int64(dtypes[d].Size()) }

// IsFloat reports whether the type is real and floating.
func (d DType) IsFloat() bool { return d == Float32 || d == Float64 }

// A Device holds the bytes of a tensor; meta holds none.
type Device uint8

const (
	CPU Device = iota
	Meta
)

var devices = [...]string{CPU: tensor.CPU, Meta: tensor.Meta}

func (d Device) String() string { return devices[d] }

// A Layout describes how the elements of a tensor are stored.
//
// Source: c10/core/Layout.h.
type Layout uint8

const (
	Strided   Layout = tensor.LayoutStrided
	SparseCOO Layout = tensor.LayoutSparse
	SparseCSR Layout = tensor.LayoutSparseCsr
)

func (l Layout) String() string { return tensor.Layouts[l] }

// A MemoryFormat asks for an order of strides; the engine has one order.
//
// Source: c10/core/MemoryFormat.h.
type MemoryFormat uint8

const (
	Contiguous MemoryFormat = tensor.ContiguousFormat
	Preserve   MemoryFormat = tensor.PreserveFormat
)

// A TensorKind is the class of tensor of a TensorImpl. A result has the latest kind of its inputs.
type TensorKind uint8

const (
	Plain            TensorKind = iota
	DirectSubclass              // a subclass whose instances are plain tensors
	Functional                  // a FunctionalTensorWrapper: its storage tracks views
	WrapperSubclass             // holds a tensor; its own storage is a stand-in, one for each tensor
	ReportingWrapper            // a wrapper subclass whose views share its stand-in storage
)

var kinds = [...]string{
	Plain:            "plain",
	DirectSubclass:   "direct subclass",
	Functional:       "functional wrapper",
	WrapperSubclass:  "wrapper subclass",
	ReportingWrapper: "reporting wrapper subclass",
}

func (k TensorKind) String() string { return kinds[k] }

func (k TensorKind) wraps() bool { return k == WrapperSubclass || k == ReportingWrapper }

// TensorOptions describe a tensor to make. The zero value is not the default of PyTorch: it asks for Bool.
//
// Source: c10/core/TensorOptions.h.
type TensorOptions struct {
	DType     DType
	Device    Device
	Kind      TensorKind
	Inference bool // no version counter
}

// With returns the options with another element type.
func (o TensorOptions) With(d DType) TensorOptions {
	o.DType = d
	return o
}

// Common returns the options of a result computed from tensors: the element type and the kind that all of them promote
// to. It panics if devices differ.
func Common(ts ...*Tensor) TensorOptions {
	common := TensorOptions{Device: ts[0].Options().Device}
	for _, t := range ts {
		o := t.Options()
		Check(o.Device == common.Device, "tensors on %v and on %v in one call", common.Device, o.Device)
		common.DType = max(common.DType, o.DType)
		common.Kind = max(common.Kind, o.Kind)
	}
	return common
}

// An Error is the panic value of a kernel that rejects its arguments.
//
// Source: c10/util/Exception.h, c10::Error.
type Error struct{ Msg string }

func (e *Error) Error() string { return e.Msg }

// Check panics with an [Error] unless ok.
//
// Source: c10/util/Exception.h, TORCH_CHECK.
func Check(ok bool, format string, args ...any) {
	if !ok {
		panic(Errorf(format, args...))
	}
}

// Errorf makes an [Error], for kernels that return one.
func Errorf(format string, args ...any) *Error { return &Error{fmt.Sprintf(format, args...)} }
