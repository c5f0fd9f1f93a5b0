// Package idle has kernels that do nothing, so that a benchmark of their
// wrappers is a benchmark of the checks.
package idle

import "github.com/opassert/opassert/asserts/c10"

//opassert:kernel one
//go:noinline
func One(self *c10.Tensor) int64 { return 1 }

//opassert:kernel three.out
//go:noinline
func Three(self, other, out *c10.Tensor) *c10.Tensor { return out }

//opassert:kernel sixteen
//go:noinline
func Sixteen(tensors []*c10.Tensor) int64 { return 16 }
