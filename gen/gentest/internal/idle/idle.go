// Package idle has kernels that do nothing, so that a benchmark of their
// wrappers is a benchmark of the checks.
package idle

import "github.com/opassert/opassert/asserts/c10"

// fresh is what the kernels return: a tensor that nobody else holds.
var fresh = c10.Full([]int64{4}, 0, c10.Options{})

//opassert:kernel look
//go:noinline
func Look(self *c10.Tensor) int64 { return 1 }

//opassert:kernel unary
//go:noinline
func Unary(self *c10.Tensor) *c10.Tensor { return fresh }

//opassert:kernel binary
//go:noinline
func Binary(self, other *c10.Tensor) *c10.Tensor { return fresh }

//opassert:kernel join
//go:noinline
func Join(tensors []*c10.Tensor) *c10.Tensor { return fresh }
