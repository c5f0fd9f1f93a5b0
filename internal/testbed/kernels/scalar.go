package kernels

import (
	"math"
	"slices"

	"github.com/opassert/opassert/internal/testbed/c10"
)

//opassert:kernel _local_scalar_dense
func LocalScalarDense(self *c10.Tensor) float64 {
	checkValues(self, "item")
	c10.Check(self.Numel() == 1, "one value of a tensor of %d", self.Numel())
	return self.Float(0)
}

//opassert:kernel equal
func Equal(self, other *c10.Tensor) bool {
	checkValues(self, "equal")
	if !slices.Equal(self.Sizes(), other.Sizes()) {
		return false
	}
	for i := range self.Numel() {
		if self.Float(i) != other.Float(i) {
			return false
		}
	}
	return true
}

// ChooseQparamsPerTensor is composite.
//
//opassert:kernel _choose_qparams_per_tensor
func ChooseQparamsPerTensor(self *c10.Tensor, reduceRange bool) (float64, int64) {
	lowest, highest := Aminmax(self, nil, false)
	defer releaseAll([]*c10.Tensor{lowest, highest})
	steps := 255.0
	if reduceRange {
		steps = 127
	}
	bottom, top := min(LocalScalarDense(lowest), 0), max(LocalScalarDense(highest), 0)
	scale := max((top-bottom)/steps, 1e-9)
	return scale, int64(min(max(math.RoundToEven(-bottom/scale), 0), steps))
}

// checkValues rejects a meta tensor, as the result depends on values.
func checkValues(t *c10.Tensor, op string) {
	c10.Check(!t.IsMeta(), "%s depends on values, and a meta tensor has none", op)
}
