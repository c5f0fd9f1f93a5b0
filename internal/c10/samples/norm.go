package samples

func norms() []testCase {
	return []testCase{
		call("native_layer_norm", "affine", floats(2, 3), []int64{3}, floats(3), floats(3), 1e-5),
		call("native_layer_norm", "no-bias", floats(2, 3), []int64{2, 3}, floats(2, 3), undefined, 1e-5),
		call("native_layer_norm", "plain-and-empty", floats(0, 3), []int64{3}, undefined, undefined, 1e-5),
		call("_native_batch_norm_legit", "training", floats(4, 2), floats(2), floats(2), written(2), written(2), true, 0.1, 1e-5),
		call("_native_batch_norm_legit", "evaluation", floats(4, 2, 2), undefined, undefined, written(2), written(2), false, 0.1, 8.0),
	}
}
