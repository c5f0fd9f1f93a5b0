package kernels

import "github.com/opassert/opassert/internal/testbed/c10"

//opassert:kernel split.Tensor
func SplitTensor(self *c10.Tensor, splitSize, dim int64) []*c10.Tensor {
	n := self.Size(dim)
	c10.Check(splitSize > 0 || splitSize == 0 && n == 0, "split into pieces of %d", splitSize)
	lengths := []int64{min(splitSize, n)}
	for start := splitSize; start < n; start += splitSize {
		lengths = append(lengths, min(splitSize, n-start))
	}
	return SplitWithSizes(self, lengths, dim)
}

//opassert:kernel split_with_sizes
func SplitWithSizes(self *c10.Tensor, splitSizes []int64, dim int64) []*c10.Tensor {
	var pieces []*c10.Tensor
	start := int64(0)
	for _, n := range splitSizes {
		pieces = append(pieces, Narrow(self, dim, start, n))
		start += n
	}
	c10.Check(start == self.Size(dim), "pieces %v of a dimension of %d", splitSizes, self.Size(dim))
	return pieces
}

//opassert:kernel unbind.int
func UnbindInt(self *c10.Tensor, dim int64) []*c10.Tensor {
	var pieces []*c10.Tensor
	for i := range self.Size(dim) {
		pieces = append(pieces, SelectInt(self, dim, i))
	}
	return pieces
}

// Chunk is composite: it splits into at most n pieces of one size.
//
//opassert:kernel chunk
func Chunk(self *c10.Tensor, chunks, dim int64) []*c10.Tensor {
	c10.Check(chunks > 0, "%d chunks", chunks)
	return SplitTensor(self, (self.Size(dim)+chunks-1)/chunks, dim)
}

//opassert:kernel unbind_copy.int
func UnbindCopyInt(self *c10.Tensor, dim int64) []*c10.Tensor {
	pieces := UnbindInt(self, dim)
	for i, view := range pieces {
		pieces[i] = Clone(view, nil)
		view.Release()
	}
	return pieces
}

//opassert:kernel unbind_copy.int_out
func UnbindCopyIntOut(self *c10.Tensor, dim int64, out []*c10.Tensor) {
	copyEachOut(out, UnbindInt(self, dim))
}

func copyEachOut(out, pieces []*c10.Tensor) {
	c10.Check(len(out) == len(pieces), "%d out tensors for %d pieces", len(out), len(pieces))
	for i, piece := range pieces {
		copyOut(out[i], piece)
	}
}
