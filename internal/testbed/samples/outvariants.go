package samples

import "slices"

// binaryOut returns the cases of an op that writes the result of two tensors
// into a third; before is the arguments between them.
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
			call("cat.out", "two", list(floats(2, 3), floats(1, 3)), 0, written(3, 3)),
			call("cat.out", "resized", list(floats(2, 3)), 1, written(0)),
			call("aminmax.out", "rows", floats(2, 3), ptr(int64(1)), false, written(2), written(2)),
			call("aminmax.out", "all", floats(2, 3), noInt, false, written(), written()),
		},
	)
}
