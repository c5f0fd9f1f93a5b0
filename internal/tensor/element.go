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

// Put writes an element, rounded to the nearest; im is for complex dtypes. It writes zeros for a dtype not Writable.
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

// Get reads an element, or the real part of a complex one. It is NaN if the dtype is not Writable.
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
		func(dst []byte, v float64) { native.PutUint16(dst, half.bits(v)) },
		func(src []byte) float64 { return half.value(native.Uint16(src)) },
	}
	bfloat16 = codec{
		func(dst []byte, v float64) { native.PutUint16(dst, toBFloat16(v)) },
		func(src []byte) float64 { return float64(math.Float32frombits(uint32(native.Uint16(src)) << 16)) },
	}
	float8 = codec{
		func(dst []byte, v float64) { dst[0] = byte(quarter.bits(v)) },
		func(src []byte) float64 { return quarter.value(uint16(src[0])) },
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

// integers returns the codec of integers; numbers above all int64 become the largest.
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

// A small is a floating point format: bits of a mantissa, an exponent with a bias, and a sign above them.
type small struct {
	mantissa, exponent, bias int
	most                     float64 // larger numbers become beyond
	beyond, nan              uint16
}

var (
	half    = small{10, 5, 15, math.Nextafter(65520, 0), 0x7c00, 0x7e00}
	quarter = small{3, 4, 7, 464, 0x7f, 0x7f} // of a format without infinity
)

// bits rounds to nearest, ties to even.
func (f small) bits(v float64) uint16 {
	var sign uint16
	if math.Signbit(v) {
		sign = 1 << (f.mantissa + f.exponent)
	}
	v = math.Abs(v)
	switch {
	case v != v:
		return sign | f.nan
	case v > f.most:
		return sign | f.beyond
	case v < math.Ldexp(1, 1-f.bias): // subnormal
		return sign | uint16(math.RoundToEven(math.Ldexp(v, f.bias+f.mantissa-1)))
	}
	_, exp := math.Frexp(v) // v in [2^(exp-1), 2^exp)
	mantissa := uint16(math.RoundToEven(math.Ldexp(v, f.mantissa+1-exp)))
	return sign | (uint16(exp+f.bias-1)<<f.mantissa + mantissa - 1<<f.mantissa)
}

func (f small) value(bits uint16) float64 {
	sign := 1.0
	if bits>>(f.mantissa+f.exponent) != 0 {
		sign = -1
	}
	one := uint16(1) << f.mantissa
	exp, mantissa := int(bits>>f.mantissa)&(1<<f.exponent-1), bits&(one-1)
	switch magnitude := bits & (one<<f.exponent - 1); {
	case magnitude == f.beyond && f.beyond != f.nan:
		return math.Inf(int(sign))
	case magnitude >= f.beyond:
		return math.NaN()
	case exp == 0:
		return sign * math.Ldexp(float64(mantissa), 1-f.bias-f.mantissa)
	}
	return sign * math.Ldexp(float64(one+mantissa), exp-f.bias-f.mantissa)
}
