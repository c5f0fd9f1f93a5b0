package samples

func norms() []testCase {
	return []testCase{
		{op: "native_layer_norm", name: "affine", args: func(b builder) []any {
			return []any{b.floats(2, 3), []int64{3}, b.floats(3), b.floats(3), 1e-5}
		}},
		{op: "native_layer_norm", name: "no-bias", args: func(b builder) []any {
			return []any{b.floats(2, 3), []int64{2, 3}, b.floats(2, 3), undefined, 1e-5}
		}},
		{op: "native_layer_norm", name: "plain-and-empty", args: func(b builder) []any {
			return []any{b.floats(0, 3), []int64{3}, undefined, undefined, 1e-5}
		}},
		{op: "_native_batch_norm_legit", name: "training", args: func(b builder) []any {
			return []any{b.floats(4, 2), b.floats(2), b.floats(2), b.written(2), b.written(2), true, 0.1, 1e-5}
		}},
		{op: "_native_batch_norm_legit", name: "evaluation", args: func(b builder) []any {
			return []any{b.floats(4, 2, 2), undefined, undefined, b.written(2), b.written(2), false, 0.1, 8.0}
		}},
	}
}
