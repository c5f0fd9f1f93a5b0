package design

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
	"github.com/opassert/opassert/internal/slicesx"
	"github.com/opassert/opassert/internal/tensor"
	"github.com/opassert/opassert/schema"
)

// A valueClass is one sort of value of an argument.
type valueClass struct {
	name string
	// ways change a call so that it has the class, the simplest first; each reports whether it succeeded.
	ways []func(c *sample.Case) bool
}

func class1(name string, way func(c *sample.Case) bool) valueClass {
	return valueClass{name, []func(*sample.Case) bool{way}}
}

// Contents of tensors that kernels distinguish.
var (
	floatFills = []sample.Fill{
		{Name: "negative"}, {Name: "wide"}, {Name: "special"}, {Name: "const", Value: 0}, {Name: "const", Value: 1},
		{Name: "const", Value: -1}, {Name: "const", Value: 2}, {Name: "const", Value: math.Copysign(0, -1)},
		{Name: "const", Value: math.NaN()}, {Name: "const", Value: math.Inf(1)}, {Name: "const", Value: math.Inf(-1)},
		{Name: "max"}, {Name: "lowest"}, {Name: "subnormal"},
	}
	wholeFills = []sample.Fill{{Name: "const", Value: 0}, {Name: "const", Value: 1}, {Name: "const", Value: 2},
		{Name: "range"}, {Name: "wide"}, {Name: "negative"}, {Name: "max"}, {Name: "lowest"}, {Name: "special"}}
	boolFills = []sample.Fill{{Name: "const", Value: 0}, {Name: "const", Value: 1}}
)

func fillsFor(dtype string) []sample.Fill {
	switch sample.Element(dtype).Class() {
	case tensor.Integral:
		return wholeFills
	case tensor.Boolean:
		return boolFills
	}
	return floatFills
}

// everyDType lists the dtypes of dense tensors, the usual ones first.
var everyDType = []string{"float32", "float64", "float16", "bfloat16", "int64", "int32", "bool", "complex64",
	"complex128", "uint8", "int8", "int16", "complex32", "uint16", "uint32", "uint64"}

var layouts = []struct {
	name string
	tensor.Arrangement
	rank int // 0: any
}{{"transposed", tensor.Transposed, 0}, {"sliced", tensor.Sliced, 0}, {"expanded", tensor.Expanded, 0},
	{"offset", tensor.Offset, 0}, {"channels-last", tensor.ChannelsLast, 4}, {"channels-last-3d", tensor.ChannelsLast, 5},
	{"padded", tensor.Padded, 0}, {"between", tensor.Between, 0}}

// plainForms are the forms of strided tensors apart from the layout.
var plainForms = []engine.Form{engine.Grad, engine.Inference, engine.Negative, engine.Conjugate, engine.Zero}

// setters change one tensor; they report whether it now has the property.

func setDType(dtype string) func(*sample.TensorSpec) bool {
	return func(t *sample.TensorSpec) bool {
		t.DType = dtype
		t.Legal()
		return true
	}
}

func setFill(f sample.Fill) func(*sample.TensorSpec) bool {
	return func(t *sample.TensorSpec) bool {
		t.Fill, t.Values = f, nil
		return true
	}
}

// setLayout changes tensors of one rank if the layout requires it.
func setLayout(a tensor.Arrangement, rank int) func(*sample.TensorSpec) bool {
	return func(t *sample.TensorSpec) bool {
		if n := len(t.Sizes); n == 0 || (a == tensor.Transposed || a == tensor.Padded) && n < 2 || rank > 0 && n != rank {
			return false
		}
		t.Arrangement = a
		t.Legal()
		return t.Arrangement == a
	}
}

func setForm(f engine.Form) func(*sample.TensorSpec) bool {
	return func(t *sample.TensorSpec) bool {
		if f == engine.Conjugate && sample.Element(t.DType).Class() != tensor.Complex {
			t.DType = "complex64"
		}
		t.SetForm(f)
		t.Legal()
		return t.Form == f
	}
}

