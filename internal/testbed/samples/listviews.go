package samples

func listViews() []testCase {
	return []testCase{
		call("split.Tensor", "uneven", floats(5, 2), 2, 0),
		call("split.Tensor", "one-piece", floats(2, 3), 9, 1),
		call("split.Tensor", "empty", floats(0, 2), 0, 0),
		call("split_with_sizes", "with-an-empty-one", floats(2, 3), []int64{1, 0, 2}, 1),
		call("unbind.int", "columns", floats(2, 3), 1),
		call("unbind.int", "none", floats(0, 3), 0),
		call("chunk", "three", floats(5, 2), 3, 0),
		call("unbind_copy.int", "rows", floats(2, 3), 0),
		call("unbind_copy.int_out", "rows", floats(2, 3), 0, list(written(3), written(0))),
	}
}
