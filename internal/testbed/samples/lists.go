package samples

func lists() []testCase {
	ts, outs := list(floats(2), floats(3)), list(written(2), written(3))
	return []testCase{
		call("cat", "two", list(floats(2, 3), floats(2, 1)), 1),
		call("cat", "one", list(floats(2, 3)), 0),
		call("cat", "empties", list(floats(0, 3), floats(0, 3)), -2),
		call("cat", "twice", list(read, floats(1, 3), read), 0),
		call("cat", "refused", list(), 0),
		call("broadcast_tensors", "three", list(floats(2, 1), floats(3), floats())),
		call("_foreach_add.List", "two", list(floats(2, 3), floats()), list(floats(2, 3), floats()), 2.0),
		call("_foreach_add.List", "none", list(), list(), 2.0),
		call("_foreach_add.List", "same-list", ts, ts, 1.0),
		call("_foreach_add_.List", "two", list(written(2, 3), written(0)), list(floats(3), floats(0)), 2.0),
		call("_foreach_add_.List", "same-list", outs, outs, 1.0),
		call("_foreach_mul.Scalar", "three", list(floats(2), floats(0), floats()), 3.0),
		call("_foreach_zero_", "two", list(written(2), written())),
		call("_amp_foreach_non_finite_check_and_unscale_", "two", list(written(2), written(2, 3)), written(1), ones()),
	}
}
