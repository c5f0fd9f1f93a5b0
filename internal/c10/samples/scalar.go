package samples

func scalars() []testCase {
	values, vector := without(meta), floats(2)
	return []testCase{
		call("_local_scalar_dense", "0-dim", floats()).in(values...),
		call("item", "one-element", floats(1, 1)).in(values...),
		call("size.int", "last", floats(2, 3), -1),
		call("is_same_size", "different", floats(2, 3), floats(2)),
		call("is_same_size", "twice", vector, vector),
		call("equal", "same", floats(2, 3), floats(2, 3)).in(values...),
		call("equal", "empty", floats(0), floats(0)).in(values...),
		call("_choose_qparams_per_tensor", "matrix", floats(2, 3), true).in(values...),
	}
}
