package libtorch

import "github.com/opassert/opassert/internal/tensor"

// A DType is a c10::ScalarType, by its number.
type DType tensor.DType

const (
	Uint8      = DType(tensor.Uint8)
	Int8       = DType(tensor.Int8)
	Int16      = DType(tensor.Int16)
	Int32      = DType(tensor.Int32)
	Int64      = DType(tensor.Int64)
	Float16    = DType(tensor.Float16)
	Float32    = DType(tensor.Float32)
	Float64    = DType(tensor.Float64)
	Complex64  = DType(tensor.Complex64)
	Complex128 = DType(tensor.Complex128)
	BoolType   = DType(tensor.Bool)
	QInt8      = DType(tensor.QInt8)
	QUInt8     = DType(tensor.QUInt8)
	QInt32     = DType(tensor.QInt32)
	BFloat16   = DType(tensor.BFloat16)
	Uint16     = DType(tensor.Uint16)
	Uint32     = DType(tensor.Uint32)
	Uint64     = DType(tensor.Uint64)
)

// String returns the name that Python uses: "float32".
func (d DType) String() string { return tensor.DType(d).String() }

// ParseDType parses the text that String returns.
func ParseDType(name string) (DType, bool) {
	d, ok := tensor.ParseDType(name)
	return DType(d), ok
}

// size returns the size of an element in bytes, 0 if it is unknown or elements share a byte.
func (d DType) size() int { return tensor.DType(d).Size() }

// Value returns the dtype as an argument.
func (d DType) Value() Value { return Int(int64(d)) }

func (d DType) class() tensor.DTypeClass { return tensor.DType(d).Class() }

func (d DType) fraction() bool { return d.class() == tensor.Floating || d.class() == tensor.Complex }
