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
		call("index_put_", "rows", written(2, 3), list(ints(2, 2)), floats(3), false),
		call("index_put_", "accumulated", written(2, 3), list(undefined, ints(3, 4)), floats(), true),
		call("index_put_", "mask", written(2, 3), list(bools(2)), floats(), false).in(values...),
		call("index_put_", "refused", written(2, 3), list(ints(9, 9)), floats(), false).in(values...),
		call("index_add_", "rows", written(2, 3), 0, ints(2, 3), floats(3, 3), 2.0),
		call("gather", "columns", floats(2, 3), 1, ints(3, 2, 2), false),
		call("gather", "empty", floats(2, 3), 1, ints(3, 2, 0), false),
		call("nonzero", "matrix", floats(2, 3)).in(values...),
		call("nonzero", "0-dim", floats()).in(values...),
		call("embedding", "table", floats(4, 3), ints(4, 2, 2), -1, false, false),
		call("embedding", "refused", floats(4), ints(4, 2), -1, false, false),
	}
}
