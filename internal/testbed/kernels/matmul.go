package kernels

import (
	"context"
	"fmt"

	"github.com/opassert/opassert/internal/testbed/c10"
)

// MM stops between rows when ctx is done.
//
//opassert:kernel mm
func MM(ctx context.Context, self, mat2 *c10.Tensor) (*c10.Tensor, error) {
	if self.Dim() != 2 || mat2.Dim() != 2 || self.Size(1) != mat2.Size(0) {
		return nil, c10.Errorf("sizes %v and %v do not multiply", self.Sizes(), mat2.Sizes())
	}
	n, inner, m := self.Size(0), self.Size(1), mat2.Size(1)
	out := c10.Empty([]int64{n, m}, c10.Common(self, mat2))
	for i := range n {
		if err := ctx.Err(); err != nil {
			out.Release()
			return nil, fmt.Errorf("matrix product: %w", err)
		}
		for j := range m {
			sum := 0.0
			for k := range inner {
				sum += self.Float(i*inner+k) * mat2.Float(k*m+j)
			}
			out.SetFloat(i*m+j, sum)
		}
	}
	return out, nil
}

//opassert:kernel addmm
func AddMM(ctx context.Context, self, mat1, mat2 *c10.Tensor, beta, alpha float64) (*c10.Tensor, error) {
	out, err := MM(ctx, mat1, mat2)
	if err != nil {
		return nil, err
	}
	return fill(out, zipped(self, out, out.Sizes(), func(bias, v float64) float64 { return beta*bias + alpha*v })), nil
}

// Linear is composite: a product with the transposed weight, and the bias.
//
//opassert:kernel linear
func Linear(ctx context.Context, input, weight, bias *c10.Tensor) (*c10.Tensor, error) {
	transposed := T(weight)
	defer transposed.Release()
	if bias == nil {
		return MM(ctx, input, transposed)
	}
	return AddMM(ctx, bias, input, transposed, 1, 1)
}
