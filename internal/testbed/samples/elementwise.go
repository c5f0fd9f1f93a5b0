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

func unary(op string, rest ...any) []testCase { return onShapes(op, floats, rest) }

func onShapes(op string, self func(sizes ...int64) *description, rest []any) []testCase {
	var cases []testCase
	for _, shape := range shapes {
		cases = append(cases, call(op, shape.name, self(shape.sizes...)))
	}
	return with(rest, cases...)
}

func binary(op string, rest ...any) []testCase {
	return with(rest,
		call(op, "matrix", floats(2, 3), floats(2, 3)),
		call(op, "broadcast", floats(2, 1), floats(3)),
		call(op, "0-dim-other", floats(2, 3), floats()),
		call(op, "0-dim", floats(), floats()),
		call(op, "empty", floats(0, 3), floats(3)),
		call(op, "twice", read, read),
		call(op, "two-handles", read, handle(read)),
	)
}

func elementwise() []testCase {
	return slices.Concat(
		binary("add.Tensor", 2.0),
		each([]variant{plain}, call("add.Tensor", "sparse", coo, coo, 2.0)),
		binary("mul.Tensor"),
		unary("neg"),
		unary("relu"),
		unary("clamp", new(-1.0), new(1.0)),
		prefixed("no-max", unary("clamp", new(0.0), noFloat)),
	)
}
