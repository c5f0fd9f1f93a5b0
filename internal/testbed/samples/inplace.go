package samples

import "slices"

// unaryInPlace returns the cases of an op that writes its one tensor.
func unaryInPlace(op string, rest ...any) []testCase { return onShapes(op, written, rest) }

// binaryInPlace returns the cases of an op that writes the first of two tensors.
func binaryInPlace(op string, rest ...any) []testCase {
	return with(rest,
		call(op, "matrix", written(2, 3), floats(2, 3)),
		call(op, "broadcast", written(2, 3), floats(3)),
		call(op, "0-dim", written(), floats()),
		call(op, "empty", written(0, 3), floats(3)),
		call(op, "twice", wrote, wrote),
		call(op, "view-of-itself", wrote, alias(wrote)),
	)
}

func inPlace() []testCase {
	return slices.Concat(
		binaryInPlace("add_.Tensor", 2.0),
		binaryInPlace("mul_.Tensor"),
		binaryInPlace("copy_", false),
		unaryInPlace("relu_"),
		unaryInPlace("clamp_", ptr(-1.0), noFloat),
		unaryInPlace("fill_.Scalar", 7.0),
		unaryInPlace("zero_"),
		each([]variant{plain}, call("zero_", "sparse", coo)),
		[]testCase{
			call("masked_fill_.Scalar", "matrix", written(2, 3), bools(2, 3), 9.0),
			call("masked_fill_.Scalar", "broadcast", written(2, 3), bools(3), 9.0),
			call("masked_fill_.Scalar", "empty", written(0), bools(0), 9.0),
		},
	)
}
