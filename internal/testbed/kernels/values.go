package kernels

import (
	"slices"

	"github.com/opassert/opassert/internal/testbed/c10"
)

func read(t *c10.Tensor) []float64 {
	values := make([]float64, t.Numel())
	for i := range values {
		values[i] = t.Float(int64(i))
	}
	return values
}

func fill(t *c10.Tensor, values []float64) *c10.Tensor {
	for i, v := range values {
		t.SetFloat(int64(i), v)
	}
	return t
}

func overwrite(t *c10.Tensor, values []float64) *c10.Tensor {
	checkNoOverlap(t)
	fill(t, values)
	t.MarkWritten()
	return t
}

// copyOut copies a temporary into an out argument, which gets its sizes, and releases it.
//
// Source: aten/src/ATen/native/Resize.cpp, resize_output.
func copyOut(out, from *c10.Tensor) *c10.Tensor {
	defer from.Release()
	if !slices.Equal(out.Sizes(), from.Sizes()) {
		out.Resize(from.Sizes())
	}
	checkNoOverlap(out)
	copyElements(out, from)
	out.MarkWritten()
	return out
}

func copyElements(to, from *c10.Tensor) {
	for i := range to.Numel() {
		to.CopyElement(i, from, i)
	}
}

// checkNoOverlap rejects a tensor to write whose elements share memory, such as an expanded one.
//
// Source: aten/src/ATen/MemoryOverlap.cpp, assert_no_internal_overlap.
func checkNoOverlap(t *c10.Tensor) {
	for d, n := range t.Sizes() {
		c10.Check(n <= 1 || t.Strides()[d] != 0, "elements of the written tensor share memory; clone it first")
	}
}

func releaseAll(ts []*c10.Tensor) {
	for _, t := range ts {
		t.Release()
	}
}
