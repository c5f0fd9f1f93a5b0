package libtorch_test

import (
	"testing"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/libtorch"
	"github.com/opassert/opassert/internal/dev/libtorchtest"
)

// BenchmarkCall holds observed calls against unobserved ones, for ten ops on
// small tensors, where observing weighs most. The budget is a ratio of 1.25.
//
//	go test -run '^$' -bench Call ./asserts/libtorch
func BenchmarkCall(b *testing.B) {
	libtorchtest.Need(b)
	x, square := ones(b, 3), ones(b, 4, 4)
	batch := ones(b, 1, 2, 4, 4)
	for _, bb := range []struct {
		op   string
		args []libtorch.Value
	}{
		{"aten::add.Tensor", []libtorch.Value{x, x}},
		{"aten::add_.Tensor", []libtorch.Value{x, x}},
		{"aten::mul.out", []libtorch.Value{x, x, x}},
		{"aten::relu", []libtorch.Value{x}},
		{"aten::view", []libtorch.Value{x, integers(3, 1)}},
		{"aten::sum.dim_IntList", []libtorch.Value{square, integers(0)}},
		{"aten::mm", []libtorch.Value{square, square}},
		{"aten::cat", []libtorch.Value{libtorch.Tensors(x.Tensor, x.Tensor)}},
		{"aten::native_layer_norm", []libtorch.Value{square, integers(4), none, none, libtorch.Float(1e-5)}},
		{"aten::max_pool2d_with_indices", []libtorch.Value{batch, integers(2)}},
	} {
		op := lookup(b, bb.op)
		for _, level := range []asserts.Level{asserts.Off, asserts.Identity, asserts.Content} {
			b.Run(bb.op+"/"+level.String(), func(b *testing.B) {
				b.ReportAllocs()
				var out libtorch.Outcome
				for b.Loop() {
					if err := op.Call(level, &out, bb.args...); err != nil {
						b.Fatal(err)
					}
					out.Release()
				}
			})
		}
		b.Run(bb.op+"/judged", func(b *testing.B) {
			b.ReportAllocs()
			checks, policy := planned(b, op), asserts.Aware()
			var out libtorch.Outcome
			for b.Loop() {
				if err := op.Call(asserts.Identity, &out, bb.args...); err != nil {
					b.Fatal(err)
				}
				asserts.Judge(checks, &out.Seen, policy)
				out.Release()
			}
		})
	}
}