func setQuantized(dtype string, f engine.Form) func(*sample.TensorSpec) bool {
	return func(t *sample.TensorSpec) bool {
		t.DType, t.Form = dtype, f
		t.Legal()
		return t.Form == f
	}
}

func setSizes(sizes ...int64) func(*sample.TensorSpec) bool {
	return func(t *sample.TensorSpec) bool {
		t.Sizes = slices.Clone(sizes)
		t.Legal()
		return true
	}
}

// withoutRows leaves a tensor no elements: a kernel with nothing to compute may not write its results.
func withoutRows(t *sample.TensorSpec) bool {
	if len(t.Sizes) == 0 {
		return false
	}
	t.Sizes[0] = 0
	t.Legal()
	return true
}

// fewerColumns makes a tensor of several dimensions smaller than the others' sizes imply.
func fewerColumns(columns int64) func(*sample.TensorSpec) bool {
	return func(t *sample.TensorSpec) bool {
		n := len(t.Sizes)
		if n < 2 || t.Sizes[n-1] <= columns {
			return false
		}
		t.Sizes[n-1] = columns
		t.Legal()
		return true
	}
}

func setAll(setters ...func(*sample.TensorSpec) bool) func(*sample.TensorSpec) bool {
	return func(t *sample.TensorSpec) bool {
		return !slices.ContainsFunc(setters, func(set func(*sample.TensorSpec) bool) bool { return !set(t) })
	}
}

// A selector returns the tensors of a call that a class changes.
type selector func(c *sample.Case) []*sample.TensorSpec

// each makes the setter's change to every selected tensor that allows it.
func (of selector) each(set func(*sample.TensorSpec) bool) func(*sample.Case) bool {
	return func(c *sample.Case) bool {
		holds := false
		for _, t := range Separate(of(c), c.Tensors()) {
			holds = set(t) || holds
		}
		return holds
	}
}

func ofArg(i int) selector {
	return func(c *sample.Case) []*sample.TensorSpec { return c.Args[i].AppendTensors(nil) }
}

func lastOf(i int) selector {
	return func(c *sample.Case) []*sample.TensorSpec {
		all := c.Args[i].AppendTensors(nil)
		return all[max(0, len(all)-1):]
	}
}

func tensorClasses(of selector, dtype string, written bool) []valueClass {
	var all []valueClass
	add := func(name string, set func(*sample.TensorSpec) bool) {
		all = append(all, class1(name, of.each(set)))
	}
	for _, d := range everyDType {
		if d != dtype {
			add(d, setDType(d))
		}
	}
	for _, l := range layouts {
		add(l.name, setLayout(l.Arrangement, l.rank))
	}
	for _, f := range plainForms {
		if !written || f == engine.Grad || f == engine.Inference {
			add(tensor.Forms[f], setForm(f))
		}
	}
	add("one element", setSizes(1))
	add("0-dim", setSizes())
	add("empty", setSizes(0))
	if written {
		return all
	}
	for _, f := range fillsFor(dtype) {
		add(f.String(), setFill(f))
	}
	if sample.Element(dtype).Class() != tensor.Integral {
		for _, f := range []sample.Fill{{Name: "wide"}, {Name: "negative"}, {Name: "const", Value: 1},
			{Name: "const", Value: 0}, {Name: "max"}, {Name: "lowest"}} {
			add("int64 "+f.String(), setAll(setDType("int64"), setFill(f)))
		}
	}
	if dtype != "uint8" {
		add("uint8 max", setAll(setDType("uint8"), setFill(sample.Fill{Name: "max"})))
	}
	add("float64[]", setAll(setDType("float64"), setSizes())) // most kernels treat it as a number
	add("int64[1] const:1", setAll(setDType("int64"), setSizes(1), setFill(sample.Fill{Name: "const", Value: 1})))
	add("int64[] const:1", setAll(setDType("int64"), setSizes(), setFill(sample.Fill{Name: "const", Value: 1})))
	if sample.Element(dtype).Class() != tensor.Boolean {
		for _, f := range boolFills {
			add("bool "+f.String(), setAll(setDType("bool"), setFill(f)))
		}
	}
	return all
}

