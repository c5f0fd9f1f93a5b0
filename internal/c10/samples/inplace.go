package samples

import "slices"

// unaryInPlace returns the cases of an op that writes its one tensor.
func unaryInPlace(op string, rest ...any) []testCase {
	var cases []testCase
	for _, shape := range shapes {
		cases = append(cases, testCase{op: op, name: shape.name, args: func(b builder) []any {
			return append([]any{b.written(shape.sizes...)}, rest...)
		}})
	}
	return cases
}

// binaryInPlace returns the cases of an op that writes the first of two tensors.
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
