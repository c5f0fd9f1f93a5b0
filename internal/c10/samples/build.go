package samples

import (
	"context"
	"slices"

	"github.com/opassert/opassert/internal/c10"
)

// A sort is a sort of tensors that a case is run with.
type sort string

const (
	plain      sort = "plain"
	strided    sort = "non-contiguous"
	expanded   sort = "expanded" // arguments that are only read have elements in common
	meta       sort = "meta"
	inference  sort = "inference"
	direct     sort = "direct-subclass"
	functional sort = "functional-wrapper"
	wrapper    sort = "wrapper-subclass"
	reporting  sort = "reporting-wrapper"
)

var everySort = []sort{plain, strided, expanded, meta, inference, direct, functional, wrapper, reporting}

func without(left ...sort) []sort {
	return slices.DeleteFunc(slices.Clone(everySort), func(s sort) bool { return slices.Contains(left, s) })
}

// A testCase makes the arguments of one call from tensors of any sort.
type testCase struct {
	op, name string
	args     func(builder) []any
	in       []sort // nil: every one
}

func (c testCase) sorts() []sort {
	if c.in == nil {
		return everySort
	}
	return c.in
}

// only limits cases to some sorts.
func only(in []sort, cases ...testCase) []testCase {
	for i := range cases {
		cases[i].in = in
	}
	return cases
}

// prefixed puts a word before the names of cases.
func prefixed(word string, cases []testCase) []testCase {
	for i := range cases {
		cases[i].name = word + "-" + cases[i].name
	}
	return cases
}

// A builder makes tensors of one sort.
type builder struct{ sort sort }

var kinds = map[sort]c10.Kind{
	direct:     c10.DirectSubclass,
	functional: c10.Functional,
	wrapper:    c10.WrapperSubclass,
	reporting:  c10.ReportingWrapper,
}

func (b builder) options(d c10.DType) c10.Options {
	return c10.Options{DType: d, Device: *b.device(), Kind: kinds[b.sort], Inference: b.sort == inference}
}

func (b builder) device() *c10.Device {
	d := c10.CPU
	if b.sort == meta {
		d = c10.Meta
	}
	return &d
}

// tensor makes a tensor whose element i is value(i), or some other element
// where elements are in common.
func (b builder) tensor(sizes []int64, d c10.DType, strides []int64, value func(i int64) float64) *c10.Tensor {
	t := b.layOut(sizes, strides, b.options(d))
	for i := range t.Numel() {
		t.SetFloat(i, value(i))
	}
	return t
}

func (b builder) layOut(sizes, strides []int64, o c10.Options) *c10.Tensor {
	if b.sort != strided {
		return c10.EmptyStrided(sizes, strides, o)
	}
	// Room for every second element of the transposed tensor, from 1 on.
	room := c10.Empty([]int64{2*c10.Numel(sizes) + 2}, o)
	defer room.Release()
	return room.AsStrided(sizes, gaps(sizes), 1)
}

// gaps returns strides that run the first dimension fastest and leave out every
// second element.
func gaps(sizes []int64) []int64 {
	strides := make([]int64, len(sizes))
	stride := int64(2)
	for d, n := range sizes {
		strides[d] = stride
		stride *= max(n, 1)
	}
	return strides
}

// shared returns strides that keep the first dimension in one place, if the
// sort wants that.
func (b builder) shared(sizes []int64) []int64 {
	strides := c10.ContiguousStrides(sizes)
	if b.sort == expanded && len(sizes) > 0 {
		strides[0] = 0
	}
	return strides
}

// wave goes up and down, through positive, negative and zero.
func wave(i int64) float64 { return float64(i*7%11-4) / 2 }

// floats makes a tensor that is only read.
func (b builder) floats(sizes ...int64) *c10.Tensor {
	return b.tensor(sizes, c10.Float32, b.shared(sizes), wave)
}

// written makes a tensor that may be written.
func (b builder) written(sizes ...int64) *c10.Tensor {
	return b.tensor(sizes, c10.Float32, c10.ContiguousStrides(sizes), wave)
}

// outInts makes a tensor of int64 that may be written.
func (b builder) outInts(sizes ...int64) *c10.Tensor {
	return b.tensor(sizes, c10.Int64, c10.ContiguousStrides(sizes), wave)
}

// ints makes a tensor of numbers from 0 to n-1.
func (b builder) ints(n int64, sizes ...int64) *c10.Tensor {
	return b.tensor(sizes, c10.Int64, b.shared(sizes), func(i int64) float64 { return float64(i * 2 % n) })
}

func (b builder) bools(sizes ...int64) *c10.Tensor {
	return b.tensor(sizes, c10.Bool, b.shared(sizes), func(i int64) float64 { return float64((i + 1) % 2) })
}

// chances makes a tensor of probabilities.
func (b builder) chances(sizes ...int64) *c10.Tensor {
	return b.tensor(sizes, c10.Float32, b.shared(sizes), func(i int64) float64 { return float64(i%5) / 4 })
}

func (b builder) complexes(sizes ...int64) *c10.Tensor {
	return b.tensor(sizes, c10.Complex64, b.shared(sizes), wave)
}

func generator() *c10.Generator { return c10.NewGenerator(1) }

func ptr[T any](v T) *T { return &v }

func list(ts ...*c10.Tensor) []*c10.Tensor { return ts }

// Arguments that are not given.
var (
	undefined *c10.Tensor
	noInt     *int64
	noFloat   *float64
	noDType   *c10.DType
	noLayout  *c10.Layout
	noBool    *bool
	noFormat  *c10.MemoryFormat
)

var background = context.Background()
