package samples

import "slices"

// shapes are the sizes that an elementwise op is called with.
var shapes = []struct {
	name  string
	sizes []int64
}{
	{"matrix", []int64{2, 3}},
	{"empty", []int64{0, 3}},
	{"0-dim", nil},
	{"one-element", []int64{1, 1}},
}

// unary returns the cases of an op on one tensor; rest is its other arguments.
func unary(op string, rest ...any) []testCase {
	var cases []testCase
	for _, shape := range shapes {
		cases = append(cases, testCase{op: op, name: shape.name, args: func(b builder) []any {
			return append([]any{b.floats(shape.sizes...)}, rest...)
		}})
	}
	return cases
}

// binary returns the cases of an op on two tensors.
func binary(op string, rest ...any) []testCase {
	pair := func(name string, a, c []int64) testCase {
		return testCase{op: op, name: name, args: func(b builder) []any {
			return append([]any{b.floats(a...), b.floats(c...)}, rest...)
		}}
	}
	return []testCase{
		pair("matrix", []int64{2, 3}, []int64{2, 3}),
		pair("broadcast", []int64{2, 1}, []int64{3}),
		pair("0-dim-other", []int64{2, 3}, nil),
		pair("0-dim", nil, nil),
		pair("empty", []int64{0, 3}, []int64{3}),
		{op: op, name: "twice", args: func(b builder) []any {
			x := b.floats(2, 3)
			return append([]any{x, x}, rest...)
		}},
		{op: op, name: "two-handles", args: func(b builder) []any {
			x := b.floats(2, 3)
			return append([]any{x, x.Retain()}, rest...)
		}},
	}
}

func elementwise() []testCase {
	return slices.Concat(
		binary("add.Tensor", 2.0),
		only([]sort{plain}, testCase{op: "add.Tensor", name: "sparse", args: func(b builder) []any {
			return []any{coo(b), coo(b), 2.0}
		}}),
		unary("add.Scalar", 3.0, 2.0),
		binary("sub.Tensor", 1.0),
		binary("mul.Tensor"),
		binary("div.Tensor"),
		binary("eq.Tensor"),
		unary("neg"),
		unary("abs"),
		unary("exp"),
		unary("sigmoid"),
		unary("relu"),
		unary("gelu", "none"),
		prefixed("tanh", unary("gelu", "tanh")),
		unary("clamp", ptr(-1.0), ptr(1.0)),
		prefixed("no-max", unary("clamp", ptr(0.0), noFloat)),
		[]testCase{
			{op: "clamp.Tensor", name: "both", args: func(b builder) []any { return []any{b.floats(2, 3), b.floats(3), b.floats(2, 1)} }},
			{op: "clamp.Tensor", name: "no-min", args: func(b builder) []any { return []any{b.floats(2, 3), undefined, b.floats()} }},
			{op: "clamp.Tensor", name: "no-max", args: func(b builder) []any { return []any{b.floats(0, 3), b.floats(3), undefined} }},
			{op: "clamp.Tensor", name: "thrice", args: func(b builder) []any {
				x := b.floats(2, 3)
				return []any{x, x, x}
			}},
			{op: "where.self", name: "matrix", args: func(b builder) []any { return []any{b.bools(2, 3), b.floats(2, 3), b.floats(2, 3)} }},
			{op: "where.self", name: "broadcast", args: func(b builder) []any { return []any{b.bools(2, 1), b.floats(3), b.floats()} }},
			{op: "where.self", name: "empty", args: func(b builder) []any { return []any{b.bools(0), b.floats(0), b.floats()} }},
			{op: "where.self", name: "twice", args: func(b builder) []any {
				x := b.floats(2, 3)
				return []any{b.bools(2, 3), x, x}
			}},
		},
	)
}
