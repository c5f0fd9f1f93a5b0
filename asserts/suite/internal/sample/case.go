package sample

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/internal/slicesx"
	"github.com/opassert/opassert/internal/tensor"
)

func (v *Value) ReplaceInt(from, to int64) bool {
	if v.Kind == IntValue && v.Int == from && from != to {
		v.Int = to
		return true
	}
	changed := false
	for i := range v.List {
		changed = v.List[i].ReplaceInt(from, to) || changed
	}
	return changed
}

// Legal removes impossible combinations of properties.
func (t *TensorSpec) Legal() {
	rank := len(t.Sizes)
	c := Element(t.DType).Class()
	if t.Form != engine.Strided && t.Form != engine.Inference && t.Form != engine.Grad {
		t.Arrangement = tensor.Contiguous
	}
	q := quantizedDType(t.DType)
	if q && t.Form != engine.PerChannel {
		t.Form = engine.Quantized
	}
	wrong := false
	switch t.Form {
	case engine.CSR, engine.CSC, engine.BSR, engine.BSC:
		wrong = rank != 2 || t.DType == "bfloat16"
	case engine.Mkldnn:
		wrong = rank == 0 || t.DType != "float32"
	case engine.Quantized:
		wrong = t.DType != "float32" && !q
	case engine.PerChannel:
		wrong = t.DType != "float32" && !q || rank == 0
	case engine.Conjugate:
		wrong = c != tensor.Complex
	case engine.Grad:
		wrong = c != tensor.Complex && c != tensor.Floating
	case engine.Negative:
		wrong = c == tensor.Boolean
	case engine.Nested, engine.NestedEven:
		wrong = rank < 2
	case engine.COOHybrid: // with one dimension it is a COO tensor, without a dense part
		wrong = rank == 0
	}
	if wrong {
		t.SetForm(engine.Strided)
	}
	if d := Element(t.DType); counts(d) { // a recipe may have it
		largest, lowest, _ := d.Limits()
		t.Fill.Value = max(lowest, min(t.Fill.Value, largest+1))
	}
}

// SetForm changes the form, and the dtype if that belongs to another form.
func (t *TensorSpec) SetForm(f engine.Form) {
	if t.Form = f; quantizedDType(t.DType) && f != engine.Quantized && f != engine.PerChannel {
		t.DType = "float32"
	}
}

// A Case is one call as plain data. Its device is cpu; calls on other devices use the twins of its tensors.
type Case struct {
	Op     string // "aten::add.Tensor"
	Number int
	Names  []string // of the arguments
	Args   []Value  // one for each argument
	Agreed bool     // from a recipe: sizes that agree are not changed in the search for a smaller call
}

// A ValueKind is the kind of a Value, which determines the field that holds it.
type ValueKind uint8

const (
	DefaultValue   ValueKind = iota // the schema's default
	NoneValue                       // an optional argument left out, an undefined tensor
	TensorValue                     // Tensor
	IntValue                        // Int
	FloatValue                      // Float
	BoolValue                       // Int
	ComplexValue                    // Complex
	TextValue                       // Text
	DTypeValue                      // Text
	LayoutValue                     // Text
	FormatValue                     // Text
	DeviceValue                     // Text
	QSchemeValue                    // Text
	GeneratorValue                  // Int is the seed
	StorageValue                    // Tensor
	ListValue                       // List
	TupleValue                      // List
	DictValue                       // List, each key before its value
	CallValue                       // the first result of the op Text for the arguments List
	AfterValue                      // the first of the arguments List after a call of the op Text
	NewValue                        // an object of the custom class Text, constructed from List
	SameValue                       // the value of the earlier argument number Int; Text is its name in a recipe
)

// A Value is one argument of a case.
type Value struct {
	Kind    ValueKind
	Int     int64
	Float   float64
	Complex complex128
	Text    string
	Tensor  *TensorSpec
	List    []Value
}

// A TensorSpec describes how a tensor is made.
type TensorSpec struct {
	DType       string
	Sizes       []int64
	Arrangement tensor.Arrangement
	Form        engine.Form
	Fill        Fill
	Values      []float64 // the first elements, overriding Fill
	// Same, if not 0, is one more than the case's position of the tensor that this one is; other fields are then unused.
	Same int
	// View, if not 0, is one more than the position of an earlier tensor of the same size that this one views.
	View int
}

// A Fill describes the values of a tensor. The zero Fill is small positive values, which nearly every kernel accepts.
type Fill struct {
	Name  string // "" or one of fills
	Value float64
	High  float64 // the end of a range
}

func (f Fill) String() string {
	switch f.Name {
	case "":
		return ""
	case "in":
		return fmt.Sprintf("in:%g..%g", f.Value, f.High)
	case "below", "const", "ascending", "sum":
		return f.Name + ":" + strconv.FormatFloat(f.Value, 'g', -1, 64)
	}
	return f.Name
}

// String returns the tensor as in reports and recipes: float32[2, 3] sliced.
func (t *TensorSpec) String() string {
	if t.Same > 0 {
		return fmt.Sprintf("the same as tensor %d", t.Same)
	}
	if t.View > 0 {
		return fmt.Sprintf("a view of tensor %d", t.View)
	}
	words := []string{t.DType + sizesText(t.Sizes)}
	for _, w := range []string{tensor.Arrangements[t.Arrangement], tensor.Forms[t.Form], t.Fill.String()} {
		if w != "" {
			words = append(words, w)
		}
	}
	if n := min(int64(len(t.Values)), tensor.Numel(t.Sizes)); n > 0 { // a smaller tensor than the recipe's has some alone
		words = append(words, "= "+strings.ReplaceAll(fmt.Sprint(t.Values[:n]), " ", ", "))
	}
	return strings.Join(words, " ")
}

