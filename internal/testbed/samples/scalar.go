package samples

func scalars() []testCase {
	values := without(meta)
	return []testCase{
		call("_local_scalar_dense", "0-dim", floats()).in(values...),
		call("size.int", "last", floats(2, 3), -1),
		call("equal", "same", floats(2, 3), floats(2, 3)).in(values...),
		call("equal", "empty", floats(0), floats(0)).in(values...),
		call("_choose_qparams_per_tensor", "matrix", floats(2, 3), true).in(values...),
	}
}
