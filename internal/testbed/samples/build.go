package samples

import (
	"context"
	"slices"

	"github.com/opassert/opassert/internal/slicesx"
	"github.com/opassert/opassert/internal/testbed/c10"
)

// A variant is a kind of tensors that a case is run with.
type variant string

const (
	plain      variant = "plain"
	strided    variant = "non-contiguous"
	expanded   variant = "expanded" // elements of read arguments share memory
	meta       variant = "meta"
	inference  variant = "inference"
	direct     variant = "direct-subclass"
	functional variant = "functional-wrapper"
	wrapper    variant = "wrapper-subclass"
	reporting  variant = "reporting-wrapper"
)

var everyVariant = []variant{plain, strided, expanded, meta, inference, direct, functional, wrapper, reporting}

func without(left ...variant) []variant {
	return slices.DeleteFunc(slices.Clone(everyVariant), func(s variant) bool { return slices.Contains(left, s) })
}

// A testCase is the arguments of one call, made from tensors of any variant.
type testCase struct {
	op, name string
	args     []any     // tensors are descriptions; whole numbers are int64
	variants []variant // that it is called with
}

func call(op, name string, args ...any) testCase { return testCase{op, name, args, everyVariant} }

func (c testCase) in(variants ...variant) testCase {
	c.variants = variants
	return c
}

func each(variants []variant, cases ...testCase) []testCase {
	for i := range cases {
		cases[i].variants = variants
	}
	return cases
}

func with(rest []any, cases ...testCase) []testCase {
	for i := range cases {
		cases[i].args = slices.Concat(cases[i].args, rest)
	}
	return cases
}

func prefixed(word string, cases []testCase) []testCase {
	for i := range cases {
		cases[i].name = word + "-" + cases[i].name
	}
	return cases
}

// A description makes an argument of a builder's variant. Passed twice in a call it makes one tensor.
type description struct{ make func(*builder) any }

func tensorOf(make func(*builder) *c10.Tensor) *description {
	return &description{func(b *builder) any { return make(b) }}
}

// A builder makes the arguments of one call with tensors of one variant.
type builder struct {
	variant variant
	made    map[*description]any
}

func (b *builder) argument(arg any) any {
	switch arg := arg.(type) {
	case int:
		return int64(arg)
	case []*description:
		return slicesx.Map(arg, b.tensor)
	case *description:
		if arg == undefined {
			return b.tensor(arg)
		}
		if b.made[arg] == nil {
			b.made[arg] = arg.make(b)
		}
		return b.made[arg]
	}
	return arg
}

func (b *builder) tensor(d *description) *c10.Tensor {
	if d == undefined {
		return nil
	}
	return b.argument(d).(*c10.Tensor)
}

var kinds = map[variant]c10.TensorKind{
	direct:     c10.DirectSubclass,
	functional: c10.Functional,
	wrapper:    c10.WrapperSubclass,
	reporting:  c10.ReportingWrapper,
}

func (b *builder) device() *c10.Device {
	d := c10.CPU
	if b.variant == meta {
		d = c10.Meta
	}
	return &d
}

// elements describes a tensor whose element i is value(i), or, if elements share memory, another one's.
func elements(sizes []int64, d c10.DType, strides func(*builder, []int64) []int64,
	value func(i int64) float64) *description {
	return tensorOf(func(b *builder) *c10.Tensor {
		t := b.layOut(sizes, strides(b, sizes), c10.TensorOptions{DType: d, Device: *b.device(), Kind: kinds[b.variant],
			Inference: b.variant == inference})
		for i := range t.Numel() {
			t.SetFloat(i, value(i))
		}
		return t
	})
}

func (b *builder) layOut(sizes, strides []int64, o c10.TensorOptions) *c10.Tensor {
	if b.variant != strided {
		return c10.EmptyStrided(sizes, strides, o)
	}
	// Room for every second element of the transposed tensor, from 1 on.
	room := c10.Empty([]int64{2*c10.Numel(sizes) + 2}, o)
	defer room.Release()
	return room.AsStrided(sizes, gaps(sizes), 1)
}

// gaps returns strides with the first dimension innermost that leave out every second element.
func gaps(sizes []int64) []int64 {
	strides := make([]int64, len(sizes))
	stride := int64(2)
	for d, n := range sizes {
		strides[d] = stride
		stride *= max(n, 1)
	}
	return strides
}

// shared returns strides with stride 0 in the first dimension, if the variant asks for it.
func (b *builder) shared(sizes []int64) []int64 {
	strides := c10.ContiguousStrides(sizes)
	if b.variant == expanded && len(sizes) > 0 {
		strides[0] = 0
	}
	return strides
}

func (b *builder) apart(sizes []int64) []int64 { return c10.ContiguousStrides(sizes) }

// wave oscillates through positive numbers, negative ones and zero.
func wave(i int64) float64 { return float64(i*7%11-4) / 2 }

func listed(values ...float64) func(int64) float64 { return func(i int64) float64 { return values[i] } }

// floats is a tensor that is only read.
func floats(sizes ...int64) *description {
	return elements(sizes, c10.Float32, (*builder).shared, wave)
}

func written(sizes ...int64) *description {
	return elements(sizes, c10.Float32, (*builder).apart, wave)
}

func ints(n int64, sizes ...int64) *description {
	return elements(sizes, c10.Int64, (*builder).shared, func(i int64) float64 { return float64(i * 2 % n) })
}

func handle(of *description) *description {
	return tensorOf(func(b *builder) *c10.Tensor { return b.tensor(of).Retain() })
}

func alias(of *description) *description {
	return tensorOf(func(b *builder) *c10.Tensor { return b.tensor(of).Alias() })
}

var (
	device    = &description{func(b *builder) any { return b.device() }}
	generator = &description{func(*builder) any { return c10.NewGenerator(1) }}
)

// Tensors of cases that pass one tensor twice.
var (
	read  = floats(2, 3)
	wrote = written(2, 3)
)

func list(ts ...*description) []*description { return ts }

// Undefined arguments.
var (
	undefined *description
	noInt     *int64
	noFloat   *float64
	noDType   *c10.DType
	noLayout  *c10.Layout
	noDevice  *c10.Device
	noBool    *bool
	noFormat  *c10.MemoryFormat
)

var background = context.Background()
