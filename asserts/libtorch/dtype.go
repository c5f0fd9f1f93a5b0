package libtorch

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

// A DType is a c10::ScalarType, by its number.
//
// Source: c10/core/ScalarType.h.
type DType int8

const (
	Uint8      DType = 0
	Int8       DType = 1
	Int16      DType = 2
	Int32      DType = 3
	Int64      DType = 4
	Float16    DType = 5
	Float32    DType = 6
	Float64    DType = 7
	Complex64  DType = 9
	Complex128 DType = 10
	BoolType   DType = 11
	QInt8      DType = 12
	QUInt8     DType = 13
	QInt32     DType = 14
	BFloat16   DType = 15
	Uint16     DType = 27
	Uint32     DType = 28
	Uint64     DType = 29
)

var dtypes = [...]struct {
	name string
	size int // of an element, in bytes
}{
	{"uint8", 1}, {"int8", 1}, {"int16", 2}, {"int32", 4}, {"int64", 8},
	{"float16", 2}, {"float32", 4}, {"float64", 8},
	{"complex32", 4}, {"complex64", 8}, {"complex128", 16}, {"bool", 1},
	{"qint8", 1}, {"quint8", 1}, {"qint32", 4}, {"bfloat16", 2},
	{"quint4x2", 1}, {"quint2x4", 1}, {"bits1x8", 1}, {"bits2x4", 1}, {"bits4x2", 1}, {"bits8", 1}, {"bits16", 2},
	{"float8_e5m2", 1}, {"float8_e4m3fn", 1}, {"float8_e5m2fnuz", 1}, {"float8_e4m3fnuz", 1},
	{"uint16", 2}, {"uint32", 4}, {"uint64", 8},
}

// String returns the name that Python uses: "float32".
func (d DType) String() string {
	if d < 0 || int(d) >= len(dtypes) {
		return fmt.Sprintf("dtype%d", int8(d))
	}
	return dtypes[d].name
}

// ParseDType reads what String returns.
func ParseDType(name string) (DType, bool) {
	for i, d := range dtypes {
		if d.name == name {
			return DType(i), true
		}
	}
	return 0, false
}

// Size returns the size of an element in bytes, 0 for a dtype without a name here.
func (d DType) Size() int {
	if d < 0 || int(d) >= len(dtypes) {
		return 0
	}
	return dtypes[d].size
}

// Value returns the dtype as an argument.
func (d DType) Value() Value { return Int(int64(d)) }

// Quantized reports whether elements stand for others by a scale.
func (d DType) Quantized() bool { return d >= QInt8 && d <= QInt32 }

// Complex reports whether elements are complex.
func (d DType) Complex() bool { return d >= 8 && d <= Complex128 }

// Floating reports whether elements are real numbers with a fraction.
func (d DType) Floating() bool {
	return slices.Contains([]DType{Float16, Float32, Float64, BFloat16}, d)
}

// append adds an element as it lies in memory. A complex one gets v in both
// of its halves.
func (d DType) append(b []byte, v float64) []byte {
	e := binary.NativeEndian
	switch d {
	case Uint8:
		return append(b, uint8(int64(v)))
	case Int8:
		return append(b, uint8(int64(v)))
	case Int16:
		return e.AppendUint16(b, uint16(int64(v)))
	case Int32:
		return e.AppendUint32(b, uint32(int64(v)))
	case Int64:
		return e.AppendUint64(b, uint64(int64(v)))
	case Float16:
		return e.AppendUint16(b, float16(v))
	case BFloat16:
		return e.AppendUint16(b, bfloat16(v))
	case Float32:
		return e.AppendUint32(b, math.Float32bits(float32(v)))
	case Float64:
		return e.AppendUint64(b, math.Float64bits(v))
	case Complex64:
		return Float32.append(Float32.append(b, v), v)
	case Complex128:
		return Float64.append(Float64.append(b, v), v)
	case BoolType:
		if v != 0 {
			return append(b, 1)
		}
		return append(b, 0)
	}
	return append(b, make([]byte, d.Size())...)
}

// element reads what append wrote; of a complex one, the real part.
func (d DType) element(b []byte) float64 {
	e := binary.NativeEndian
	switch d {
	case Uint8, BoolType, QUInt8:
		return float64(b[0])
	case Int8, QInt8:
		return float64(int8(b[0]))
	case Int16:
		return float64(int16(e.Uint16(b)))
	case Int32, QInt32:
		return float64(int32(e.Uint32(b)))
	case Int64:
		return float64(int64(e.Uint64(b)))
	case Float16:
		return fromFloat16(e.Uint16(b))
	case BFloat16:
		return float64(math.Float32frombits(uint32(e.Uint16(b)) << 16))
	case Float32, Complex64:
		return float64(math.Float32frombits(e.Uint32(b)))
	case Float64, Complex128:
		return math.Float64frombits(e.Uint64(b))
	}
	return math.NaN()
}

// bfloat16 rounds to nearest, ties to even.
func bfloat16(v float64) uint16 {
	bits := math.Float32bits(float32(v))
	if v != v {
		return 0x7fc0
	}
	return uint16((bits + 0x7fff + bits>>16&1) >> 16)
}

// float16 rounds to nearest, ties to even; what is too large is infinite.
func float16(v float64) uint16 {
	sign := uint16(math.Float64bits(v)>>48) & 0x8000
	v = math.Abs(v)
	switch {
	case v != v:
		return 0x7e00
	case v >= 65520:
		return sign | 0x7c00
	case v < 0x1p-14:
		return sign | uint16(math.RoundToEven(v*0x1p24))
	}
	_, exp := math.Frexp(v) // v in [2^(exp-1), 2^exp)
	mantissa := uint16(math.RoundToEven(math.Ldexp(v, 11-exp)))
	return sign | (uint16(exp+14)<<10 + mantissa - 1<<10)
}

func fromFloat16(h uint16) float64 {
	sign := 1.0
	if h&0x8000 != 0 {
		sign = -1
	}
	exp, mantissa := int(h>>10&31), float64(h&0x3ff)
	switch exp {
	case 0:
		return sign * mantissa * 0x1p-24
	case 31:
		if mantissa != 0 {
			return math.NaN()
		}
		return math.Inf(int(sign))
	}
	return sign * math.Ldexp(1024+mantissa, exp-25)
}
