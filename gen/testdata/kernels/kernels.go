// Package kernels has two kernels, and a mark of an op that is not in the schema.
package kernels

import "github.com/opassert/opassert/asserts"

// A Tensor is a minimal tensor type.
type Tensor struct{}

// Observe implements asserts.Tensor.
func (*Tensor) Observe(*asserts.Observation, asserts.Level) {}

//opassert:kernel add.Tensor
func Add(self, other *Tensor, alpha float64) *Tensor { return &Tensor{} }

//opassert:kernel mul.Tensor
func Mul(a, b *Tensor) *Tensor { return &Tensor{} }

//opassert:kernel sub.Tensor
func Sub(other, self *Tensor) *Tensor { return &Tensor{} }

//opassert:kernel div.Tensor self=self other=other
func Div(other, self *Tensor) *Tensor { return &Tensor{} }

//opassert:kernel rsub other=self self=other
func Reversed(other, self *Tensor) *Tensor { return &Tensor{} }

//opassert:kernel neg.out
func (out *Tensor) NegOut(self *Tensor) *Tensor { return out }

//opassert:kernel mul_
func (t *Tensor) MulInPlace(other *Tensor) *Tensor { return t }

//opassert:kernel zero_
func ZeroInPlace(t *Tensor) *Tensor { return t }

//opassert:kernel copy_
func CopyInPlace(self, from *Tensor) *Tensor { return self }

//opassert:kernel gone
func Gone(self *Tensor) *Tensor { return &Tensor{} }
