// Package idle has kernels that do nothing, so that a benchmark of their wrappers is a benchmark of the checks.
package idle

import "github.com/opassert/opassert/internal/testbed/c10"

// made are tensors with one reference that kernels return in turn, so that consecutive calls return different ones.
var (
	made = [2]*c10.Tensor{c10.Full([]int64{16}, 0, c10.TensorOptions{}), c10.Full([]int64{16}, 0, c10.TensorOptions{})}
	turn uint8
)

func fresh() *c10.Tensor {
	turn ^= 1
	return made[turn]
}

//opassert:kernel look
//go:noinline
func Look(self *c10.Tensor) int64 { return 1 }

//opassert:kernel unary
//go:noinline
func Unary(self *c10.Tensor) *c10.Tensor { return fresh() }

//opassert:kernel binary
//go:noinline
func Binary(self, other *c10.Tensor) *c10.Tensor { return fresh() }

//opassert:kernel join
//go:noinline
func Join(tensors []*c10.Tensor) *c10.Tensor { return fresh() }
