package repro

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
	"github.com/opassert/opassert/internal/slicesx"
	"github.com/opassert/opassert/internal/tensor"
	"github.com/opassert/opassert/schema"
)

type dialect struct {
	language   string
	statements func() *template.Template

	literals
	declared string // a statement that declares a variable with an expression
	end      string // of a statement
	item     string // a variable for an item of a list in a variable, by index
	called   func(op string, args []string) string
	// nil if methods of custom classes are called like ops
	method func(object, name string, args []string) string
	holds  func(v *sample.Value, argument int, items []string) string // an expression for a container, or ""
}

type program struct {
	*dialect
	op      *schema.Op
	lines   []string // statements
	names   []string // a variable for each argument, "" if it is written in the call
	tensors []string // one for each tensor of the case
}

func (p *program) line(format string, args ...any) {
	p.lines = append(p.lines, fmt.Sprintf(format, args...))
}

// Lines returns the statements.
func (p *program) Lines() string { return strings.Join(p.lines, "\n") }

// Verdict ends the program.
func (p *program) Verdict(fault, says string) string { return p.verdict(fault, says, "") }

func (p *program) argument(of asserts.Place) (string, error) {
	if of.Index >= len(p.names) || p.names[of.Index] == "" {
		return "", fmt.Errorf("the argument %s is not in the call", of.Name)
	}
	return p.names[of.Index], nil
}

func (p *program) value(v *sample.Value, argument int, name string) (string, error) {
	switch {
	case v.Kind == sample.TensorValue:
		return p.variable(v.Tensor, name, p.tensor)
	case v.Kind == sample.SameValue && p.names[v.Int] != "":
		return p.names[v.Int], nil
	case v.Kind < sample.ListValue || v.Kind == sample.SameValue:
		return p.scalar(v)
	}
	items := make([]string, len(v.List))
	for i := range v.List {
		var err error
		if items[i], err = p.value(&v.List[i], argument, fmt.Sprintf(p.item, name, i)); err != nil {
			return "", err
		}
	}
	switch v.Kind {
	case sample.CallValue:
		return p.call(v, items), nil
	case sample.AfterValue:
		first := fmt.Sprintf(strings.ReplaceAll(p.item, "%d", "%s"), name, "first")
		p.line(p.declared, first, items[0])
		items[0] = first
		p.line("%s", p.call(v, items)+p.end)
		return first, nil
	}
	if text := p.holds(v, argument, items); text != "" {
		return text, nil
	}
	return p.scalar(v)
}

func (p *program) call(v *sample.Value, args []string) string {
	if class, name, ok := strings.Cut(v.Text, "."); ok && p.method != nil && len(args) > 0 {
		object := &v.List[0]
		for object.Kind == sample.AfterValue {
			object = &object.List[0]
		}
		if object.Kind == sample.NewValue && object.Text == sample.CustomClasses+strings.Replace(class, "::", ".", 1) {
			return p.method(args[0], name, args[1:])
		}
	}
	return p.called(v.Text, args)
}

func (p *program) variable(t *sample.TensorSpec, name string,
	makes func(t *sample.TensorSpec, turn int) (string, error)) (string, error) {
	text := ""
	var err error
	switch {
	case t.Same > 0 && t.Same <= len(p.tensors):
		name = p.tensors[t.Same-1]
	case t.View > 0 && t.View <= len(p.tensors) && p.namespace != "":
		text = fmt.Sprintf("%[1]s.view_as(%[1]s)", p.tensors[t.View-1])
	default:
		text, err = makes(t, len(p.tensors))
	}
	if text != "" {
		p.line(p.declared, name, text)
	}
	p.tensors = append(p.tensors, name)
	return name, err
}

type literals struct {
	values    map[sample.ValueKind]string // the form around the text of a value
	booleans  [2]string                   // false and true
	numbers   map[string]string           // those with a form other than digits, and other than in Go
	complexes string                      // an element of two numbers and a dtype

	// The following are for PyTorch.
	namespace string
	names     func(string) string // of dtypes, layouts, formats and quantization schemes, or ""
	dtype     string              // the keyword for a dtype
	list      string
	tuple     func([]int64) string
	flat      func(*dialect, tensor.DType, []byte) string // a one-dimensional tensor
	forms     map[engine.Form]string                      // in addition to those of every language
}

// forms are the expressions that convert a dense tensor, {}, to another form: {ns} is the namespace
// of functions, {ones} the sizes of a block, {letters} names of dimensions.
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

func (d *dialect) elements(dtype tensor.DType, data []byte) (all []string) {
	for b := range slices.Chunk(data, dtype.Size()) {
		all = append(all, d.element(dtype, b))
	}
	return all
}

func (d *dialect) call(function string, args ...string) string {
	return d.namespace + function + "(" + strings.Join(args, ", ") + ")"
}

