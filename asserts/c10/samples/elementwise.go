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

// unary gives the cases of an op on one tensor; rest is its other arguments.
func unary(op string, rest ...any) []testCase {
	var cases []testCase
	for _, shape := range shapes {
		cases = append(cases, testCase{op: op, name: shape.name, args: func(b builder) []any {
			return append([]any{b.floats(shape.sizes...)}, rest...)
		}})
	}
	return cases
}

// unaryInPlace gives the cases of an op that writes its one tensor.
func unaryInPlace(op string, rest ...any) []testCase {
	var cases []testCase
	for _, shape := range shapes {
		cases = append(cases, testCase{op: op, name: shape.name, args: func(b builder) []any {
			return append([]any{b.written(shape.sizes...)}, rest...)
		}})
	}
	return cases
}

// binary gives the cases of an op on two tensors.
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

// binaryInPlace gives the cases of an op that writes the first of two tensors.
func binaryInPlace(op string, rest ...any) []testCase {
	pair := func(name string, a, c []int64) testCase {
		return testCase{op: op, name: name, args: func(b builder) []any {
			return append([]any{b.written(a...), b.floats(c...)}, rest...)
		}}
	}
	return []testCase{
		pair("matrix", []int64{2, 3}, []int64{2, 3}),
		pair("broadcast", []int64{2, 3}, []int64{3}),
		pair("0-dim", nil, nil),
		pair("empty", []int64{0, 3}, []int64{3}),
		{op: op, name: "twice", args: func(b builder) []any {
			x := b.written(2, 3)
			return append([]any{x, x}, rest...)
		}},
		{op: op, name: "view-of-itself", args: func(b builder) []any {
			x := b.written(2, 3)
			return append([]any{x, x.Alias()}, rest...)
		}},
	}
}

// binaryOut gives the cases of an op that writes the result of two tensors
// into a third; before is the arguments between them.
func binaryOut(op string, before ...any) []testCase {
	triple := func(name string, sizes, out []int64) testCase {
		return testCase{op: op, name: name, args: func(b builder) []any {
			return append(append([]any{b.floats(sizes...), b.floats(sizes...)}, before...), b.written(out...))
		}}
	}
	return []testCase{
		triple("matrix", []int64{2, 3}, []int64{2, 3}),
		triple("resized", []int64{2, 3}, []int64{0}),
		triple("empty", []int64{0}, []int64{0}),
		triple("0-dim", nil, nil),
		{op: op, name: "out-is-self", args: func(b builder) []any {
			x := b.written(2, 3)
			return append(append([]any{x, b.floats(2, 3)}, before...), x)
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
		named("tanh", unary("gelu", "tanh")),
		unary("clamp", ptr(-1.0), ptr(1.0)),
		named("no-max", unary("clamp", ptr(0.0), noFloat)),
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

func inPlace() []testCase {
	return slices.Concat(
		binaryInPlace("add_.Tensor", 2.0),
		binaryInPlace("mul_.Tensor"),
		binaryInPlace("lerp_.Scalar", 0.25),
		binaryInPlace("copy_", false),
		unaryInPlace("relu_"),
		unaryInPlace("clamp_", ptr(-1.0), noFloat),
		unaryInPlace("fill_.Scalar", 7.0),
		unaryInPlace("zero_"),
		only([]sort{plain}, testCase{op: "zero_", name: "sparse", args: func(b builder) []any { return []any{coo(b)} }}),
		[]testCase{
			{op: "masked_fill_.Scalar", name: "matrix", args: func(b builder) []any { return []any{b.written(2, 3), b.bools(2, 3), 9.0} }},
			{op: "masked_fill_.Scalar", name: "broadcast", args: func(b builder) []any { return []any{b.written(2, 3), b.bools(3), 9.0} }},
			{op: "masked_fill_.Scalar", name: "empty", args: func(b builder) []any { return []any{b.written(0), b.bools(0), 9.0} }},
		},
	)
}

func out() []testCase {
	return slices.Concat(
		binaryOut("add.out", 2.0),
		binaryOut("mul.out"),
		[]testCase{
			{op: "abs.out", name: "matrix", args: func(b builder) []any { return []any{b.floats(2, 3), b.written(2, 3)} }},
			{op: "abs.out", name: "resized", args: func(b builder) []any { return []any{b.floats(2, 3), b.written(0)} }},
			{op: "abs.out", name: "out-is-self", args: func(b builder) []any {
				x := b.written(2, 3)
				return []any{x, x}
			}},
			{op: "sum.IntList_out", name: "rows", args: func(b builder) []any {
				return []any{b.floats(2, 3), []int64{1}, false, noDType, b.written(2)}
			}},
			{op: "sum.IntList_out", name: "all", args: func(b builder) []any {
				return []any{b.floats(2, 3), []int64(nil), false, noDType, b.written()}
			}},
			{op: "cat.out", name: "two", args: func(b builder) []any {
				return []any{list(b.floats(2, 3), b.floats(1, 3)), int64(0), b.written(3, 3)}
			}},
			{op: "cat.out", name: "resized", args: func(b builder) []any { return []any{list(b.floats(2, 3)), int64(1), b.written(0)} }},
			{op: "max.dim_max", name: "rows", args: func(b builder) []any {
				return []any{b.floats(2, 3), int64(1), false, b.written(2), b.outInts(2)}
			}},
			{op: "max.dim_max", name: "resized", args: func(b builder) []any {
				return []any{b.floats(2, 3), int64(0), true, b.written(0), b.outInts(0)}
			}},
			{op: "sort.values", name: "rows", args: func(b builder) []any {
				return []any{b.floats(2, 3), int64(-1), true, b.written(2, 3), b.outInts(2, 3)}
			}},
			{op: "sort.values", name: "into-itself", args: func(b builder) []any {
				x := b.written(2, 3)
				return []any{x, int64(-1), false, x, b.outInts(2, 3)}
			}},
			{op: "aminmax.out", name: "rows", args: func(b builder) []any {
				return []any{b.floats(2, 3), ptr(int64(1)), false, b.written(2), b.written(2)}
			}},
			{op: "aminmax.out", name: "all", args: func(b builder) []any {
				return []any{b.floats(2, 3), noInt, false, b.written(), b.written()}
			}},
			{op: "arange.start_out", name: "up", args: func(b builder) []any { return []any{1.0, 8.0, 2.0, b.written(4)} }},
			{op: "arange.start_out", name: "resized", args: func(b builder) []any { return []any{5.0, 0.0, -1.0, b.written(0)} }},
		},
	)
}
