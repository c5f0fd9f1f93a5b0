package samples

func indices() []testCase {
	values, picks := without(meta), ints(2, 2)
	return []testCase{
		call("index.Tensor", "rows", floats(2, 3), list(ints(2, 4))),
		call("index.Tensor", "whole-then-columns", floats(2, 3), list(undefined, ints(3, 2, 2))),
		call("index.Tensor", "points", floats(2, 3), list(ints(2, 2), ints(3, 1))),
		call("index.Tensor", "apart", floats(2, 3, 2), list(ints(2, 2), undefined, ints(2, 2))),
		call("index.Tensor", "mask", floats(2, 3), list(bools(2, 3))).in(values...),
		call("index.Tensor", "empty", floats(2, 3), list(ints(2, 0))),
		call("index.Tensor", "same-index-twice", floats(2, 2), list(picks, picks)),
		call("index.Tensor", "refused", floats(2, 3), list(ints(9, 9))).in(values...),
		call("nonzero", "matrix", floats(2, 3)).in(values...),
		call("nonzero", "0-dim", floats()).in(values...),
	}
}
