package kernels

import (
	"slices"

	"github.com/opassert/opassert/internal/testbed/c10"
)

// broadcastSizes returns the sizes that all tensors expand to, without undefined ones.
//
// Source: aten/src/ATen/ExpandUtils.cpp, infer_size.
func broadcastSizes(ts ...*c10.Tensor) []int64 {
	var sizes []int64
	for _, t := range ts {
		if t != nil {
			sizes = broadcastTwo(sizes, t.Sizes())
		}
	}
	return sizes
}

func broadcastTwo(a, b []int64) []int64 {
	if len(a) < len(b) {
		a, b = b, a
	}
	sizes := slices.Clone(a)
	for i, n := range b {
		d := len(a) - len(b) + i
		c10.Check(a[d] == n || a[d] == 1 || n == 1, "sizes %v and %v do not broadcast", a, b)
		if a[d] == 1 {
			sizes[d] = n
		}
	}
	return sizes
}

// readAs reads a tensor expanded to sizes.
func readAs(t *c10.Tensor, sizes []int64) []float64 {
	view := Expand(t, sizes, false)
	defer view.Release()
	return read(view)
}