func sizesText(sizes []int64) string { return "[" + slicesx.Join(sizes, ", ", decimal) + "]" }

func decimal(n int64) string { return strconv.FormatInt(n, 10) }

// String returns the value as a reader would write it.
func (v Value) String() string {
	switch v.Kind {
	case DefaultValue:
		return "default"
	case NoneValue:
		return "None"
	case TensorValue:
		return v.Tensor.String()
	case IntValue:
		return decimal(v.Int)
	case FloatValue:
		return strconv.FormatFloat(v.Float, 'g', -1, 64)
	case BoolValue:
		return strconv.FormatBool(v.Int != 0)
	case ComplexValue:
		return strings.Trim(strconv.FormatComplex(v.Complex, 'g', -1, 128), "()")
	case TextValue:
		return strconv.Quote(v.Text)
	case GeneratorValue:
		return fmt.Sprintf("generator(%d)", v.Int)
	case StorageValue:
		return "storage of " + v.Tensor.String()
	case ListValue:
		return "[" + slicesx.Join(v.List, ", ", Value.String) + "]"
	case TupleValue, DictValue, CallValue, AfterValue, NewValue, SameValue:
		return v.Recipe()
	}
	return v.Text
}

// String returns the call, without arguments that have their defaults.
func (c *Case) String() string {
	var words []string
	for i, a := range c.Args {
		if a.Kind != DefaultValue {
			words = append(words, c.Names[i]+"="+a.String())
		}
	}
	return c.Op + "(" + strings.Join(words, ", ") + ")"
}

// Clone returns a copy that shares nothing with c.
func (c *Case) Clone() *Case {
	d := *c
	d.Args = CloneValues(c.Args)
	return &d
}

func CloneValues(values []Value) []Value {
	out := slices.Clone(values)
	for i := range out {
		out[i] = out[i].Clone()
	}
	return out
}

func (v Value) Clone() Value {
	if v.Tensor != nil {
		t := *v.Tensor
		t.Sizes, t.Values = slices.Clone(t.Sizes), slices.Clone(t.Values)
		v.Tensor = &t
	}
	v.List = CloneValues(v.List)
	return v
}

// Tensors returns every tensor of the case in order.
func (c *Case) Tensors() []*TensorSpec {
	var all []*TensorSpec
	for i := range c.Args {
		all = c.Args[i].AppendTensors(all)
	}
	return all
}

func (v *Value) AppendTensors(all []*TensorSpec) []*TensorSpec {
	if v.Kind == TensorValue {
		all = append(all, v.Tensor)
	}
	for i := range v.List {
		all = v.List[i].AppendTensors(all)
	}
	return all
}

// Short forms for the generator.

func None() Value           { return Value{Kind: NoneValue} }
func Int(n int64) Value     { return Value{Kind: IntValue, Int: n} }
func Float(f float64) Value { return Value{Kind: FloatValue, Float: f} }
func Text(s string) Value   { return Value{Kind: TextValue, Text: s} }

func Bool(b bool) Value {
	v := Value{Kind: BoolValue}
	if b {
		v.Int = 1
	}
	return v
}

func Ints(ns ...int64) Value { return Value{Kind: ListValue, List: slicesx.Map(ns, Int)} }

func Tensor(dtype string, sizes ...int64) Value {
	return Value{Kind: TensorValue, Tensor: &TensorSpec{DType: dtype, Sizes: slices.Clone(sizes)}}
}

// Ordinary reports whether every tensor of a call is dense and separate.
func (c *Case) Ordinary() bool {
	return !slices.ContainsFunc(c.Tensors(), func(t *TensorSpec) bool { return t.Form != engine.Strided || t.Same > 0 })
}

// Shape returns the properties by which bases are distinguished: kinds of arguments, ranks and dtypes.
func (c *Case) Shape() string {
	var b strings.Builder
	for _, a := range c.Args {
		b.WriteString(strconv.Itoa(int(a.Kind)))
	}
	for _, t := range c.Tensors() {
		b.WriteString(" " + t.DType + tensor.Forms[t.Form] + strconv.Itoa(len(t.Sizes)))
	}
	return b.String()
}

// Rank returns the largest number of dimensions of the call's tensors.
func (c *Case) Rank() int {
	most := 0
	for _, t := range c.Tensors() {
		most = max(most, len(t.Sizes))
	}
	return most
}

// Omits reports whether argument i is omitted.
func (c *Case) Omits(i int) bool {
	return c.Args[i].Kind == NoneValue || c.Args[i].Kind == DefaultValue
}

// Plain reports whether every tensor of the case has a twin on meta.
func (c *Case) Plain() bool {
	return !slices.ContainsFunc(c.Tensors(), func(t *TensorSpec) bool { return t.Form != engine.Strided }) &&
		!slices.ContainsFunc(c.Args, func(v Value) bool {
			return v.Kind == CallValue || v.Kind == AfterValue || v.Kind == SameValue || v.Kind > ListValue &&
				len(v.AppendTensors(nil)) > 0
		})
}

// Shares reports whether a tensor of the case is another one, or a view of it.
func (c *Case) Shares() bool {
	return slices.ContainsFunc(c.Tensors(), func(t *TensorSpec) bool { return t.Same > 0 || t.View > 0 })
}

// mostElements limits the elements of a tensor in a case: more find no more, and kernels of cubic time take too long.
const mostElements = 1 << 18

func (c *Case) Huge() bool {
	return slices.ContainsFunc(c.Tensors(), func(t *TensorSpec) bool { return tensor.Numel(t.Sizes) > mostElements })
}
