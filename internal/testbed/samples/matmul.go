package samples

func products() []testCase {
	square := floats(2, 2)
	return []testCase{
		call("mm", "matrix", background, floats(2, 3), floats(3, 2)),
		call("mm", "empty", background, floats(2, 0), floats(0, 2)),
		call("mm", "twice", background, square, square),
		call("mm", "refused", background, floats(2, 3), floats(2, 3)),
		call("addmm", "matrix", background, floats(2), floats(2, 3), floats(3, 2), 0.5, 2.0),
		call("linear", "bias", background, floats(2, 3), floats(4, 3), floats(4)),
		call("linear", "no-bias", background, floats(2, 3), floats(4, 3), undefined),
	}
}
