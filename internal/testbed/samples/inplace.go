package samples

import "slices"

func unaryInPlace(op string, rest ...any) []testCase { return onShapes(op, written, rest) }

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
		binaryInPlace("copy_", false),
		unaryInPlace("zero_"),
		each([]variant{plain}, call("zero_", "sparse", coo)),
		unaryInPlace("t_"),
		[]testCase{
			call("resize_", "larger", written(2), []int64{3, 3}, noFormat),
			call("resize_", "smaller", written(2, 3), []int64{2}, noFormat),
			call("resize_", "from-empty", written(0), []int64{}, noFormat),
			call("set_.source_Tensor", "other", written(2), floats(2, 3)),
			call("set_.source_Tensor", "itself", wrote, wrote),
		},
	)
}

// binaryOut returns the cases of an op that writes the result of two tensors into a third, after the arguments before.
func binaryOut(op string, before ...any) []testCase {
	into := func(name string, self, other, out *description) testCase {
		return call(op, name, slices.Concat([]any{self, other}, before, []any{out})...)
	}
	return []testCase{
		into("matrix", floats(2, 3), floats(2, 3), written(2, 3)),
		into("resized", floats(2, 3), floats(2, 3), written(0)),
		into("empty", floats(0), floats(0), written(0)),
		into("0-dim", floats(), floats(), written()),
		into("out-is-self", wrote, floats(2, 3), wrote),
	}
}

func out() []testCase {
	return slices.Concat(
		binaryOut("add.out", 2.0),
		[]testCase{
			call("aminmax.out", "rows", floats(2, 3), new(int64(1)), false, written(2), written(2)),
			call("aminmax.out", "all", floats(2, 3), noInt, false, written(), written()),
		},
	)
}