// endClasses are the classes of the limits of integers of other sizes.
func endClasses(of selector, dtype string) []valueClass {
	var all []valueClass
	for _, d := range []string{"int8", "int16", "int32"} {
		if d != dtype {
			all = append(all, class1(d+" special", of.each(setAll(setDType(d), setFill(sample.Fill{Name: "special"})))))
		}
	}
	return all
}

// Values of scalar types, those that give most away last.
var (
	someInts   = []int64{-1, 0, 1, 2, 3, 4, 5, 8, -2, -3, 7, 16, 64, 1000}
	largeInts  = []int64{1 << 31, -1<<31 - 1, math.MaxInt64}
	someFloats = []float64{-1, -0.5, 0, math.Copysign(0, -1), 0.25, 0.5, 1, 1.5, 2, 3, 1e-7, 1e30, 1e-310, math.NaN(),
		math.Inf(1), math.Inf(-1)}
	someLayout = tensor.Layouts[:tensor.LayoutSparseCsr+1]

	scalarInts   = []int64{-1, 0, 1, 2, 3, 8, 100, 1 << 40}
	scalarFloats = []float64{-1.5, -1, 0, math.Copysign(0, -1), 0.5, 1, 2, 1e30, math.NaN(), math.Inf(1), math.Inf(-1)}
	bothBools    = []bool{true, false}
)

// usualWords are modes of PyTorch's ops.
var usualWords = []string{
	"none", "mean", "sum", "batchmean", "constant", "reflect", "replicate", "circular", "zeros", "border", "reflection",
	"same", "valid",
	"nearest", "nearest-exact", "linear", "bilinear", "bicubic", "trilinear", "area", "max", "min", "prod",
	"amax", "amin", "avg",
	"add", "multiply", "floor", "trunc", "tanh", "relu", "gelu", "silu", "sigmoid", "lower", "higher", "midpoint", "fro",
	"nuc", "L", "U",
	"left", "right", "ij", "xy", "backward", "forward", "ortho", "reduced", "complete", "full", "half",
	"float", "double", "",
}

// ScalarValues returns the values of a base type without tensors, or nil, for an engine with these devices.
func ScalarValues(name string, devices []engine.Device) []sample.Value {
	switch name {
	case "int", "SymInt":
		return slicesx.Map(someInts, sample.Int)
	case "float":
		return slicesx.Map(someFloats, sample.Float)
	case "Scalar":
		return slices.Concat(slicesx.Map(scalarInts, sample.Int), slicesx.Map(scalarFloats, sample.Float),
			slicesx.Map(bothBools, sample.Bool),
			[]sample.Value{{Kind: sample.ComplexValue, Complex: 0.5 + 1i}})
	case "bool":
		return slicesx.Map(bothBools, sample.Bool)
	case "ScalarType":
		return texts(sample.DTypeValue, slices.Concat(everyDType, sample.QuantizedDTypes))
	case "Layout":
		return texts(sample.LayoutValue, someLayout)
	case "MemoryFormat":
		return texts(sample.FormatValue, tensor.MemoryFormats)
	case "Device":
		return texts(sample.DeviceValue, devices)
	case "Generator":
		return []sample.Value{{Kind: sample.GeneratorValue, Int: 7}}
	case "QScheme":
		return texts(sample.QSchemeValue, tensor.QSchemes)
	}
	return nil
}

func texts[T ~string](kind sample.ValueKind, names []T) []sample.Value {
	return slicesx.Map(names, func(n T) sample.Value { return sample.Value{Kind: kind, Text: string(n)} })
}

