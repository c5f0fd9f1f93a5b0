package faults

import (
	"github.com/opassert/opassert/asserts/c10"
	"github.com/opassert/opassert/asserts/c10/kernels"
)

// Faults in a return that shares with an argument, or with another return,
// and has no alias set to say so.

// ReturnsOther returns another tensor on the same storage where a new view
// of self is due.
//
//opassert:kernel fault::shares_view.single
func ReturnsOther(self, x *c10.Tensor) *c10.Tensor { return x.Retain() }

//opassert:kernel fault::shares_view.tuple
func SharesBesideView(self *c10.Tensor) (*c10.Tensor, *c10.Tensor) {
	return self.Alias(), self.Alias()
}

//opassert:kernel fault::shares_view.list
func SharesThirdBesideView(self *c10.Tensor) (*c10.Tensor, []*c10.Tensor) {
	return self.Alias(), append(separate(self, 2), self.Alias())
}

// separate returns so many new tensors.
func separate(self *c10.Tensor, n int) []*c10.Tensor {
	var ts []*c10.Tensor
	for range n {
		ts = append(ts, kernels.Neg(self))
	}
	return ts
}

//opassert:kernel fault::shares.single
func Shares(self, x *c10.Tensor) *c10.Tensor { return x.Alias() }

//opassert:kernel fault::shares.tuple
func ReturnsSelfSecond(self *c10.Tensor) (*c10.Tensor, *c10.Tensor) {
	return kernels.Neg(self), self.Retain()
}

//opassert:kernel fault::shares.list
func SharesThirdWithElement(self *c10.Tensor, x []*c10.Tensor) []*c10.Tensor {
	return append(separate(self, 2), x[1].Alias())
}

//opassert:kernel fault::shares_writing.single
func SharesWritten(self *c10.Tensor) *c10.Tensor { return increased(self).Alias() }

//opassert:kernel fault::shares_writing.tuple
func SharesWrittenSecond(self *c10.Tensor) (*c10.Tensor, *c10.Tensor) {
	return kernels.Neg(self), SharesWritten(self)
}

//opassert:kernel fault::shares_writing.list
func SharesWrittenThird(self *c10.Tensor) []*c10.Tensor {
	return append(separate(self, 2), SharesWritten(self))
}

//opassert:kernel fault::twins.tuple
func Twins(self *c10.Tensor) (*c10.Tensor, *c10.Tensor) {
	result := kernels.Neg(self)
	return result, result.Retain()
}

//opassert:kernel fault::twins.list
func TwinsInList(self *c10.Tensor) []*c10.Tensor {
	results := separate(self, 2)
	return append(results, results[1].Alias())
}

//opassert:kernel fault::twins_view.tuple
func TwinsBesideView(self *c10.Tensor) (view, first, second *c10.Tensor) {
	first, second = Twins(self)
	return self.Alias(), first, second
}

//opassert:kernel fault::twins_view.list
func TwinsInListBesideView(self *c10.Tensor) (*c10.Tensor, []*c10.Tensor) {
	return self.Alias(), TwinsInList(self)
}

//opassert:kernel fault::twins_writing.tuple
func TwinsAndWrites(self *c10.Tensor) (*c10.Tensor, *c10.Tensor) { return Twins(increased(self)) }

//opassert:kernel fault::twins_writing.list
func TwinsInListAndWrites(self *c10.Tensor) []*c10.Tensor { return TwinsInList(increased(self)) }
