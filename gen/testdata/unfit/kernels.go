// Package unfit has a kernel that is not that of its op.
package unfit

import "github.com/opassert/opassert/asserts"

// A Tensor is the least that a wrapper takes.
type Tensor struct{}

// Observe implements asserts.Tensor.
func (*Tensor) Observe(*asserts.Observation, asserts.Level) {}

//opassert:kernel add.Tensor
func Add(self *Tensor) *Tensor { return self }
