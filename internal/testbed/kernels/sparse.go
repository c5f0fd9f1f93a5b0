package kernels

import "github.com/opassert/opassert/internal/testbed/c10"

// Members of a sparse tensor are returned as views, so that the caller's handle has
// one reference.

//opassert:kernel _indices
func Indices(self *c10.Tensor) *c10.Tensor { return self.Indices().Alias() }

//opassert:kernel _values
func ValuesOfCOO(self *c10.Tensor) *c10.Tensor { return self.Values().Alias() }

//opassert:kernel values
func Values(self *c10.Tensor) *c10.Tensor { return self.Values().Alias() }

//opassert:kernel crow_indices
func CrowIndices(self *c10.Tensor) *c10.Tensor { return self.CrowIndices().Alias() }

//opassert:kernel col_indices
func ColIndices(self *c10.Tensor) *c10.Tensor { return self.ColIndices().Alias() }

//opassert:kernel is_coalesced
func IsCoalesced(self *c10.Tensor) bool { return self.IsCoalesced() }

//opassert:kernel _sparse_coo_tensor_with_dims_and_tensors
func SparseCooTensorWithDimsAndTensors(sparseDim, denseDim int64, size []int64, indices, values *c10.Tensor,
	dtype *c10.DType, layout *c10.Layout, device *c10.Device, pinMemory, isCoalesced *bool) *c10.Tensor {
	c10.Check(sparseDim == indices.Size(0) && denseDim == values.Dim()-1, "%d and %d dimensions of %v", sparseDim, denseDim, size)
	// PyTorch's result shares both, which its schema does not declare; this one
	// clones them.
	return assembleCOO(Clone(indices, nil), Clone(values, nil), size, isCoalesced != nil && *isCoalesced)
}

// SparseCooTensorIndicesSize is composite.
//
//opassert:kernel sparse_coo_tensor.indices_size
func SparseCooTensorIndicesSize(indices, values *c10.Tensor, size []int64,
	dtype *c10.DType, layout *c10.Layout, device *c10.Device, pinMemory, isCoalesced *bool) *c10.Tensor {
	return SparseCooTensorWithDimsAndTensors(indices.Size(0), values.Dim()-1, size, indices, values,
		dtype, layout, device, pinMemory, isCoalesced)
}

// assembleCOO makes a sparse tensor that owns the given members.
func assembleCOO(indices, values *c10.Tensor, sizes []int64, coalesced bool) *c10.Tensor {
	defer releaseAll([]*c10.Tensor{indices, values})
	return c10.NewSparseCOO(indices, values, sizes, coalesced)
}

func cloneSparse(self *c10.Tensor) *c10.Tensor {
	return assembleCOO(Clone(self.Indices(), nil), Clone(self.Values(), nil), self.Sizes(), self.IsCoalesced())
}

func cloneSparseCSR(self *c10.Tensor) *c10.Tensor {
	members := []*c10.Tensor{Clone(self.CrowIndices(), nil), Clone(self.ColIndices(), nil), Clone(self.Values(), nil)}
	defer releaseAll(members)
	return c10.NewSparseCSR(members[0], members[1], members[2], self.Sizes())
}

// addSparse puts the entries of both side by side, uncoalesced.
func addSparse(self, other *c10.Tensor, alpha float64) *c10.Tensor {
	c10.Check(equalSizes(self.Sizes(), other.Sizes()), "sparse tensors of %v and %v", self.Sizes(), other.Sizes())
	scaled := unary(other.Values(), func(v float64) float64 { return alpha * v })
	defer scaled.Release()
	indices, err := Cat([]*c10.Tensor{self.Indices(), other.Indices()}, 1)
	c10.Check(err == nil, "%v", err)
	values, err := Cat([]*c10.Tensor{self.Values(), scaled}, 0)
	c10.Check(err == nil, "%v", err)
	return assembleCOO(indices, values, self.Sizes(), false)
}

//opassert:kernel _to_sparse.sparse_dim
func ToSparseSparseDim(self *c10.Tensor, sparseDim int64) *c10.Tensor {
	c10.Check(sparseDim == self.Dim() && self.Dim() > 0, "%d sparse dimensions of %d: only all of them are implemented", sparseDim, self.Dim())
	places := Nonzero(self)
	transposed := T(places)
	places.Release()
	defer transposed.Release()
	columns := UnbindInt(transposed, 0)
	defer releaseAll(columns)
	values, err := IndexTensor(self, columns)
	c10.Check(err == nil, "%v", err)
	return assembleCOO(Clone(transposed, nil), values, self.Sizes(), true)
}

// flatIndices is entryElements of a COO tensor.
func flatIndices(self *c10.Tensor) []float64 {
	strides := c10.ContiguousStrides(self.Sizes())
	at := make([]float64, self.Indices().Size(1))
	for i, v := range read(self.Indices()) {
		at[i%len(at)] += v * float64(strides[i/len(at)])
	}
	return at
}

//opassert:kernel _to_dense
func ToDense(self *c10.Tensor, dtype *c10.DType, maskedGrad *bool) *c10.Tensor {
	out := c10.Full(self.Sizes(), 0, overrides(self.Values().Options(), dtype, nil, nil))
	c10.Check(self.Values().Dim() == 1, "to_dense with dense dimensions is not implemented")
	for entry, to := range entryElements(self) {
		i := int64(to)
		out.SetFloat(i, out.Float(i)+self.Values().Float(int64(entry)))
	}
	return out
}

// entryElements returns the element number of each entry.
func entryElements(self *c10.Tensor) []float64 {
	if self.Layout() == c10.SparseCOO {
		return flatIndices(self)
	}
	var at []float64
	for row := range self.Size(0) {
		for entry := self.CrowIndices().Int(row); entry < self.CrowIndices().Int(row+1); entry++ {
			at = append(at, float64(row*self.Size(1)+self.ColIndices().Int(entry)))
		}
	}
	return at
}

//opassert:kernel _to_sparse_csr
func ToSparseCSR(self *c10.Tensor, denseDim *int64) *c10.Tensor {
	c10.Check(self.Dim() == 2 && denseDim == nil, "a CSR tensor is made of a matrix")
	checkValues(self, "to_sparse_csr")
	crow, col, values := []int64{0}, []int64{}, []float64{}
	all, columns := read(self), self.Size(1)
	for row := range self.Size(0) {
		for k, v := range all[row*columns : (row+1)*columns] {
			if v != 0 {
				col, values = append(col, int64(k)), append(values, v)
			}
		}
		crow = append(crow, int64(len(col)))
	}
	n := []int64{int64(len(col))}
	members := []*c10.Tensor{
		c10.FromInts(crow, []int64{int64(len(crow))}, self.Options()),
		c10.FromInts(col, n, self.Options()),
		c10.FromFloats(values, n, self.Options()),
	}
	defer releaseAll(members)
	return c10.NewSparseCSR(members[0], members[1], members[2], self.Sizes())
}
