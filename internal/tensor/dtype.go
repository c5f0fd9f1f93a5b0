// Package tensor is the vocabulary of tensors: one table each for dtypes, forms, arrangements, layouts, memory formats,
// quantization schemes and devices. The C++ names are generated into shim/words.h.
package tensor

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// A DType is a c10::ScalarType, by its number.
//
// Source: c10/core/ScalarType.h.
type DType int8

const (
	Uint8 DType = iota
	Int8
	Int16
	Int32
	Int64
	Float16
	Float32
	Float64
	Complex32
	Complex64
	Complex128
	Bool
	QInt8
	QUInt8
	QInt32
	BFloat16
)

// The numbers in between and after these have no constants.
const (
	Bits8        DType = 21
	Float8E4M3FN DType = 24
	Uint16       DType = 27
	Uint32       DType = 28
	Uint64       DType = 29
)

// A DTypeClass is a group of dtypes that kernels distinguish.
type DTypeClass uint8

const (
	Opaque DTypeClass = iota // uninterpreted bits
	Floating
	Integral
	Boolean
	Complex
	Scaled // quantized: integers with a scale
)

type dtype struct {
	name        string // the name in Python
	size        int    // of an element in bytes; 0 if elements share a byte
	class       DTypeClass
	max, lowest float64 // finite
	subnormal   float64 // the smallest positive number
	codec       codec
	words       []string // other names in errors of kernels, in lower case
}

var dtypes = [...]dtype{
	Uint8:   whole("uint8", 1, 0, math.MaxUint8, "byte"),
	Int8:    whole("int8", 1, math.MinInt8, math.MaxInt8, "char"),
	Int16:   whole("int16", 2, math.MinInt16, math.MaxInt16, "short"),
	Int32:   whole("int32", 4, math.MinInt32, math.MaxInt32, "int"),
	Int64:   whole("int64", 8, math.MinInt64, math.MaxInt64, "long", "long int", "integral", "integer"),
	Float16: {"float16", 2, Floating, 0x1.ffcp15, -0x1.ffcp15, 0x1p-24, float16, []string{"half"}},
	Float32: {"float32", 4, Floating, math.MaxFloat32, -math.MaxFloat32, math.SmallestNonzeroFloat32, float32s,
		[]string{"float", "floating-point", "floating point"}},
	Float64: {"float64", 8, Floating, math.MaxFloat64, -math.MaxFloat64, math.SmallestNonzeroFloat64, float64s,
		[]string{"double"}},
	Complex32: {"complex32", 4, Complex, 0x1.ffcp15, -0x1.ffcp15, 0x1p-24, float16, nil},
	Complex64: {"complex64", 8, Complex, math.MaxFloat32, -math.MaxFloat32, math.SmallestNonzeroFloat32, float32s,
		[]string{"complex", "complexfloat", "cfloat"}},
	Complex128: {"complex128", 16, Complex, math.MaxFloat64, -math.MaxFloat64, math.SmallestNonzeroFloat64, float64s,
		[]string{"complexdouble"}},
	Bool:     {"bool", 1, Boolean, 1, 0, 1, truths, []string{"boolean"}},
	QInt8:    scaled("qint8", 1, math.MinInt8, math.MaxInt8),
	QUInt8:   scaled("quint8", 1, 0, math.MaxUint8),
	QInt32:   scaled("qint32", 4, math.MinInt32, math.MaxInt32),
	BFloat16: {"bfloat16", 2, Floating, 0x1.fep127, -0x1.fep127, 0x1p-133, bfloat16, nil},
	{name: "quint4x2", class: Scaled},
	{name: "quint2x4", class: Scaled},
	{name: "bits1x8", size: 1},
	{name: "bits2x4", size: 1},
	{name: "bits4x2", size: 1},
	Bits8: {name: "bits8", size: 1},
	{name: "bits16", size: 2},
	{name: "float8_e5m2", size: 1, class: Floating},
	Float8E4M3FN: {"float8_e4m3fn", 1, Floating, 448, -448, 0x1p-9, float8, nil},
	{name: "float8_e5m2fnuz", size: 1, class: Floating},
	{name: "float8_e4m3fnuz", size: 1, class: Floating},
	Uint16: whole("uint16", 2, 0, math.MaxUint16),
	Uint32: whole("uint32", 4, 0, math.MaxUint32),
	Uint64: whole("uint64", 8, 0, math.MaxInt64),
	{name: "uint1", size: 1},
	{name: "uint2", size: 1},
	{name: "uint3", size: 1},
	{name: "uint4", size: 1},
	{name: "uint5", size: 1},
	{name: "uint6", size: 1},
	{name: "uint7", size: 1},
	{name: "int1", size: 1},
	{name: "int2", size: 1},
	{name: "int3", size: 1},
	{name: "int4", size: 1},
	{name: "int5", size: 1},
	{name: "int6", size: 1},
	{name: "int7", size: 1},
	{name: "float8_e8m0fnu", size: 1},
	{name: "float4_e2m1fn_x2", size: 1},
}

func whole(name string, size int, lowest, largest int64, words ...string) dtype {
	return dtype{name, size, Integral, float64(largest), float64(lowest), 1, integers(size, lowest < 0), words}
}

func scaled(name string, size int, lowest, largest int64) dtype {
	d := whole(name, size, lowest, largest)
	d.class = Scaled
	return d
}

var (
	byName = make(map[string]DType)
	byWord = make(map[string]DType)
)

func init() {
	for d, row := range dtypes {
		byName[row.name] = DType(d)
		if row.codec.put == nil {
			continue
		}
		for _, word := range append(row.words, row.name) {
			byWord[word] = DType(d)
		}
	}
}

// DTypes returns every dtype.
func DTypes() []DType {
	all := make([]DType, len(dtypes))
	for i := range all {
		all[i] = DType(i)
	}
	return all
}

// DTypeNames returns the sorted names of the dtypes that satisfy a condition.
func DTypeNames(where func(DType) bool) []string {
	names := slices.Sorted(maps.Keys(byName))
	return slices.DeleteFunc(names, func(name string) bool { return !where(byName[name]) })
}

// ParseDType is the inverse of String.
func ParseDType(name string) (DType, bool) {
	d, ok := byName[name]
	return d, ok
}

// DTypeOfWord returns the writable dtype with that name in errors of kernels, such as "Half".
func DTypeOfWord(word string) (DType, bool) {
	d, ok := byWord[strings.ToLower(word)]
	return d, ok
}

func (d DType) row() *dtype {
	if d < 0 || int(d) >= len(dtypes) {
		return new(dtype)
	}
	return &dtypes[d]
}

// String returns the name that Python uses: "float32".
func (d DType) String() string {
	if name := d.row().name; name != "" {
		return name
	}
	return fmt.Sprintf("dtype%d", int8(d))
}

// Size returns the size of an element in bytes, 0 if it is not known or elements share a byte.
func (d DType) Size() int { return d.row().size }

// Class returns the dtype's class.
func (d DType) Class() DTypeClass { return d.row().class }

// Limits returns the largest and the lowest finite number, and the smallest positive one.
func (d DType) Limits() (largest, lowest, subnormal float64) {
	row := d.row()
	return row.max, row.lowest, row.subnormal
}

// Step returns the distance between 1 and the next number of a floating point dtype.
func (d DType) Step() float64 {
	fraction, _ := math.Frexp(d.row().max) // all its bits are ones
	return 2 - 2*fraction
}

// Writable reports whether Put can write its elements.
func (d DType) Writable() bool { return d.row().codec.put != nil }
