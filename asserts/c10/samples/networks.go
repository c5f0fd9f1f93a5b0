package samples

func products() []testCase {
	return []testCase{
		{op: "mm", name: "matrix", args: func(b builder) []any { return []any{background, b.floats(2, 3), b.floats(3, 2)} }},
		{op: "mm", name: "empty", args: func(b builder) []any { return []any{background, b.floats(2, 0), b.floats(0, 2)} }},
		{op: "mm", name: "twice", args: func(b builder) []any {
			x := b.floats(2, 2)
			return []any{background, x, x}
		}},
		{op: "mm", name: "refused", args: func(b builder) []any { return []any{background, b.floats(2, 3), b.floats(2, 3)} }},
		{op: "bmm", name: "batch", args: func(b builder) []any { return []any{background, b.floats(2, 2, 3), b.floats(2, 3, 1)} }},
		{op: "bmm", name: "refused", args: func(b builder) []any { return []any{background, b.floats(2, 2, 3), b.floats(1, 3, 1)} }},
		{op: "addmm", name: "matrix", args: func(b builder) []any {
			return []any{background, b.floats(2), b.floats(2, 3), b.floats(3, 2), 0.5, 2.0}
		}},
		{op: "matmul", name: "matrix", args: func(b builder) []any { return []any{background, b.floats(2, 3), b.floats(3, 2)} }},
		{op: "matmul", name: "vectors", args: func(b builder) []any { return []any{background, b.floats(3), b.floats(3)} }},
		{op: "matmul", name: "batch", args: func(b builder) []any { return []any{background, b.floats(2, 2, 3), b.floats(2, 3, 1)} }},
		{op: "linear", name: "bias", args: func(b builder) []any { return []any{background, b.floats(2, 3), b.floats(4, 3), b.floats(4)} }},
		{op: "linear", name: "no-bias", args: func(b builder) []any { return []any{background, b.floats(2, 3), b.floats(4, 3), undefined} }},
		{op: "linear", name: "vector", args: func(b builder) []any { return []any{background, b.floats(3), b.floats(4, 3), b.floats(4)} }},
	}
}

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

func random() []testCase {
	device := []sort{plain, meta}
	return []testCase{
		{op: "rand.generator", name: "matrix", in: device, args: func(b builder) []any {
			return []any{[]int64{2, 3}, generator(), noDType, noLayout, b.device(), noBool}
		}},
		{op: "randperm.generator", name: "six", in: device, args: func(b builder) []any {
			return []any{int64(6), generator(), noDType, noLayout, b.device(), noBool}
		}},
		{op: "bernoulli", name: "matrix", args: func(b builder) []any { return []any{b.chances(2, 3), generator()} }},
		{op: "bernoulli", name: "empty", args: func(b builder) []any { return []any{b.chances(0), generator()} }},
		{op: "bernoulli_.float", name: "matrix", args: func(b builder) []any { return []any{b.written(2, 3), 0.5, generator()} }},
		{op: "uniform_", name: "matrix", args: func(b builder) []any { return []any{b.written(2, 3), -1.0, 1.0, generator()} }},
		{op: "normal_", name: "0-dim", args: func(b builder) []any { return []any{b.written(), 0.0, 1.0, generator()} }},
		{op: "multinomial", name: "replaced", args: func(b builder) []any { return []any{b.chances(5), int64(8), true, generator()} }},
		{op: "multinomial", name: "kept", args: func(b builder) []any { return []any{b.chances(5), int64(4), false, generator()} }},
		{op: "multinomial", name: "refused", args: func(b builder) []any { return []any{b.chances(5), int64(6), false, generator()} }},
		{op: "native_dropout", name: "training", args: func(b builder) []any { return []any{b.floats(2, 3), 0.5, ptr(true)} }},
		{op: "native_dropout", name: "unsaid", args: func(b builder) []any { return []any{b.floats(2, 3), 1.0, noBool} }},
		{op: "native_dropout", name: "evaluation", args: func(b builder) []any { return []any{b.floats(2, 3), 0.5, ptr(false)} }},
		{op: "native_dropout", name: "empty", args: func(b builder) []any { return []any{b.floats(0), 0.5, ptr(true)} }},
		{op: "dropout", name: "training", args: func(b builder) []any { return []any{b.floats(2, 3), 0.5, true} }},
		{op: "dropout", name: "evaluation", args: func(b builder) []any { return []any{b.floats(2, 3), 0.5, false} }},
		{op: "rrelu_with_noise", name: "training", args: func(b builder) []any {
			return []any{b.floats(2, 3), b.written(2, 3), 0.1, 0.3, true, generator()}
		}},
		{op: "rrelu_with_noise", name: "evaluation", args: func(b builder) []any {
			return []any{b.floats(2, 3), b.written(2, 3), 0.1, 0.3, false, generator()}
		}},
	}
}

func mutable() []testCase {
	return []testCase{
		{op: "_cummax_helper", name: "rows", args: func(b builder) []any {
			return []any{b.floats(2, 3), b.written(2, 3), b.outInts(2, 3), int64(1)}
		}},
		{op: "_fused_moving_avg_obs_fq_helper", name: "observing", args: func(b builder) []any {
			return observer(b, b.ones(), b.ones())
		}},
		{op: "_fused_moving_avg_obs_fq_helper", name: "off", args: func(b builder) []any {
			return observer(b, b.ints(1, 1), b.ints(1, 1))
		}},
	}
}
