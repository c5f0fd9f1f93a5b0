package samples

import "slices"

func inPlaceViews() []testCase {
	return slices.Concat(
		unaryInPlace("t_"),
		unaryInPlace("transpose_", 0, -1),
		unaryInPlace("squeeze_"),
		unaryInPlace("unsqueeze_", 0),
		[]testCase{
			call("as_strided_", "half", written(2, 3), []int64{3}, []int64{2}, noInt),
			call("as_strided_", "offset", written(2, 3), []int64{2}, []int64{1}, ptr(int64(2))),
		},
	)
}
