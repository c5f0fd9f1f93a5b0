package samples

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
