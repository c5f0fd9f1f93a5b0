package kernels

import "github.com/opassert/opassert/internal/testbed/c10"

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
	copyEachOut(out, UnbindInt(self, dim))
}

func copyEachOut(out, pieces []*c10.Tensor) {
	c10.Check(len(out) == len(pieces), "%d out tensors for %d pieces", len(out), len(pieces))
	for i, piece := range pieces {
		copyOut(out[i], piece)
	}
}
