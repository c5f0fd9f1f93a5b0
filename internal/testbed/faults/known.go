package faults

import (
	"github.com/opassert/opassert/internal/testbed/c10"
	"github.com/opassert/opassert/internal/testbed/kernels"
)

// PanicsHalfway panics while it holds temporaries.
//
//opassert:kernel fault::panics_
func PanicsHalfway(self, x *c10.Tensor) *c10.Tensor {
	view := self.Alias()
	defer view.Release()
	held := x.Retain()
	defer held.Release()
	c10.Check(held.Numel() == view.Numel(), "sizes %v and %v", view.Sizes(), held.Sizes())
	return increased(self)
}

// Healthy kernels that a naive check would report.

//opassert:kernel fault::adds_
func Adds(self, x *c10.Tensor) *c10.Tensor { return kernels.AddTensorInPlace(self, x, 1) }

//opassert:kernel fault::adds_.list
func AddsList(self *c10.Tensor, x []*c10.Tensor) *c10.Tensor {
	for _, t := range x {
		if t != nil {
			kernels.AddTensorInPlace(self, t, 1)
		}
	}
	return self
}

// WritesThroughFirst writes one of two tensors that may share a storage.
//
//opassert:kernel fault::writes_through
func WritesThroughFirst(first, second *c10.Tensor) { increased(first) }
