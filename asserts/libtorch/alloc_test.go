//go:build !race

package libtorch_test

import (
	"testing"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/libtorch"
	"github.com/opassert/opassert/internal/dev/libtorchtest"
	"github.com/opassert/opassert/internal/dev/must"
)

// An observed call allocates nothing in Go, and neither does its release.
func TestNoAllocations(t *testing.T) {
	libtorchtest.Need(t)
	x := ones(t, 3)
	for _, tt := range []struct {
		op   string
		args []libtorch.Value
	}{
		{"aten::add.Tensor", []libtorch.Value{x, x, integer(1)}},
		{"aten::add_.Tensor", []libtorch.Value{x, x}},
		{"aten::view", []libtorch.Value{x, integers(3, 1)}},
		{"aten::cat", []libtorch.Value{libtorch.Tensors(x.Tensor, x.Tensor)}},
		{"aten::native_layer_norm", []libtorch.Value{x, integers(3), none, none, libtorch.Float(1e-5)}},
	} {
		op := lookup(t, tt.op)
		for _, level := range []asserts.Level{asserts.Off, asserts.Identity} {
			var out libtorch.Outcome
			once := func() {
				must.Do(t, op.Call(level, &out, tt.args...))
				must.Do(t, out.Release())
			}
			once()
			if n := testing.AllocsPerRun(200, once); n != 0 {
				t.Errorf("%s at %v makes %v allocations a call", tt.op, level, n)
			}
		}
	}
}
