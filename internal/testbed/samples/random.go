package samples

func random() []testCase {
	return []testCase{
		call("rand.generator", "matrix", []int64{2, 3}, generator, noDType, noLayout, device, noBool).in(plain, meta),
		call("native_dropout", "training", floats(2, 3), 0.5, ptr(true)),
		call("native_dropout", "unsaid", floats(2, 3), 1.0, noBool),
		call("native_dropout", "evaluation", floats(2, 3), 0.5, ptr(false)),
		call("native_dropout", "empty", floats(0), 0.5, ptr(true)),
		call("dropout", "training", floats(2, 3), 0.5, true),
		call("dropout", "evaluation", floats(2, 3), 0.5, false),
		call("rrelu_with_noise", "training", floats(2, 3), written(2, 3), 0.1, 0.3, true, generator),
		call("rrelu_with_noise", "evaluation", floats(2, 3), written(2, 3), 0.1, 0.3, false, generator),
	}
}
