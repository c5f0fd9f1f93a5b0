package samples

import "github.com/opassert/opassert/internal/c10"

// cooMembers makes indices, one of them twice, and values of a 3 by 4 matrix.
func cooMembers(b builder) (indices, values *c10.Tensor) {
	at := []float64{2, 0, 2, 1, 3, 3, 3, 0}
	indices = b.tensor([]int64{2, 4}, c10.Int64, []int64{4, 1}, func(i int64) float64 { return at[i] })
	return indices, b.floats(4)
}

// coo makes a sparse tensor that is not coalesced.
func coo(b builder) *c10.Tensor {
	indices, values := cooMembers(b)
	defer indices.Release()
	defer values.Release()
	return c10.NewSparseCOO(indices, values, []int64{3, 4}, false)
}

func csr(b builder) *c10.Tensor {
	rows := []float64{0, 2, 4}
	crow := b.tensor([]int64{3}, c10.Int64, []int64{1}, func(i int64) float64 { return rows[i] })
	col, values := b.ints(3, 4), b.floats(4)
	defer crow.Release()
	defer col.Release()
	defer values.Release()
	return c10.NewSparseCSR(crow, col, values, []int64{2, 3})
}

func sparse() []testCase {
	sorts := []sort{plain}
	size := []int64{3, 4}
	noDevice := (*c10.Device)(nil)
	return append(
		only(sorts,
			testCase{op: "_indices", name: "coo", args: func(b builder) []any { return []any{coo(b)} }},
			testCase{op: "_values", name: "coo", args: func(b builder) []any { return []any{coo(b)} }},
			testCase{op: "is_coalesced", name: "coo", args: func(b builder) []any { return []any{coo(b)} }},
			testCase{op: "_coalesce", name: "coo", args: func(b builder) []any { return []any{coo(b)} }},
			testCase{op: "_to_dense", name: "coo", args: func(b builder) []any { return []any{coo(b), noDType, noBool} }},
			testCase{op: "_to_dense", name: "csr", args: func(b builder) []any { return []any{csr(b), ptr(c10.Float64), noBool} }},
			testCase{op: "values", name: "csr", args: func(b builder) []any { return []any{csr(b)} }},
			testCase{op: "crow_indices", name: "csr", args: func(b builder) []any { return []any{csr(b)} }},
			testCase{op: "col_indices", name: "csr", args: func(b builder) []any { return []any{csr(b)} }},
			testCase{op: "_sparse_coo_tensor_with_dims_and_tensors", name: "matrix", args: func(b builder) []any {
				indices, values := cooMembers(b)
				return []any{int64(2), int64(0), size, indices, values, noDType, noLayout, noDevice, noBool, noBool}
			}},
			testCase{op: "_sparse_coo_tensor_with_dims_and_tensors", name: "dense-dimension", args: func(b builder) []any {
				return []any{int64(1), int64(1), size, b.ints(3, 1, 2), b.floats(2, 4), noDType, noLayout, noDevice, noBool, ptr(true)}
			}},
			testCase{op: "sparse_coo_tensor.indices_size", name: "matrix", args: func(b builder) []any {
				indices, values := cooMembers(b)
				return []any{indices, values, size, noDType, noLayout, noDevice, noBool, noBool}
			}},
		),
		only([]sort{plain, strided, expanded},
			testCase{op: "_to_sparse.sparse_dim", name: "matrix", args: func(b builder) []any { return []any{b.floats(2, 3), int64(2)} }},
			testCase{op: "_to_sparse.sparse_dim", name: "empty", args: func(b builder) []any { return []any{b.floats(0, 3), int64(2)} }},
			testCase{op: "_to_sparse_csr", name: "matrix", args: func(b builder) []any { return []any{b.floats(2, 3), noInt} }},
		)...,
	)
}
