package tensor

import (
	"encoding/binary"
	"math"
)

// A codec writes and reads an element, or half of a complex one.
type codec struct {
	put func(dst []byte, v float64)
	get func(src []byte) float64
}

var native = binary.NativeEndian

// Put writes an element as it lies in memory, rounded to the nearest; im counts for
// a complex one alone. Of a dtype that is not Writable it writes zeros.
func (d DType) Put(dst []byte, re, im float64) {
	row := d.row()
	if row.codec.put == nil {
		clear(dst[:row.size])
		return
	}
	row.codec.put(dst, re)
	if row.class == Complex {
		row.codec.put(dst[row.size/2:], im)
	}
}

// Get reads what Put wrote; of a complex element, the real part. It is NaN for a
// dtype that is not Writable.
func (d DType) Get(src []byte) float64 {
	if row := d.row(); row.codec.get != nil {
		return row.codec.get(src)
	}
	return math.NaN()
}

var (
	float64s = codec{
		func(dst []byte, v float64) { native.PutUint64(dst, math.Float64bits(v)) },
		func(src []byte) float64 { return math.Float64frombits(native.Uint64(src)) },
	}
	float32s = codec{
		func(dst []byte, v float64) { native.PutUint32(dst, math.Float32bits(float32(v))) },
		func(src []byte) float64 { return float64(math.Float32frombits(native.Uint32(src))) },
	}
	float16 = codec{
		func(dst []byte, v float64) { native.PutUint16(dst, toFloat16(v)) },
		func(src []byte) float64 { return fromFloat16(native.Uint16(src)) },
	}
	bfloat16 = codec{
		func(dst []byte, v float64) { native.PutUint16(dst, toBFloat16(v)) },
		func(src []byte) float64 { return float64(math.Float32frombits(uint32(native.Uint16(src)) << 16)) },
	}
	float8 = codec{
		func(dst []byte, v float64) { dst[0] = toFloat8(v) },
		func(src []byte) float64 { return fromFloat8(src[0]) },
	}
	truths = codec{
		func(dst []byte, v float64) {
			dst[0] = 0
			if v != 0 {
				dst[0] = 1
			}
		},
		func(src []byte) float64 { return float64(src[0]) },
	}
)

// integers returns the codec of whole numbers; those that a float64 can't say are
// the largest int64.
func integers(size int, signed bool) codec {
	put := func(dst []byte, v float64) {
		n := int64(math.MaxInt64)
		if v < math.MaxInt64 {
			n = int64(v)
		}
		for i := range size {
			dst[i] = byte(n >> (8 * i))
		}
	}
	get := func(src []byte) float64 {
		var n uint64
		for i := range size {
			n |= uint64(src[i]) << (8 * i)
		}
		if unused := 64 - 8*size; signed {
			return float64(int64(n<<unused) >> unused)
		}
		return float64(n)
	}
	return codec{put, get}
}

// toBFloat16 rounds to nearest, ties to even.
func toBFloat16(v float64) uint16 {
	if v != v {
		return 0x7fc0
	}
	bits := math.Float32bits(float32(v))
	return uint16((bits + 0x7fff + bits>>16&1) >> 16)
}

// toFloat16 rounds to nearest, ties to even; what is too large is infinite.
func toFloat16(v float64) uint16 {
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

// toFloat8 rounds to nearest, ties to even; what is too large is NaN.
func toFloat8(v float64) byte {
	sign := byte(math.Float64bits(v) >> 56 & 0x80)
	v = math.Abs(v)
	switch {
	case !(v <= 464):
		return sign | 0x7f
	case v < 0x1p-6:
		return sign | byte(math.RoundToEven(v*0x1p9))
	}
	_, exp := math.Frexp(v)
	return sign | (byte(exp+6)<<3 + byte(math.RoundToEven(math.Ldexp(v, 4-exp))) - 1<<3)
}

func fromFloat8(b byte) float64 {
	sign := 1.0
	if b&0x80 != 0 {
		sign = -1
	}
	exp, mantissa := int(b>>3&15), float64(b&7)
	switch {
	case b&0x7f == 0x7f:
		return math.NaN()
	case exp == 0:
		return sign * mantissa * 0x1p-9
	}
	return sign * math.Ldexp(8+mantissa, exp-10)
}
