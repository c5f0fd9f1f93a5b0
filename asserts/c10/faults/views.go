package faults

import (
	"github.com/opassert/opassert/asserts/c10"
	"github.com/opassert/opassert/asserts/c10/kernels"
)

// Faults in a return that should be a view: it is a copy.

// copied returns a copy in place of a view.
func copied(view *c10.Tensor) *c10.Tensor {
	defer view.Release()
	return kernels.Clone(view, nil)
}

//opassert:kernel fault::copies_view.single
func CopiesView(self *c10.Tensor) *c10.Tensor { return copied(self.Alias()) }

//opassert:kernel fault::drops_view
func DropsView(*c10.Tensor) *c10.Tensor { return nil }

//opassert:kernel fault::copies_view.tuple
func CopiesSecondView(self *c10.Tensor) (*c10.Tensor, *c10.Tensor) {
	return self.Alias(), CopiesView(self)
}

//opassert:kernel fault::copies_view.list
func CopiesThirdView(self *c10.Tensor) []*c10.Tensor { return thrice(self.Alias, copied) }

// The same in ops that write another argument as well.

//opassert:kernel fault::copies_view_writing.single
func CopiesViewAndWrites(self, log *c10.Tensor) *c10.Tensor {
	increased(log)
	return CopiesView(self)
}

//opassert:kernel fault::copies_view_writing.tuple
func CopiesSecondViewAndWrites(self, log *c10.Tensor) (*c10.Tensor, *c10.Tensor) {
	increased(log)
	return CopiesSecondView(self)
}

//opassert:kernel fault::copies_view_writing.list
func CopiesThirdViewAndWrites(self, log *c10.Tensor) []*c10.Tensor {
	increased(log)
	return CopiesThirdView(self)
}

// Faults in a return that should be a written argument.

//opassert:kernel fault::returns_copy_.single
func ReturnsCopy(self *c10.Tensor) *c10.Tensor { return kernels.Clone(increased(self), nil) }

//opassert:kernel fault::copies_result.out
func ReturnsCopyOfOut(self, out *c10.Tensor) *c10.Tensor {
	return kernels.Clone(kernels.AbsOut(self, out), nil)
}

//opassert:kernel fault::copies_result.outs
func ReturnsCopyOfSecondOut(self, low, high *c10.Tensor) (*c10.Tensor, *c10.Tensor) {
	kernels.AminmaxOut(self, nil, false, low, high)
	return low, kernels.Clone(high, nil)
}
