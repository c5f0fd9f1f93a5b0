package faults

import (
	"slices"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/compare"
	"github.com/opassert/opassert/internal/testbed/c10"
	"github.com/opassert/opassert/internal/testbed/internal/watch"
)

// Faults of a kernel on meta, which is correct on CPU.
var _ = planting(asserts.MetaAlias, plant{
	acts: []act{
		{name: "copies_on_meta", why: "returns a copy in place of a view on meta", at: returnedView, do: onMeta(copied)},
		{name: "enlarges_on_meta", why: "returns a larger tensor on meta",
			at: slices.Concat(returnedNew, returnedNewAndWritten), do: onMeta(enlarged)},
	},
	onLibtorch: "TestOplib: split_even and pad_even",
})

// OnMeta judges a fault's call by the same call on meta.
func (f Planted) OnMeta(k asserts.Kernel) asserts.Verdict {
	real := watch.Call(k.Func, f.Args(), asserts.Content)
	meta := watch.Call(k.Func, watch.OnMeta(f.Args()), asserts.Content)
	return compare.Twins(k.Op, real.Seen, meta.Seen, "meta", asserts.Aware())
}

func onMeta(do func(t, with *c10.Tensor) *c10.Tensor) func(t, with *c10.Tensor) *c10.Tensor {
	return func(t, with *c10.Tensor) *c10.Tensor {
		if !t.IsMeta() {
			return t
		}
		return do(t, with)
	}
}

func enlarged(t, _ *c10.Tensor) *c10.Tensor {
	defer t.Release()
	return c10.Empty([]int64{t.Numel() + 1}, t.Options())
}
