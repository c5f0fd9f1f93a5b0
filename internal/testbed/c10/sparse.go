package c10

import "slices"

// sparse holds the members of a tensor of a sparse layout, which has no storage.
//
// Source: aten/src/ATen/SparseTensorImpl.h and SparseCsrTensorImpl.h.
type sparse struct {
	rows      *Tensor // COO: the indices, sparse dimensions by entries; CSR: the row pointers
	cols      *Tensor // CSR only
	values    *Tensor
	coalesced bool // COO: indices are sorted and without duplicates
}

func (s *sparse) retain() *sparse {
	aliases := &sparse{rows: s.rows.Retain(), values: s.values.Retain(), coalesced: s.coalesced}
	if s.cols != nil {
		aliases.cols = s.cols.Retain()
	}
	return aliases
}

func (s *sparse) release() {
	s.rows.Release()
	s.cols.Release()
	s.values.Release()
}

// NewSparseCOO makes a sparse tensor on aliases of its members: indices, one
// row for each sparse dimension, and values, one entry for each column.
//
// Source: aten/src/ATen/native/sparse/SparseTensor.cpp, new_with_dims_and_tensor_sparse_symint.
func NewSparseCOO(indices, values *Tensor, sizes []int64, coalesced bool) *Tensor {
	Check(indices.Dim() == 2 && indices.DType() == Int64, "indices are a matrix of int64")
	Check(values.Dim() >= 1 && values.Size(0) == indices.Size(1), "values have %v, indices %v", values.Sizes(),
		indices.Sizes())
	Check(indices.Size(0)+values.Dim()-1 == int64(len(sizes)), "indices %v and values %v do not make %v", indices.Sizes(),
		values.Sizes(), sizes)
	return newSparse(SparseCOO, sizes, &sparse{rows: indices.Alias(), values: values.Alias(), coalesced: coalesced})
}

// NewSparseCSR makes a sparse matrix on aliases of its members.
//
// Source: aten/src/ATen/native/sparse/SparseCsrTensor.cpp, _sparse_compressed_tensor_unsafe.
func NewSparseCSR(crow, col, values *Tensor, sizes []int64) *Tensor {
	Check(len(sizes) == 2, "a CSR tensor is a matrix, not %v", sizes)
	Check(crow.Numel() == sizes[0]+1, "%d row pointers for %d rows", crow.Numel(), sizes[0])
	Check(col.Numel() == values.Numel(), "%d columns for %d values", col.Numel(), values.Numel())
	return newSparse(SparseCSR, sizes, &sparse{rows: crow.Alias(), cols: col.Alias(), values: values.Alias()})
}

func newSparse(l Layout, sizes []int64, s *sparse) *Tensor {
	impl := newImpl(s.values.Options(), slices.Clone(sizes))
	impl.layout = l
	impl.sparse = s
	return &Tensor{impl}
}

func (t *Tensor) members(l Layout) *sparse {
	x := t.get()
	Check(x.layout == l, "a %v tensor where a %v one is needed", x.layout, l)
	return x.sparse
}

// Indices returns the indices of a COO tensor, which still owns them.
func (t *Tensor) Indices() *Tensor { return t.members(SparseCOO).rows }

// IsCoalesced reports whether a COO tensor's indices are sorted and without duplicates.
func (t *Tensor) IsCoalesced() bool { return t.members(SparseCOO).coalesced }

// CrowIndices returns the row pointers of a CSR tensor, which still owns them.
func (t *Tensor) CrowIndices() *Tensor { return t.members(SparseCSR).rows }

// Values returns the values of a sparse tensor, which still owns them.
func (t *Tensor) Values() *Tensor {
	x := t.get()
	Check(x.sparse != nil, "a %v tensor where a sparse one is needed", x.layout)
	return x.sparse.values
}
