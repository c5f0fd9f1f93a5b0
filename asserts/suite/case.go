package suite

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A Case is one call as plain data. Its device is cpu; the call on meta takes
// the twins of its tensors.
type Case struct {
	Op     string // "aten::add.Tensor"
	Number int
	Names  []string // of the arguments
	Args   []Value  // one for each argument
	Agreed bool     // a recipe says them: sizes that agree stay as they are where a smaller call is looked for
}

// A Kind says which of a Value's fields hold it.
type Kind uint8

const (
	DefaultValue   Kind = iota // the schema's default
	NoneValue                  // an optional argument left out, an undefined tensor
	TensorValue                // Tensor
	IntValue                   // Int
	FloatValue                 // Float
	BoolValue                  // Int
	ComplexValue               // Complex
	TextValue                  // Text
	DTypeValue                 // Text
	LayoutValue                // Text
	FormatValue                // Text
	DeviceValue                // Text
	QSchemeValue               // Text
	GeneratorValue             // Int is the seed
	StorageValue               // Tensor
	ListValue                  // List
	TupleValue                 // List
	DictValue                  // List, each key before its value
	CallValue                  // what the op Text returns for the arguments List, its first result
	AfterValue                 // the first of the arguments List after a call of the op Text
	NewValue                   // what the constructor of the custom class Text makes of List
	SameValue                  // what the earlier argument number Int is; Text is how a recipe refers to it
)

// A Value is one argument of a case.
type Value struct {
	Kind    Kind
	Int     int64
	Float   float64
	Complex complex128
	Text    string
	Tensor  *TensorSpec
	List    []Value
}

// A TensorSpec says how a tensor is made.
type TensorSpec struct {
	DType       string
	Sizes       []int64
	Arrangement Arrangement
	Form        Form
	Fill        Fill
	Values      []float64 // the first elements, instead of those of Fill
	// Same, when not 0, is one more than the position among the case's tensors
	// of the tensor that this one is; nothing else here counts then.
	Same int
	// View, when not 0, is one more than the position of an earlier tensor whose
	// storage this one is a view of, as large as that tensor.
	View int
}

// An Arrangement says how the elements of a dense tensor lie in its storage.
type Arrangement uint8

const (
	Contiguous   Arrangement = iota
	Transposed               // the last two dimensions are swapped in memory
	Sliced                   // every other element of a larger storage, with an offset
	Expanded                 // stride 0 in the first dimension
	ChannelsLast             // four and five dimensions: channels innermost
	Offset                   // contiguous, behind other elements of its storage
)

var arrangements = []string{"", "transposed", "sliced", "expanded", "channels-last", "offset"}

// A Form says what sort of tensor it is.
type Form uint8

const (
	Strided Form = iota
	COO
	CSR
	CSC
	BSR
	BSC
	Mkldnn
	Quantized
	PerChannel // quantized by channel
	Nested
	Functional // in a functional wrapper
	Conjugate  // a lazy conjugate
	Negative   // a lazy negative
	Zero       // without storage, all zero
	Inference
	Named // with dimension names A, B, ...
	COOUncoalesced
	COOHybrid  // dense but for the first dimension
	NestedEven // of tensors of the same sizes
	Grad       // requires_grad is set
)

var forms = []string{"", "coo", "csr", "csc", "bsr", "bsc", "mkldnn", "quantized", "per-channel", "nested", "functional",
	"conj", "neg", "zero", "inference", "named", "coo-uncoalesced", "coo-hybrid", "nested-even", "requires-grad"}

// String names the form: "coo", "strided".
func (f Form) String() string { return cmp.Or(forms[f], "strided") }

// A Fill says which values a tensor holds. The zero Fill is small positive
// values, which nearly every kernel takes.
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

// String returns the tensor as reports and recipes write it: float32[2, 3] sliced.
func (t *TensorSpec) String() string {
	if t.Same > 0 {
		return fmt.Sprintf("the same as tensor %d", t.Same)
	}
	if t.View > 0 {
		return fmt.Sprintf("a view of tensor %d", t.View)
	}
	words := []string{t.DType + sizesText(t.Sizes)}
	for _, w := range []string{arrangements[t.Arrangement], forms[t.Form], t.Fill.String()} {
		if w != "" {
			words = append(words, w)
		}
	}
	if len(t.Values) > 0 {
		words = append(words, "= "+strings.ReplaceAll(fmt.Sprint(t.Values), " ", ", "))
	}
	return strings.Join(words, " ")
}

func sizesText(sizes []int64) string {
	words := make([]string, len(sizes))
	for i, s := range sizes {
		words[i] = strconv.FormatInt(s, 10)
	}
	return "[" + strings.Join(words, ", ") + "]"
}

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
		return strconv.FormatInt(v.Int, 10)
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
		words := make([]string, len(v.List))
		for i, e := range v.List {
			words[i] = e.String()
		}
		return "[" + strings.Join(words, ", ") + "]"
	case TupleValue, DictValue, CallValue, AfterValue, NewValue, SameValue:
		return v.recipe()
	}
	return v.Text
}

// String returns the call; arguments left to their defaults are not shown.
func (c *Case) String() string {
	var words []string
	for i, a := range c.Args {
		if a.Kind != DefaultValue {
			words = append(words, c.Names[i]+"="+a.String())
		}
	}
	return c.Op + "(" + strings.Join(words, ", ") + ")"
}

// clone returns a copy that shares nothing with c.
func (c *Case) clone() *Case {
	d := *c
	d.Args = cloneValues(c.Args)
	return &d
}

func cloneValues(values []Value) []Value {
	out := slices.Clone(values)
	for i := range out {
		out[i] = out[i].clone()
	}
	return out
}

func (v Value) clone() Value {
	if v.Tensor != nil {
		t := *v.Tensor
		t.Sizes, t.Values = slices.Clone(t.Sizes), slices.Clone(t.Values)
		v.Tensor = &t
	}
	v.List = cloneValues(v.List)
	return v
}

// tensors returns every tensor of the case in order.
func (c *Case) tensors() []*TensorSpec {
	var all []*TensorSpec
	for i := range c.Args {
		all = c.Args[i].appendTensors(all)
	}
	return all
}

func (v *Value) appendTensors(all []*TensorSpec) []*TensorSpec {
	if v.Kind == TensorValue {
		all = append(all, v.Tensor)
	}
	for i := range v.List {
		all = v.List[i].appendTensors(all)
	}
	return all
}

// Short forms for the generator.

func none() Value           { return Value{Kind: NoneValue} }
func integer(n int64) Value { return Value{Kind: IntValue, Int: n} }
func real(f float64) Value  { return Value{Kind: FloatValue, Float: f} }
func word(s string) Value   { return Value{Kind: TextValue, Text: s} }

func truth(b bool) Value {
	v := Value{Kind: BoolValue}
	if b {
		v.Int = 1
	}
	return v
}

func integers(ns ...int64) Value {
	v := Value{Kind: ListValue}
	for _, n := range ns {
		v.List = append(v.List, integer(n))
	}
	return v
}

func tensor(dtype string, sizes ...int64) Value {
	return Value{Kind: TensorValue, Tensor: &TensorSpec{DType: dtype, Sizes: slices.Clone(sizes)}}
}
