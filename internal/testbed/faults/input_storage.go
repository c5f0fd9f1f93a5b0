package faults

import (
	"slices"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/internal/testbed/c10"
	"github.com/opassert/opassert/internal/testbed/kernels"
)

var _ = planting(asserts.InputStorage, plant{
	acts: []act{
		{name: "swaps_storage", why: "puts the tensor onto a copy of its storage", at: slices.Concat(inArguments, inOut),
			do:      change(swapStorage),
			library: &LibraryAct{At: "written", Does: "t.set_(t.clone());", Trigger: "a tensor"}},
		{name: "recycles", why: "frees the storage and puts another at the same address", at: inTensor, do: change(recycle)},
	},
})

func swapStorage(t *c10.Tensor) {
	other := kernels.Clone(t, nil)
	defer other.Release()
	t.SetStorage(other)
}

func recycle(t *c10.Tensor) {
	again := c10.FromBytes(t.Bytes(), t.Sizes(), t.DType())
	defer again.Release()
	t.SetStorage(again)
}
