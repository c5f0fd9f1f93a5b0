package kernels

import (
	"slices"

	"github.com/opassert/opassert/internal/testbed/c10"
)

//opassert:kernel cat
func Cat(tensors []*c10.Tensor, dim int64) (*c10.Tensor, error) {
	if len(tensors) == 0 {
		return nil, c10.Errorf("cat of no tensors")
	}
	first := tensors[0]
	if first.Dim() == 0 {
		return nil, c10.Errorf("cat of 0-dim tensors; stack them")
	}
	d := c10.WrapDim(dim, first.Dim())
	sizes := slices.Clone(first.Sizes())
	for _, t := range tensors[1:] {
		if !equalButFor(d, t.Sizes(), sizes) {
			return nil, c10.Errorf("cat of %v and %v along dimension %d", first.Sizes(), t.Sizes(), d)
		}
		sizes[d] += t.Size(d)
	}
	out := c10.Empty(sizes, c10.Common(tensors...))
	start := int64(0)
	for _, t := range tensors {
		end := start + t.Size(d)
		part := SliceTensor(out, d, &start, &end, 1)
		copyElements(part, t)
		part.Release()
		start = end
	}
	return out, nil
}

func equalButFor(d int64, a, b []int64) bool {
	return len(a) == len(b) && slices.Equal(a[:d], b[:d]) && slices.Equal(a[d+1:], b[d+1:])
}

//opassert:kernel _foreach_add.List
func ForeachAddList(self, other []*c10.Tensor, alpha float64) []*c10.Tensor {
	c10.Check(len(self) == len(other), "lists of %d and of %d tensors", len(self), len(other))
	out := make([]*c10.Tensor, len(self))
	for i, t := range self {
		out[i] = AddTensor(t, other[i], alpha)
	}
	return out
}

//opassert:kernel unbind.int
func UnbindInt(self *c10.Tensor, dim int64) []*c10.Tensor {
	var pieces []*c10.Tensor
	for i := range self.Size(dim) {
		pieces = append(pieces, SelectInt(self, dim, i))
	}
	return pieces
}

//opassert:kernel unbind_copy.int_out
func UnbindCopyIntOut(self *c10.Tensor, dim int64, out []*c10.Tensor) {
	n := self.Size(dim)
	c10.Check(int64(len(out)) == n, "%d out tensors for %d pieces", len(out), n)
	for i, t := range out { // one piece at a time, which copyOut releases even where it panics
		copyOut(t, SelectInt(self, dim, int64(i)))
	}
}
