package faults

import (
	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/internal/testbed/c10"
)

var _ = planting(asserts.InplaceMetadata, plant{
	acts: []act{
		{name: "reshapes", why: "writes an argument and turns it into a row", at: inWritten, do: change(reshape),
			library: &LibraryAct{At: "written", Does: "t.neg_().unsqueeze_(0);", Trigger: "a tensor"}},
		{name: "restrides", why: "writes an out argument of the right size and sets its strides to 0", at: inOut,
			do: change(restride)},
	},
	impossible: onlyInPlace,
})

func reshape(t *c10.Tensor) {
	increased(t).SetSizesAndStrides([]int64{1, t.Numel()}, []int64{t.Numel(), 1}, t.Offset())
}

func restride(t *c10.Tensor) {
	increased(t).SetSizesAndStrides([]int64{t.Numel()}, []int64{0}, t.Offset())
}
