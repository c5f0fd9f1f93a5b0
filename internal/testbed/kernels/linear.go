package kernels

import (
	"context"
	"fmt"

	"github.com/opassert/opassert/internal/testbed/c10"
)

// Linear is composite: a product with the transposed weight, and the bias. It stops between rows when ctx is done.
//
//opassert:kernel linear
func Linear(ctx context.Context, input, weight, bias *c10.Tensor) (*c10.Tensor, error) {
	if input.Dim() != 2 || weight.Dim() != 2 || input.Size(1) != weight.Size(1) {
		return nil, c10.Errorf("sizes %v do not multiply with weights of sizes %v", input.Sizes(), weight.Sizes())
	}
	n, inner, m := input.Size(0), input.Size(1), weight.Size(0)
	out := c10.Empty([]int64{n, m}, c10.Common(input, weight))
	for i := range n {
		if err := ctx.Err(); err != nil {
			out.Release()
			return nil, fmt.Errorf("matrix product: %w", err)
		}
		for j := range m {
			sum := 0.0
			for k := range inner {
				sum += input.Float(i*inner+k) * weight.Float(j*inner+k)
			}
			out.SetFloat(i*m+j, sum)
		}
	}
	if bias == nil {
		return out, nil
	}
	return fill(out, zipped(out, bias, out.Sizes(), plus(1))), nil
}