// SetValue sets argument i to a value.
func SetValue(i int, v sample.Value) func(*sample.Case) bool {
	return func(c *sample.Case) bool {
		Separate(c.Tensors(), c.Tensors()) // another tensor may alias the removed one
		c.Args[i] = v.Clone()
		return true
	}
}

// intLists returns lists of integers: of every length, and of the base's length with values of every sort.
func intLists(base []sample.Value, fixed int) []sample.Value {
	n := len(base)
	all := slicesx.Map([]int64{-1, 0, 1, 2, 3, 4, 8}, func(v int64) sample.Value { return same(n, v) })
	up, down := same(n, 0), same(n, 0)
	for k := range n {
		up.List[k].Int, down.List[k].Int = int64(k), int64(n-1-k)
	}
	all = append(all, up, down, plus(up, 1), plus(down, 1), plus(up, int64(-n)))
	for k := range n {
		for _, v := range []int64{-1, 0, 1, 2} {
			one := sample.Value{Kind: sample.ListValue, List: sample.CloneValues(base)}
			one.List[k] = sample.Int(v)
			all = append(all, one)
		}
	}
	if fixed > 1 {
		return all
	}
	for length := range 7 {
		if length != n {
			grown := same(length, 1)
			copy(grown.List, base)
			all = append(all, grown, same(length, 0))
		}
	}
	return append(all, sample.Ints(0, 1), sample.Ints(1, 0), sample.Ints(-1, -2))
}

func plus(v sample.Value, d int64) sample.Value {
	v = v.Clone()
	for k := range v.List {
		v.List[k].Int += d
	}
	return v
}

// plainLists returns lists of other scalars.
func plainLists(base []sample.Value, elem string, fixed int, devices []engine.Device) []sample.Value {
	n := len(base)
	var all []sample.Value
	if elem == "bool" && n <= 4 {
		for bits := range 1 << n {
			v := sample.Value{Kind: sample.ListValue}
			for k := range n {
				v.List = append(v.List, sample.Bool(bits>>k&1 != 0))
			}
			all = append(all, v)
		}
	} else {
		for _, e := range ScalarValues(elem, devices) {
			all = append(all, sample.Value{Kind: sample.ListValue, List: slices.Repeat([]sample.Value{e}, n)})
		}
	}
	if fixed > 1 || n == 0 {
		return append(all, sample.Value{Kind: sample.ListValue})
	}
	for _, length := range []int{0, 1, 2, 3, 4} {
		v := sample.Value{Kind: sample.ListValue}
		for k := range length {
			v.List = append(v.List, base[k%n].Clone())
		}
		all = append(all, v)
	}
	return all
}

// manyTensors exceeds the size of the fixed arrays into which kernels copy lists.
const manyTensors = 40

func tensorList(i int, name string, change func(list []sample.Value) []sample.Value) valueClass {
	return class1(name, func(c *sample.Case) bool {
		Separate(c.Tensors(), c.Tensors())
		v := &c.Args[i]
		if v.Kind != sample.ListValue || len(v.List) == 0 && name != "[]" {
			return false
		}
		v.List = change(v.List)
		return true
	})
}

// ofLength returns a change of a list's length, with its first tensor repeated if it is shorter.
func ofLength(length int) func(list []sample.Value) []sample.Value {
	return func(list []sample.Value) []sample.Value {
		for len(list) < length {
			list = append(list, list[0].Clone())
		}
		return list[:length]
	}
}

// listLengths returns classes of other lengths of a list of tensors, with None elements if allowed, and of one tensor.
func listLengths(i int, t schema.Type) []valueClass {
	var all []valueClass
	for length := range 4 {
		all = append(all, tensorList(i, "["+strings.Repeat("Tensor ", length)+"]", ofLength(length)))
	}
	if t.Elem[0].Kind == schema.Optional {
		for k := range 2 {
			all = append(all, tensorList(i, "None at "+strconv.Itoa(k), func(list []sample.Value) []sample.Value {
				if k < len(list) {
					list[k] = sample.None()
				}
				return list
			}))
		}
	}
	return all
}
