package samples

func storage() []testCase {
	return []testCase{
		call("resize_", "larger", written(2), []int64{3, 3}, noFormat),
		call("resize_", "smaller", written(2, 3), []int64{2}, noFormat),
		call("resize_", "from-empty", written(0), []int64{}, noFormat),
		call("resize_as_", "larger", written(2), floats(2, 3), noFormat),
		call("resize_as_", "itself", wrote, wrote, noFormat),
		call("set_.source_Tensor", "other", written(2), floats(2, 3)),
		call("set_.source_Tensor", "itself", wrote, wrote),
		call("set_", "emptied", written(2, 3)),
	}
}
