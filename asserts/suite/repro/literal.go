package repro

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
	"github.com/opassert/opassert/internal/tensor"
)

// literals are how a language writes values.
type literals struct {
	values    map[sample.ValueKind]string // what stands around the text of a value
	booleans  [2]string                   // false and true
	numbers   map[string]string           // those that are not written as digits, and Go does not write so
	complexes string                      // an element of two numbers, and a dtype

	// What follows is PyTorch's.
	namespace string
	names     func(string) string // of dtypes, layouts, formats and quantization schemes; "" where there is none
	dtype     string              // the keyword of one
	list      string
	tuple     func([]int64) string
	flat      func(*dialect, tensor.DType, []byte) string // a tensor of one dimension
	forms     map[engine.Form]string                      // besides those of every language
}

// forms are what is made of a dense tensor, {}, to have one of another form: {ns} is the
// namespace of functions, {ones} the sizes of a block, {letters} are names of dimensions.
//
// Source: asserts/libtorch, make.go.
var forms = map[engine.Form]string{
	engine.Strided:   "{}",
	engine.COO:       "{}.to_sparse()",
	engine.COOHybrid: "{}.to_sparse(1)",
	engine.CSR:       "{}.to_sparse_csr()",
	engine.CSC:       "{}.to_sparse_csc()",
	engine.BSR:       "{}.to_sparse_bsr({ones})",
	engine.BSC:       "{}.to_sparse_bsc({ones})",
	engine.Mkldnn:    "{}.to_mkldnn()",
	engine.Conjugate: "{ns}_conj({})",
	engine.Negative:  "{ns}_neg_view({})",
}

// scalar returns a value that holds no other.
func (d *dialect) scalar(v *sample.Value) (text string, err error) {
	around, ok := d.values[v.Kind]
	switch v.Kind {
	case sample.NoneValue:
		return around, nil
	case sample.ComplexValue:
		return fmt.Sprintf(around, d.float(real(v.Complex), 64), d.float(imag(v.Complex), 64)), nil
	case sample.IntValue, sample.GeneratorValue:
		text = d.number(strconv.FormatInt(v.Int, 10))
	case sample.FloatValue:
		text = d.float(v.Float, 64)
	case sample.BoolValue:
		text = d.booleans[v.Int]
	case sample.TextValue, sample.DeviceValue:
		text = strconv.QuoteToASCII(v.Text)
	case sample.DTypeValue, sample.LayoutValue, sample.FormatValue, sample.QSchemeValue:
		if ok {
			text = d.names(v.Text)
		}
	case sample.StorageValue:
		if ok {
			text, err = d.tensor(v.Tensor, 0)
		}
	}
	if !ok || text == "" {
		return "", cmp.Or(err, fmt.Errorf("%v has no literal in %s", v, d.language))
	}
	return fmt.Sprintf(around, text), nil
}

func (d *dialect) number(text string) string { return cmp.Or(d.numbers[text], text) }

func (d *dialect) float(v float64, bits int) string { return d.number(float(v, bits)) }

// element returns an element of a tensor.
func (d *dialect) element(dtype tensor.DType, b []byte) string {
	switch dtype.Class() {
	case tensor.Boolean:
		return d.booleans[min(b[0], 1)]
	case tensor.Integral:
		return d.number(integer(dtype, b))
	case tensor.Complex:
		half := map[tensor.DType]tensor.DType{tensor.Complex64: tensor.Float32, tensor.Complex128: tensor.Float64}[dtype]
		return fmt.Sprintf(d.complexes, d.element(half, b[:len(b)/2]), d.element(half, b[len(b)/2:]), dtype)
	}
	if dtype == tensor.Float32 {
		return d.float(dtype.Get(b), 32)
	}
	return d.float(dtype.Get(b), 64)
}

// elements returns the elements of a storage.
func (d *dialect) elements(dtype tensor.DType, data []byte) (all []string) {
	for b := range slices.Chunk(data, dtype.Size()) {
		all = append(all, d.element(dtype, b))
	}
	return all
}

