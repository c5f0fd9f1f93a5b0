package sample

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseValue(t *testing.T) {
	for _, tt := range []struct {
		text string
		want Value
	}{
		{"9007199254740993", Int(9007199254740993)},
		{"true", Bool(true)},
		{"false", Bool(false)},
		{"none", None()},
		{"default", Value{}},
		{"device:cuda:1", Value{Kind: DeviceValue, Text: "cuda:1"}},
		{"dtype:int8", Value{Kind: DTypeValue, Text: "int8"}},
		{"[1, 2, ]", Ints(1, 2)},
		{"my.Queue(1)", Value{Kind: NewValue, Text: CustomClasses + "my.Queue", List: []Value{Int(1)}}},
		{"ns::f(1)", Value{Kind: CallValue, Text: "ns::f", List: []Value{Int(1)}}},
		{"after ns::f(1)", Value{Kind: AfterValue, Text: "ns::f", List: []Value{Int(1)}}},
		{"n", Int(2)},
		{"-n", Int(-2)},
		{"2*n-1", Int(3)},
		{"n+m", Int(5)},
		{"t[2] conj", Value{Kind: TensorValue, Tensor: &TensorSpec{DType: "t", Sizes: []int64{2}, Form: 11}}},
		{"quint8[1]", Tensor("quint8", 1)},
		{"float32[n] = [1, 2.5, true]", Value{Kind: TensorValue, Tensor: &TensorSpec{DType: "float32", Sizes: []int64{2}, Values: []float64{1, 2.5}}}},
		{"uint8[2] = [0, 255]", Value{Kind: TensorValue, Tensor: &TensorSpec{DType: "uint8", Sizes: []int64{2}, Values: []float64{0, 255}}}},
		{"uint8[1] below:256", filled("uint8", Fill{Name: "below", Value: 256})},
		{"uint8[1] sum:0", filled("uint8", Fill{Name: "sum"})},
		{"uint8[1] ascending:0", filled("uint8", Fill{Name: "ascending"})},
		{"float32[1] const:-1", filled("float32", Fill{Name: "const", Value: -1})},
		{"float32[1] const:inf", filled("float32", Fill{Name: "const", Value: math.Inf(1)})},
		{"float32[1] in:-1..n", filled("float32", Fill{Name: "in", Value: -1, High: 2})},
	} {
		if diff := cmp.Diff(tt.want, value(t, tt.text)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.text, diff)
		}
	}
}

func filled(dtype string, f Fill) Value {
	v := Tensor(dtype, 1)
	v.Tensor.Fill = f
	return v
}

func TestParseValueRefuses(t *testing.T) {
	for _, tt := range []struct {
		text string
		at   int
		want string
	}{
		{"1 2", 2, `unexpected "2" after the value`},
		{"]", 0, `"" is not a value`},
		{"", 0, `"" is not a value: want one; write None, or leave out the argument`},
		{"1x", 0, `"1x" is not a value`},
		{"?", 0, `"?" is not a value`},
		{"device", 0, `"device" is not a value: put a text in quotes, 'device'; a name of more than one letter must be the size of a tensor here`},
		{"foo:bar", 0, `"foo:bar" is not a value`},
		{"n+", 0, `"n+" is not a value: put a text in quotes, 'n+'; a name of more than one letter must be the size of a tensor here`},
		{"n++m", 0, `"n++m" is not a value: put a text in quotes, 'n++m'; a name of more than one letter must be the size of a tensor here`},
		{"rows", 0, `"rows" is not a value: put a text in quotes, 'rows'; a name of more than one letter must be the size of a tensor here`},
		{"t[none]", 2, `"none" is not a size: want a whole number, or one with symbols such as n or 2*n+1`},
		{"t[2.5]", 2, `"2.5" is not a size: want a whole number, or one with symbols such as n or 2*n+1`},
		{"[1 2]", 3, "the list is not closed: want ]"},
		{"[1, ?", 4, `"?" is not a value`},
		{"[?, 2]", 1, `"?" is not a value`},
		{"{'a': 1 'b': 2}", 8, "the dict is not closed: want }"},
		{"{?: 1}", 1, `"?" is not a value`},
		{"after ns::push", 6, "after is followed by a call of an op, ns::op(t[2])"},
		{"float32[2] = 1", 13, "the values of a tensor are a list: = [1, 2]"},
		{"float32[2] = ['a']", 18, "'a' is not a number"},
		{"uint8[2] = [-1]", 12, "-1 is not of dtype uint8"},
		{"uint8[2] = [256]", 12, "256 is not of dtype uint8"},
		{"uint8[2] = [0.5]", 12, "0.5 is not of dtype uint8"},
		{"float32[1] = [1, 2]", 14, "2 values for a tensor of 1 elements"},
		{"t[2] range below:0", 11, "below:0 has no such numbers: they begin with 0"},
		{"t[2] sum:-1", 5, "sum:-1 has no such numbers: they begin with 0"},
		{"t[2] ascending:-1", 5, "ascending:-1 has no such numbers: they begin with 0"},
		{"uint8[2] const:-1", 9, "const:-1: uint8 has no such numbers"},
		{"uint8[2] below:257", 9, "below:257: uint8 has no such numbers"},
		{"uint8[2] in:-1..3", 9, "in:-1..3: uint8 has no such numbers"},
		{"float32[2] conj", 15, "float32[2] can't be conj"},
		{"t[2, -1] sliced sliced", 5, "the size -1 is below 0"},
		{"t[2] sliced padded", 12, "sliced and padded can't be combined: both are a layout in memory"},
	} {
		_, err := ParseValue(tt.text, NewSymbols(0))
		if e, ok := err.(*ValueError); !ok || e.At != tt.at || e.Error() != tt.want {
			t.Errorf("%q: %#v, want %d: %s", tt.text, err, tt.at, tt.want)
		}
	}
}

// A word is a symbol if it is the size of a tensor, or while all are accepted.
func TestSymbolsOfWords(t *testing.T) {
	s := NewSymbols(0)
	for _, tt := range []struct {
		text string
		any  bool
		want bool
	}{{"rows", false, false}, {"rows", true, true}, {"t[rows]", false, true}, {"rows-1", false, true}, {"columns", false, false}} {
		s.Any = tt.any
		if _, err := ParseValue(tt.text, s); (err == nil) != tt.want {
			t.Errorf("%s: %v", tt.text, err)
		}
	}
}
