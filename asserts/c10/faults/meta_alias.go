package faults

import (
	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/c10"
	"github.com/opassert/opassert/asserts/c10/internal/watch"
	"github.com/opassert/opassert/asserts/c10/kernels"
)

// Faults in what a kernel does on meta: it is right on CPU.

var _ = planting(asserts.MetaAlias, plant{faults: metaAlias})

func metaAlias() []Fault {
	const (
		copied = "a view that is a copy on meta"
		larger = "a result that is larger on meta"
	)
	return []Fault{
		fault(asserts.MetaAlias, View, Single, "copies_on_meta.single", "result", -1, "", one, copied),
		fault(asserts.MetaAlias, View, Tuple, "copies_on_meta.tuple", "result1", -1, "", one, copied),
		fault(asserts.MetaAlias, View, Returned, "copies_on_meta.list", "result", 2, "", one, copied),
		fault(asserts.MetaAlias, OutOfPlace, Single, "enlarges_on_meta.single", "result", -1, "", one, larger),
		fault(asserts.MetaAlias, OutOfPlace, Tuple, "enlarges_on_meta.tuple", "result1", -1, "", one, larger),
		fault(asserts.MetaAlias, OutOfPlace, Returned, "enlarges_on_meta.list", "result", 2, "", one, larger),
		fault(asserts.MetaAlias, InPlace, Single, "enlarges_on_meta_writing.single", "result", -1, "", one, larger),
		fault(asserts.MetaAlias, InPlace, Tuple, "enlarges_on_meta_writing.tuple", "result1", -1, "", one, larger),
		fault(asserts.MetaAlias, InPlace, Returned, "enlarges_on_meta_writing.list", "result", 2, "", one, larger),
	}
}

// OnMeta judges a fault's call held against the same call on meta.
func (f Fault) OnMeta(k asserts.Kernel) asserts.Verdict {
	real := watch.Call(k.Func, f.Args(), asserts.Content)
	meta := watch.Call(k.Func, watch.OnMeta(f.Args()), asserts.Content)
	return asserts.JudgeMeta(k.Op, real.Seen, meta.Seen, asserts.Aware())
}

func isMeta(t *c10.Tensor) bool { return t.Options().Device == c10.Meta }

// copiedOnMeta returns a view, or on meta a copy of one.
func copiedOnMeta(self *c10.Tensor) *c10.Tensor {
	if isMeta(self) {
		return copied(self.Alias())
	}
	return self.Alias()
}

// enlargedOnMeta returns a new tensor, of one element more on meta.
func enlargedOnMeta(self *c10.Tensor) *c10.Tensor {
	if isMeta(self) {
		return c10.Empty([]int64{self.Numel() + 1}, self.Options())
	}
	return kernels.Neg(self)
}

// increasedOnCPU writes self where there is something to write.
func increasedOnCPU(self *c10.Tensor) *c10.Tensor {
	if isMeta(self) {
		return self
	}
	return increased(self)
}

//opassert:kernel fault::copies_on_meta.single
func CopiesViewOnMeta(self *c10.Tensor) *c10.Tensor { return copiedOnMeta(self) }

//opassert:kernel fault::copies_on_meta.tuple
func CopiesSecondViewOnMeta(self *c10.Tensor) (*c10.Tensor, *c10.Tensor) {
	return self.Alias(), copiedOnMeta(self)
}

//opassert:kernel fault::copies_on_meta.list
func CopiesThirdViewOnMeta(self *c10.Tensor) []*c10.Tensor {
	return []*c10.Tensor{self.Alias(), self.Alias(), copiedOnMeta(self)}
}

//opassert:kernel fault::enlarges_on_meta.single
func EnlargesOnMeta(self *c10.Tensor) *c10.Tensor { return enlargedOnMeta(self) }

//opassert:kernel fault::enlarges_on_meta.tuple
func EnlargesSecondOnMeta(self *c10.Tensor) (*c10.Tensor, *c10.Tensor) {
	return kernels.Neg(self), enlargedOnMeta(self)
}

//opassert:kernel fault::enlarges_on_meta.list
func EnlargesThirdOnMeta(self *c10.Tensor) []*c10.Tensor {
	return append(separate(self, 2), enlargedOnMeta(self))
}

//opassert:kernel fault::enlarges_on_meta_writing.single
func EnlargesOnMetaAndWrites(self *c10.Tensor) *c10.Tensor {
	return enlargedOnMeta(increasedOnCPU(self))
}

//opassert:kernel fault::enlarges_on_meta_writing.tuple
func EnlargesSecondOnMetaAndWrites(self *c10.Tensor) (*c10.Tensor, *c10.Tensor) {
	return EnlargesSecondOnMeta(increasedOnCPU(self))
}

//opassert:kernel fault::enlarges_on_meta_writing.list
func EnlargesThirdOnMetaAndWrites(self *c10.Tensor) []*c10.Tensor {
	return EnlargesThirdOnMeta(increasedOnCPU(self))
}
