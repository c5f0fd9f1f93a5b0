package sample

import (
	"math"
	"testing"

	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/internal/tensor"
)

// Cases that make different calls have different keys, and a clone has the same key.
func TestKey(t *testing.T) {
	one := func(v TensorSpec) Value { return Value{Kind: TensorValue, Tensor: &v} }
	had := make(map[string]int)
	for i, args := range [][]Value{
		{}, {{}}, {{}, {}}, {None()}, {Int(1)}, {Float(1)}, {Bool(true)}, {Int(2)}, {Float(0)}, {Float(math.Copysign(0, -1))}, {Float(math.NaN())},
		{{Kind: ComplexValue, Complex: 1}}, {{Kind: ComplexValue, Complex: 1i}}, {Text("a")}, {Text("b")}, {Ints(1, 2)}, {Ints(1), Int(2)}, {{Kind: TupleValue, List: Ints(1, 2).List}},
		{one(TensorSpec{})}, {one(TensorSpec{DType: "float32"})}, {one(TensorSpec{Sizes: []int64{1}})}, {one(TensorSpec{Sizes: []int64{1, 0}})},
		{one(TensorSpec{Arrangement: tensor.Sliced})}, {one(TensorSpec{Form: engine.COO})}, {one(TensorSpec{Fill: Fill{Name: "const"}})}, {one(TensorSpec{Fill: Fill{Name: "const", Value: 1}})},
		{one(TensorSpec{Fill: Fill{Name: "in", High: 1}})}, {one(TensorSpec{Values: []float64{1}})}, {one(TensorSpec{Same: 1})}, {one(TensorSpec{View: 1})}, {{Kind: ListValue, List: []Value{one(TensorSpec{})}}},
	} {
		c := &Case{Args: args, Number: i}
		if before, ok := had[c.Key()]; ok {
			t.Errorf("%v has the key of case %d", c, before)
		}
		had[c.Key()] = i
		if again := c.Clone(); again.Key() != c.Key() {
			t.Errorf("%v has another key when it is cloned", c)
		}
	}
}
