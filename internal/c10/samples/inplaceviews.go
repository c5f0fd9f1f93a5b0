package samples

import "slices"

func inPlaceViews() []testCase {
	return slices.Concat(
		unaryInPlace("t_"),
		unaryInPlace("transpose_", int64(0), int64(-1)),
		unaryInPlace("squeeze_"),
		unaryInPlace("unsqueeze_", int64(0)),
		unaryInPlace("squeeze_.dim", int64(-1)),
		[]testCase{
			{op: "as_strided_", name: "half", args: func(b builder) []any { return []any{b.written(2, 3), []int64{3}, []int64{2}, noInt} }},
			{op: "as_strided_", name: "offset", args: func(b builder) []any {
				return []any{b.written(2, 3), []int64{2}, []int64{1}, ptr(int64(2))}
			}},
		},
	)
}
