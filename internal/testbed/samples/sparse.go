package samples

import "github.com/opassert/opassert/internal/testbed/c10"

// Members of a sparse matrix: indices, with a duplicate, and values.
var (
	cooIndices = elements([]int64{2, 4}, c10.Int64, (*builder).apart, listed(2, 0, 2, 1, 3, 3, 3, 0))
	cooValues  = floats(4)
)

// coo is a sparse tensor that is not coalesced.
var coo = tensorOf(func(b *builder) *c10.Tensor {
	indices, values := b.tensor(cooIndices), b.tensor(cooValues)
	defer indices.Release()
	defer values.Release()
	return c10.NewSparseCOO(indices, values, []int64{3, 4}, false)
})

var csr = tensorOf(func(b *builder) *c10.Tensor {
	rows := b.tensor(elements([]int64{3}, c10.Int64, (*builder).apart, listed(0, 2, 4)))
	columns, values := b.tensor(ints(3, 4)), b.tensor(floats(4))
	defer rows.Release()
	defer columns.Release()
	defer values.Release()
	return c10.NewSparseCSR(rows, columns, values, []int64{2, 3})
})

func sparse() []testCase {
	size := []int64{3, 4}
	return each([]variant{plain},
		call("_indices", "coo", coo),
		call("crow_indices", "csr", csr),
		call("_sparse_coo_tensor_with_dims_and_tensors", "matrix", 2, 0, size, cooIndices, cooValues, noDType, noLayout,
			noDevice, noBool, noBool),
		call("_sparse_coo_tensor_with_dims_and_tensors", "dense-dimension", 1, 1, size, ints(3, 1, 2), floats(2, 4), noDType,
			noLayout, noDevice, noBool, new(true)),
	)
}
