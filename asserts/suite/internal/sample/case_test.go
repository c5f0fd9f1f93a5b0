package sample

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/internal/tensor"
)

// value parses a valid value.
func value(t *testing.T, text string) Value {
	t.Helper()
	v, err := ParseValue(text, NewSymbols(0))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

// call makes a case of values: its arguments are a, b, c, ...
func call(t *testing.T, texts ...string) *Case {
	t.Helper()
	c := &Case{Op: "aten::f"}
	for i, text := range texts {
		c.Names = append(c.Names, string(rune('a'+i)))
		c.Args = append(c.Args, value(t, text))
	}
	c.Refer()
	return c
}

func TestReplaceInt(t *testing.T) {
	for _, tt := range []struct {
		text     string
		from, to int64
		want     string
		changed  bool
	}{
		{"3", 3, 5, "5", true},
		{"3", 4, 5, "3", false},
		{"3", 3, 3, "3", false},
		{"3.0", 0, 5, "3.0", false},
		{"[3, 4]", 3, 5, "[5, 4]", true},
		{"[4, 3]", 3, 5, "[4, 5]", true},
		{"[4, [3]]", 3, 5, "[4, [5]]", true},
		{"[4]", 3, 5, "[4]", false},
	} {
		v := value(t, tt.text)
		if changed := v.ReplaceInt(tt.from, tt.to); changed != tt.changed || v.Recipe() != tt.want {
			t.Errorf("%d for %d in %s: %s, %v", tt.to, tt.from, tt.text, v.Recipe(), changed)
		}
	}
}

// A form remains if the dtype and the dimensions allow it.
func TestLegal(t *testing.T) {
	for _, tt := range []struct {
		dtype string
		rank  int
		form  engine.Form
		want  string
	}{
		{"float32", 2, engine.CSR, "float32[2, 2] csr"},
		{"float32", 3, engine.CSR, "float32[2, 2, 2]"},
		{"bfloat16", 2, engine.CSC, "bfloat16[2, 2]"},
		{"float32", 1, engine.Mkldnn, "float32[2] mkldnn"},
		{"float32", 0, engine.Mkldnn, "float32[]"},
		{"float64", 1, engine.Mkldnn, "float64[2]"},
		{"float32", 1, engine.Quantized, "float32[2] quantized"},
		{"quint8", 1, engine.Quantized, "quint8[2] quantized"},
		{"quint8", 1, engine.Strided, "quint8[2] quantized"},
		{"quint8", 1, engine.COO, "quint8[2] quantized"},
		{"float64", 1, engine.Quantized, "float64[2]"},
		{"float32", 1, engine.PerChannel, "float32[2] per-channel"},
		{"qint32", 1, engine.PerChannel, "qint32[2] per-channel"},
		{"qint32", 0, engine.PerChannel, "float32[]"},
		{"float64", 1, engine.PerChannel, "float64[2]"},
		{"complex64", 1, engine.Conjugate, "complex64[2] conj"},
		{"float32", 1, engine.Conjugate, "float32[2]"},
		{"float32", 1, engine.Grad, "float32[2] requires-grad"},
		{"complex64", 1, engine.Grad, "complex64[2] requires-grad"},
		{"int64", 1, engine.Grad, "int64[2]"},
		{"int64", 1, engine.Negative, "int64[2] neg"},
		{"bool", 1, engine.Negative, "bool[2]"},
		{"float32", 2, engine.Nested, "float32[2, 2] nested"},
		{"float32", 1, engine.NestedEven, "float32[2]"},
		{"float32", 1, engine.COOHybrid, "float32[2] coo-hybrid"},
		{"float32", 0, engine.COOHybrid, "float32[]"},
	} {
		spec := TensorSpec{DType: tt.dtype, Form: tt.form}
		for range tt.rank {
			spec.Sizes = append(spec.Sizes, 2)
		}
		before := spec.String()
		if spec.Legal(); spec.String() != tt.want {
			t.Errorf("%s becomes %s, want %s", before, &spec, tt.want)
		}
	}
}

// A bound that no number of a dtype reaches is replaced by one that recipes can have.
func TestLegalBounds(t *testing.T) {
	for text, want := range map[string]string{
		"bool below:100000": "bool[2] below:2", "uint8 below:100000": "uint8[2] below:256", "int16 below:100000": "int16[2] below:32768", "float16 below:100000": "float16[2] below:100000",
		"uint8 const:-1": "uint8[2] const:0", "int8 const:-1": "int8[2] const:-1",
	} {
		dtype, fill, _ := strings.Cut(text, " ")
		name, number, _ := strings.Cut(fill, ":")
		value, err := strconv.ParseFloat(number, 64)
		spec := TensorSpec{DType: dtype, Sizes: []int64{2}, Fill: Fill{Name: name, Value: value}}
		if spec.Legal(); err != nil || spec.String() != want {
			t.Errorf("%s is %s, want %s", text, &spec, want)
		}
		if _, err := ParseValue(spec.String(), nil); err != nil {
			t.Error(err)
		}
	}
}

// A tensor that has become smaller than its values is written with those that it has.
func TestValuesOfSmallerTensor(t *testing.T) {
	for want, sizes := range map[string][]int64{"int8[1, 2] = [3, 0.5]": {1, 2}, "int8[1] = [3]": {1}, "int8[0]": {0}, "int8[] = [3]": nil} {
		if spec := (TensorSpec{DType: "int8", Sizes: sizes, Values: []float64{3, 0.5}}); spec.String() != want {
			t.Errorf("%s, want %s", &spec, want)
		}
	}
}

// Only dense tensors have arrangements.
func TestLegalArrangement(t *testing.T) {
	for form, want := range map[engine.Form]string{
		engine.Strided: "float32[2] sliced", engine.Inference: "float32[2] sliced inference", engine.Grad: "float32[2] sliced requires-grad", engine.COO: "float32[2] coo",
	} {
		spec := TensorSpec{DType: "float32", Sizes: []int64{2}, Arrangement: tensor.Sliced, Form: form}
		if spec.Legal(); spec.String() != want {
			t.Errorf("%s, want %s", &spec, want)
		}
	}
}

func TestSetForm(t *testing.T) {
	for _, tt := range []struct {
		dtype string
		form  engine.Form
		want  string
	}{
		{"quint8", engine.Strided, "float32"}, {"quint8", engine.Quantized, "quint8"}, {"quint8", engine.PerChannel, "quint8"}, {"int64", engine.Strided, "int64"},
	} {
		spec := TensorSpec{DType: tt.dtype}
		if spec.SetForm(tt.form); spec.DType != tt.want || spec.Form != tt.form {
			t.Errorf("%s made %v: %s", tt.dtype, tt.form, &spec)
		}
	}
}

// A call as in reports.
func TestCaseString(t *testing.T) {
	c := call(t, "float32[2]", "same:a", "view:a", "default", "true", "false", "storage:int8[2]", "dtype:int8", "generator", "none", "'x'", "1+2i", "{'k': 1}")
	const want = `aten::f(a=float32[2], b=the same as tensor 1, c=a view of tensor 1, e=true, f=false, g=storage of int8[2], h=int8, i=generator(7), j=None, k="x", l=1+2i, m={'k': 1})`
	if diff := cmp.Diff(want, c.String()); diff != "" {
		t.Error(diff)
	}
}

// A change of a copy does not change the case.
func TestClone(t *testing.T) {
	c := call(t, "[float32[2, 3] = [1]]")
	before := c.String()
	copied := c.Clone().Tensors()[0]
	copied.Sizes[0], copied.Values[0], copied.DType = 7, 7, "int8"
	if c.String() != before {
		t.Errorf("%v, want %s", c, before)
	}
}

func TestKindsOfCase(t *testing.T) {
	for _, tt := range []struct {
		texts                 []string
		ordinary, plain, huge bool
		rank                  int
	}{
		{[]string{"float32[2, 3]", "[t[2]]"}, true, true, false, 2},
		{[]string{"t[2] coo"}, false, false, false, 1},
		{[]string{"t[2]", "same:a"}, false, true, false, 1},
		{[]string{"t[2] coo", "same:a"}, false, false, false, 1},
		{[]string{"[t[2], t[2] coo]"}, false, false, false, 1},
		{[]string{"ns::empty()"}, true, false, false, 0},
		{[]string{"after ns::f(3)"}, true, false, false, 0},
		{[]string{"3", "same:a"}, true, false, false, 0},
		{[]string{"(1, 2)"}, true, true, false, 0},
		{[]string{"(1, t[2])"}, true, false, false, 1},
		{[]string{"ns.Class(3)"}, true, true, false, 0},
		{[]string{"[1, t[2]]"}, true, true, false, 1},
		{[]string{"int8[512, 512]"}, true, true, false, 2},
		{[]string{"int8[512, 513]"}, true, true, true, 2},
		{nil, true, true, false, 0},
	} {
		c := call(t, tt.texts...)
		if c.Ordinary() != tt.ordinary || c.Plain() != tt.plain || c.Huge() != tt.huge || c.Rank() != tt.rank {
			t.Errorf("%v: ordinary %v, plain %v, huge %v, rank %d", c, c.Ordinary(), c.Plain(), c.Huge(), c.Rank())
		}
	}
}

func TestOmits(t *testing.T) {
	c := call(t, "none", "default", "0")
	for i, want := range []bool{true, true, false} {
		if c.Omits(i) != want {
			t.Errorf("argument %d: %v", i, !want)
		}
	}
}

// Calls have one shape if kinds, ranks and dtypes are equal.
func TestShape(t *testing.T) {
	shape := call(t, "float32[2, 3]", "1").Shape()
	if same := call(t, "float32[4, 1]", "7").Shape(); same != shape {
		t.Errorf("%q and %q, want the same", same, shape)
	}
	for _, texts := range [][]string{{"float64[2, 3]", "1"}, {"float32[2]", "1"}, {"float32[2, 3] coo", "1"}, {"float32[2, 3]", "1.5"}} {
		if other := call(t, texts...).Shape(); other == shape {
			t.Errorf("%v: %q", texts, other)
		}
	}
}

func TestElement(t *testing.T) {
	for name, want := range map[string]tensor.DType{"int8": tensor.Int8, ThemeDType: tensor.Float32, "quint8": tensor.Float32, "bool": tensor.Bool} {
		if got := Element(name); got != want {
			t.Errorf("%s is made from %v", name, got)
		}
	}
	for d, want := range map[tensor.DType]bool{tensor.Bool: true, tensor.Int64: true, tensor.Float32: false, tensor.Complex64: false} {
		if counts(d) != want {
			t.Errorf("%v has whole numbers alone: %v", d, !want)
		}
	}
}

// A tensor that is another one, or a view of it, is shared.
func TestShares(t *testing.T) {
	for _, tt := range []struct {
		spec TensorSpec
		want bool
	}{{TensorSpec{}, false}, {TensorSpec{Same: 1}, true}, {TensorSpec{View: 1}, true}} {
		c := &Case{Args: []Value{{Kind: TensorValue, Tensor: &tt.spec}}}
		if got := c.Shares(); got != tt.want {
			t.Errorf("%+v: %v", tt.spec, got)
		}
	}
}