func (d *dialect) tensor(t *sample.TensorSpec, turn int) (string, error) {
	quantized, zero := quantizedAs(t)
	dtype := d.names(quantized)
	if dtype == "" {
		return "", fmt.Errorf("the dtype %s has no literal in %s", quantized, d.language)
	}
	switch like := *t; t.Form {
	case engine.Zero:
		return d.call("_efficientzerotensor", d.tuple(t.Sizes), d.dtype+dtype), nil
	case engine.Quantized:
		like.DType = "float32"
		return d.call("quantize_per_tensor", d.dense(&like, turn), "0.1", zero, dtype), nil
	case engine.PerChannel:
		like.DType = "float32"
		full := func(v, dtype string) string { return d.call("full", d.tuple(t.Sizes[:1]), v, d.dtype+d.names(dtype)) }
		return d.call("quantize_per_channel", d.dense(&like, turn), full("0.1", "float64"), full(zero, "int64"),
			"0", dtype), nil
	case engine.Nested, engine.NestedEven:
		return d.call("_nested_tensor_from_tensor_list",
			fmt.Sprintf(d.list, slicesx.Join(nestedSizes(t), ", ",
				func(sizes []int64) string { return d.dense(&sample.TensorSpec{DType: t.DType, Sizes: sizes}, turn) }))), nil
	}
	form := cmp.Or(d.forms[t.Form], forms[t.Form])
	if form == "" {
		return "", fmt.Errorf("a %v tensor has no literal in %s", t.Form, d.language)
	}
	letters := make([]string, len(t.Sizes))
	for i := range letters {
		letters[i] = strconv.Quote(string(rune('A' + i)))
	}
	return strings.NewReplacer("{ns}", d.namespace, "{ones}", d.tuple([]int64{1, 1}), "{letters}",
		strings.Join(letters, ", "), "{sizes}", d.tuple(t.Sizes), "{}", d.dense(t, turn)).Replace(form), nil
}

// quantizedAs returns the dtype of a tensor, quantized if its form is, and the zero point.
func quantizedAs(t *sample.TensorSpec) (dtype, zero string) {
	dtype, zero = t.DType, "0"
	if as := map[engine.Form]string{engine.Quantized: "quint8", engine.PerChannel: "qint8"}[t.Form]; as != "" &&
		dtype == "float32" {
		dtype = as
	}
	if dtype == "quint8" {
		zero = "64"
	}
	return dtype, zero
}

// nestedSizes returns the sizes of the tensors in a nested one: one for each row, the last shorter unless all are even.
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

func (d *dialect) dense(t *sample.TensorSpec, turn int) string {
	var room []byte
	like := t.Dense(&room, turn)
	dtype := sample.Element(t.DType)
	flat := d.flat(d, dtype, like.Data)
	switch whole := int64(len(like.Data)) == tensor.Numel(t.Sizes)*int64(dtype.Size()) &&
		t.Arrangement == tensor.Contiguous; {
	case whole && len(t.Sizes) == 1:
		return flat
	case whole:
		return fmt.Sprintf("%s.reshape(%s)", flat, d.tuple(t.Sizes))
	}
	return fmt.Sprintf("%s.as_strided(%s, %s, %d)", flat, d.tuple(like.Sizes), d.tuple(like.Strides), like.Offset)
}

// mostWritten is the number of elements up to which they are written one by one.
const mostWritten = 64

// period returns the number of bytes after which elements repeat.
func period(data []byte, size int) int {
	for p := size; p <= min(mostWritten*size, len(data)/2); p += size {
		if string(data[p:]) == string(data[:len(data)-p]) {
			return p
		}
	}
	return len(data)
}

// spelled reports whether elements of a dtype are written as numbers.
func spelled(dtype tensor.DType) bool {
	switch dtype.Class() {
	case tensor.Integral, tensor.Boolean:
		return true
	case tensor.Floating:
		return dtype.Size() >= 2
	case tensor.Complex:
		return dtype != tensor.Complex32
	}
	return false
}

// integer formats all digits; a float64 has only 53 bits.
func integer(dtype tensor.DType, b []byte) string {
	n, shift := binary.LittleEndian.Uint64(append(make([]byte, 8-len(b)), b...)), 64-8*len(b)
	if _, lowest, _ := dtype.Limits(); lowest < 0 {
		return strconv.FormatInt(int64(n)>>shift, 10)
	}
	return strconv.FormatUint(n>>shift, 10)
}

// float returns the shortest number that is parsed as this one, in a number of bits.
func float(v float64, bits int) string {
	text := strconv.FormatFloat(v, 'g', -1, bits)
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return strings.ToLower(strings.TrimPrefix(text, "+"))
	}
	// in 64 bits, as PyTorch parses it
	if read, _ := strconv.ParseFloat(text, 64); bits == 32 && math.Abs(read) > math.MaxFloat32 {
		return float(v, 64)
	}
	if _, err := strconv.ParseInt(text, 10, 64); err == nil {
		text += ".0"
	}
	return text
}

func tuple(ns []int64) string {
	words := slicesx.Map(ns, func(n int64) string { return strconv.FormatInt(n, 10) })
	if len(ns) == 1 {
		return "(" + words[0] + ",)"
	}
	return "(" + strings.Join(words, ", ") + ")"
}
