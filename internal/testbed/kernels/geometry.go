package kernels

import (
	"slices"

	"github.com/opassert/opassert/internal/testbed/c10"
)

// A geometry holds the sizes, strides and offset of a tensor. A view is a tensor with another geometry.
type geometry struct {
	sizes, strides []int64
	offset         int64
}

func geometryOf(t *c10.Tensor) geometry {
	return geometry{slices.Clone(t.Sizes()), slices.Clone(t.Strides()), t.Offset()}
}

func (g geometry) view(t *c10.Tensor) *c10.Tensor { return t.AsStrided(g.sizes, g.strides, g.offset) }

func (g geometry) impose(t *c10.Tensor) *c10.Tensor {
	t.SetSizesAndStrides(g.sizes, g.strides, g.offset)
	return t
}

func (g geometry) wrap(dim int64) int64 { return c10.WrapDim(dim, int64(len(g.sizes))) }

// t swaps the dimensions of a matrix; a tensor of fewer dimensions is unchanged.
func (g geometry) t() geometry {
	c10.Check(len(g.sizes) <= 2, "t() of a tensor of %d dimensions", len(g.sizes))
	slices.Reverse(g.sizes)
	slices.Reverse(g.strides)
	return g
}

func (g geometry) selected(dim, index int64) geometry {
	c10.Check(len(g.sizes) > 0, "select of a 0-dim tensor")
	d := g.wrap(dim)
	n := g.sizes[d]
	c10.Check(-n <= index && index < n, "index %d is outside dimension %d of size %d", index, d, n)
	if index < 0 {
		index += n
	}
	g.offset += index * g.strides[d]
	return g.drop(d)
}

func (g geometry) drop(d int64) geometry {
	g.sizes = slices.Delete(g.sizes, int(d), int(d)+1)
	g.strides = slices.Delete(g.strides, int(d), int(d)+1)
	return g
}

func (g geometry) slice(dim, start, end, step int64) geometry {
	c10.Check(len(g.sizes) > 0, "slice of a 0-dim tensor")
	c10.Check(step > 0, "slice step %d", step)
	d := g.wrap(dim)
	n := g.sizes[d]
	start = cutBound(start, 0, n)
	end = cutBound(end, start, n)
	g.offset += start * g.strides[d]
	g.sizes[d] = (end - start + step - 1) / step
	g.strides[d] *= step
	return g
}

func cutBound(bound, low, n int64) int64 {
	if bound < 0 {
		bound += n
	}
	return min(max(bound, low), n)
}

func (g geometry) expand(sizes []int64) geometry {
	added := len(sizes) - len(g.sizes)
	c10.Check(added >= 0, "expand of sizes %v to %v", g.sizes, sizes)
	out := geometry{slices.Clone(sizes), make([]int64, len(sizes)), g.offset}
	for d := range sizes {
		if d < added {
			c10.Check(sizes[d] >= 0, "expand adds a dimension of size %d", sizes[d])
			continue
		}
		have, stride := g.sizes[d-added], g.strides[d-added]
		if sizes[d] == -1 || sizes[d] == have {
			out.sizes[d], out.strides[d] = have, stride
			continue
		}
		c10.Check(have == 1, "expand of sizes %v to %v", g.sizes, sizes)
	}
	return out
}

// inferSizes computes the one size that may be -1.
//
// Source: aten/src/ATen/InferSize.h, infer_size.
func inferSizes(sizes []int64, numel int64) []int64 {
	out := slices.Clone(sizes)
	open, known := -1, int64(1)
	for d, n := range sizes {
		if n == -1 {
			c10.Check(open < 0, "two sizes of %v are left open", sizes)
			open = d
			continue
		}
		known *= n
	}
	if open >= 0 {
		c10.Check(known > 0 && numel%known == 0, "%d elements do not make %v", numel, sizes)
		out[open] = numel / known
		known = numel
	}
	c10.Check(known == numel, "%d elements do not make %v", numel, sizes)
	return out
}