func (d *dialect) call(function string, args ...string) string {
	return d.namespace + function + "(" + strings.Join(args, ", ") + ")"
}

// tensor returns an expression that makes a tensor.
func (d *dialect) tensor(t *sample.TensorSpec, turn int) (string, error) {
	quantized, zero := quantizedAs(t)
	dtype := d.names(quantized)
	if dtype == "" {
		return "", fmt.Errorf("the dtype %s has no literal in %s", quantized, d.language)
	}
	like := *t
	switch t.Form {
	case engine.Zero:
		return d.call("_efficientzerotensor", d.tuple(t.Sizes), d.dtype+dtype), nil
	case engine.Quantized:
		like.DType = "float32"
		return d.call("quantize_per_tensor", d.dense(&like, turn), "0.1", zero, dtype), nil
	case engine.PerChannel:
		like.DType = "float32"
		full := func(v, dtype string) string { return d.call("full", d.tuple(t.Sizes[:1]), v, d.dtype+d.names(dtype)) }
		return d.call("quantize_per_channel", d.dense(&like, turn), full("0.1", "float64"), full(zero, "int64"), "0", dtype), nil
	case engine.Nested, engine.NestedEven:
		var parts []string
		for _, sizes := range nestedSizes(t) {
			parts = append(parts, d.dense(&sample.TensorSpec{DType: t.DType, Sizes: sizes}, turn))
		}
		return d.call("_nested_tensor_from_tensor_list", fmt.Sprintf(d.list, strings.Join(parts, ", "))), nil
	}
	form := cmp.Or(d.forms[t.Form], forms[t.Form])
	if form == "" {
		return "", fmt.Errorf("a %v tensor has no literal in %s", t.Form, d.language)
	}
	letters := make([]string, len(t.Sizes))
	for i := range letters {
		letters[i] = strconv.Quote(string(rune('A' + i)))
	}
	return strings.NewReplacer("{ns}", d.namespace, "{ones}", d.tuple([]int64{1, 1}), "{letters}", strings.Join(letters, ", "), "{sizes}", d.tuple(t.Sizes), "{}", d.dense(t, turn)).Replace(form), nil
}

// quantizedAs returns the dtype of a tensor, quantized where its form is, and the zero point.
func quantizedAs(t *sample.TensorSpec) (dtype, zero string) {
	dtype, zero = t.DType, "0"
	if as := map[engine.Form]string{engine.Quantized: "quint8", engine.PerChannel: "qint8"}[t.Form]; as != "" && dtype == "float32" {
		dtype = as
	}
	if dtype == "quint8" {
		zero = "64"
	}
	return dtype, zero
}

// nestedSizes returns those of the tensors in a nested one: as many as the first
// dimension is long, the last of them shorter unless all are even.
func nestedSizes(t *sample.TensorSpec) [][]int64 {
	all := make([][]int64, t.Sizes[0])
	for i := range all {
		all[i] = slices.Clone(t.Sizes[1:])
	}
	if last := len(all) - 1; t.Form == engine.Nested && last >= 0 && len(all[last]) > 0 && all[last][0] > 1 {
		all[last][0]--
	}
	return all
}

// dense returns an expression for a strided tensor, with all that its storage holds.
func (d *dialect) dense(t *sample.TensorSpec, turn int) string {
	var room []byte
	like := t.Dense(&room, turn)
	dtype := sample.Element(t.DType)
	flat := d.flat(d, dtype, like.Data)
	switch whole := int64(len(like.Data)) == sample.Size(t.Sizes)*int64(dtype.Size()) && t.Arrangement == tensor.Contiguous; {
	case whole && len(t.Sizes) == 1:
		return flat
	case whole:
		return fmt.Sprintf("%s.reshape(%s)", flat, d.tuple(t.Sizes))
	}
	return fmt.Sprintf("%s.as_strided(%s, %s, %d)", flat, d.tuple(like.Sizes), d.tuple(like.Strides), like.Offset)
}
