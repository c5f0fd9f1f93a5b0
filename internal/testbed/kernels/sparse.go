package kernels

import (
	"slices"

	"github.com/opassert/opassert/internal/testbed/c10"
)

// Members of a sparse tensor are returned as views, so that the caller's handle has one reference.

//opassert:kernel _indices
func Indices(self *c10.Tensor) *c10.Tensor { return self.Indices().Alias() }

//opassert:kernel crow_indices
func CrowIndices(self *c10.Tensor) *c10.Tensor { return self.CrowIndices().Alias() }

//opassert:kernel _sparse_coo_tensor_with_dims_and_tensors
func SparseCooTensorWithDimsAndTensors(sparseDim, denseDim int64, size []int64, indices, values *c10.Tensor,
	dtype *c10.DType, layout *c10.Layout, device *c10.Device, pinMemory, isCoalesced *bool) *c10.Tensor {
	c10.Check(sparseDim == indices.Size(0) && denseDim == values.Dim()-1, "%d and %d dimensions of %v", sparseDim,
		denseDim, size)
	// PyTorch's result shares both, which its schema does not declare; this one clones them.
	return assembleCOO(Clone(indices, nil), Clone(values, nil), size, isCoalesced != nil && *isCoalesced)
}

func assembleCOO(indices, values *c10.Tensor, sizes []int64, coalesced bool) *c10.Tensor {
	defer releaseAll([]*c10.Tensor{indices, values})
	return c10.NewSparseCOO(indices, values, sizes, coalesced)
}

// addSparse puts the entries of both side by side, uncoalesced.
func addSparse(self, other *c10.Tensor, alpha float64) *c10.Tensor {
	c10.Check(slices.Equal(self.Sizes(), other.Sizes()), "sparse tensors of %v and %v", self.Sizes(), other.Sizes())
	scaled := unary(other.Values(), func(v float64) float64 { return alpha * v })
	defer scaled.Release()
	indices, err := Cat([]*c10.Tensor{self.Indices(), other.Indices()}, 1)
	c10.Check(err == nil, "%v", err)
	values, err := Cat([]*c10.Tensor{self.Values(), scaled}, 0)
	c10.Check(err == nil, "%v", err)
	return assembleCOO(indices, values, self.Sizes(), false)
}
