package suite

import (
	"encoding/binary"
	"math"
)

// A class is what kernels distinguish among dtypes.
type class uint8

const (
	floating class = iota
	integral
	boolean
	complexed
)

// A dtype is a scalar type that tensors can be made of.
type dtype struct {
	size  int64 // bytes
	class class
	put   func(dst []byte, v float64)
}

var dtypes = map[string]dtype{
	"float32":    {4, floating, putFloat32},
	"float64":    {8, floating, putFloat64},
	"float16":    {2, floating, putHalf},
	"bfloat16":   {2, floating, putBFloat16},
	"int64":      {8, integral, func(dst []byte, v float64) { binary.LittleEndian.PutUint64(dst, uint64(int64(v))) }},
	"int32":      {4, integral, func(dst []byte, v float64) { binary.LittleEndian.PutUint32(dst, uint32(int32(v))) }},
	"int16":      {2, integral, func(dst []byte, v float64) { binary.LittleEndian.PutUint16(dst, uint16(int16(v))) }},
	"int8":       {1, integral, func(dst []byte, v float64) { dst[0] = byte(int8(v)) }},
	"uint8":      {1, integral, func(dst []byte, v float64) { dst[0] = byte(v) }},
	"bool":       {1, boolean, putBool},
	"complex64":  {8, complexed, func(dst []byte, v float64) { putFloat32(dst, v); putFloat32(dst[4:], v/2) }},
	"complex128": {16, complexed, func(dst []byte, v float64) { putFloat64(dst, v); putFloat64(dst[8:], v/2) }},
}

func putFloat32(dst []byte, v float64) {
	binary.LittleEndian.PutUint32(dst, math.Float32bits(float32(v)))
}

func putFloat64(dst []byte, v float64) { binary.LittleEndian.PutUint64(dst, math.Float64bits(v)) }

func putBFloat16(dst []byte, v float64) {
	binary.LittleEndian.PutUint16(dst, uint16(math.Float32bits(float32(v))>>16))
}

// putHalf rounds towards zero and knows only normal numbers and zero, which
// is all that fills give.
func putHalf(dst []byte, v float64) {
	bits := math.Float32bits(float32(v))
	exponent := int32(bits>>23&0xff) - 127 + 15
	half := uint16(bits >> 16 & 0x8000)
	if exponent > 0 && exponent < 31 {
		half |= uint16(exponent)<<10 | uint16(bits>>13&0x3ff)
	}
	binary.LittleEndian.PutUint16(dst, half)
}

func putBool(dst []byte, v float64) {
	dst[0] = 0
	if v != 0 {
		dst[0] = 1
	}
}
