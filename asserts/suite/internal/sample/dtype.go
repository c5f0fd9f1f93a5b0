package sample

import (
	"encoding/binary"
	"math"
	"slices"
)

var DTypeWords = map[string]string{
	"long": "int64", "long int": "int64", "int64": "int64", "int": "int32", "int32": "int32", "bool": "bool", "boolean": "bool",
	"float": "float32", "float32": "float32", "double": "float64", "float64": "float64", "half": "float16", "byte": "uint8",
	"uint8": "uint8", "complex": "complex64", "complexfloat": "complex64", "cfloat": "complex64", "bfloat16": "bfloat16",
	"floating-point": "float32", "floating point": "float32", "integral": "int64", "integer": "int64", "short": "int16", "char": "int8",
	"complexdouble": "complex128", "uint16": "uint16", "uint32": "uint32", "uint64": "uint64",
	"qint8": "qint8", "quint8": "quint8", "qint32": "qint32",
}

// quantizedDType reports whether a dtype is one that quantized tensors have.
func quantizedDType(name string) bool { return slices.Contains(QuantizedDTypes, name) }

var QuantizedDTypes = []string{"quint8", "qint8", "qint32"}

// A class is what kernels distinguish among dtypes.
type class uint8

const (
	Floating class = iota
	Integral
	Boolean
	Complexed
)

// A dtype is a scalar type that tensors can be made of.
type dtype struct {
	Size        int64 // bytes
	Class       class
	max, lowest float64 // finite
	subnormal   float64 // the smallest above zero
	put         func(dst []byte, v float64)
}

var DTypes = map[string]dtype{
	"float16": float(2, 0x1.ffcp15, 0x1p-24, putHalf),

	"float8_e4m3fn": float(1, 448, 0x1p-9, putFloat8),

	"bfloat16":   float(2, 0x1.fep127, 0x1p-133, putBFloat16),
	"float32":    float(4, math.MaxFloat32, math.SmallestNonzeroFloat32, putFloat32),
	"float64":    float(8, math.MaxFloat64, math.SmallestNonzeroFloat64, putFloat64),
	"complex32":  float(2, 0x1.ffcp15, 0x1p-24, putHalf).pair(),
	"complex64":  float(4, math.MaxFloat32, math.SmallestNonzeroFloat32, putFloat32).pair(),
	"complex128": float(8, math.MaxFloat64, math.SmallestNonzeroFloat64, putFloat64).pair(),
	"int64":      whole(8, math.MinInt64, math.MaxInt64),
	"int32":      whole(4, math.MinInt32, math.MaxInt32),
	"int16":      whole(2, math.MinInt16, math.MaxInt16),
	"int8":       whole(1, math.MinInt8, math.MaxInt8),
	"uint8":      whole(1, 0, math.MaxUint8),
	"uint16":     whole(2, 0, math.MaxUint16),
	"uint32":     whole(4, 0, math.MaxUint32),
	"uint64":     whole(8, 0, math.MaxInt64),
	"bool":       {1, Boolean, 1, 0, 1, putBool},

	// A quantized tensor is made from one of float32.
	"quint8": float(4, math.MaxFloat32, math.SmallestNonzeroFloat32, putFloat32),
	"qint8":  float(4, math.MaxFloat32, math.SmallestNonzeroFloat32, putFloat32),
	"qint32": float(4, math.MaxFloat32, math.SmallestNonzeroFloat32, putFloat32),
}

func float(size int64, largest, subnormal float64, put func([]byte, float64)) dtype {
	return dtype{size, Floating, largest, -largest, subnormal, put}
}

// pair makes a complex dtype; the imaginary part is half of the real one.
func (d dtype) pair() dtype {
	half := d.Size
	return dtype{2 * half, Complexed, d.max, d.lowest, d.subnormal, func(dst []byte, v float64) {
		d.put(dst, v)
		d.put(dst[half:], v/2)
	}}
}

func whole(size, lowest, largest int64) dtype {
	return dtype{size, Integral, float64(largest), float64(lowest), 1, func(dst []byte, v float64) {
		n := int64(math.MaxInt64) // where a float64 can't say it
		if v < math.MaxInt64 {
			n = int64(v)
		}
		var word [8]byte
		binary.LittleEndian.PutUint64(word[:], uint64(n))
		copy(dst[:size], word[:])
	}}
}

func putFloat32(dst []byte, v float64) {
	binary.LittleEndian.PutUint32(dst, math.Float32bits(float32(v)))
}

func putFloat64(dst []byte, v float64) { binary.LittleEndian.PutUint64(dst, math.Float64bits(v)) }

func putBFloat16(dst []byte, v float64) {
	binary.LittleEndian.PutUint16(dst, uint16(math.Float32bits(float32(v))>>16))
}

// putFloat8 rounds towards zero, and makes NaN of what is too large.
func putFloat8(dst []byte, v float64) {
	dst[0] = byte(math.Float64bits(v) >> 56 & 0x80)
	switch v = math.Abs(v); {
	case v < 0x1p-6: // subnormal
		dst[0] |= byte(v * 0x1p9)
	case v <= 448:
		fraction, exponent := math.Frexp(v)
		dst[0] |= byte(exponent+6)<<3 + byte((2*fraction-1)*8)
	default:
		dst[0] |= 0x7f
	}
}

// putHalf rounds towards zero.
func putHalf(dst []byte, v float64) {
	sign := uint16(math.Float64bits(v) >> 48 & 0x8000)
	v = math.Abs(v)
	half := uint16(0x7c00) // infinity, and what is too large
	switch {
	case math.IsNaN(v):
		half = 0x7e00
	case v < 0x1p-14: // subnormal
		half = uint16(v * 0x1p24)
	case v < 0x1p16:
		fraction, exponent := math.Frexp(v)
		half = uint16(exponent+14)<<10 + uint16((2*fraction-1)*0x1p10)
	}
	binary.LittleEndian.PutUint16(dst, sign|half)
}

func putBool(dst []byte, v float64) {
	dst[0] = 0
	if v != 0 {
		dst[0] = 1
	}
}
