package kernels

import (
	"context"
	"fmt"

	"github.com/opassert/opassert/internal/c10"
)

// product multiplies matrices into out, which is zero, and stops between rows
// when ctx is done.
func product(ctx context.Context, self, mat2, out *c10.Tensor) error {
	n, inner, m := self.Size(0), self.Size(1), mat2.Size(1)
	for i := range n {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("matrix product: %w", err)
		}
		for j := range m {
			sum := 0.0
			for k := range inner {
				sum += self.Float(i*inner+k) * mat2.Float(k*m+j)
			}
			out.SetFloat(i*m+j, sum)
		}
	}
	return nil
}

func checkMatrices(a, b *c10.Tensor, dims int64) error {
	if a.Dim() != dims || b.Dim() != dims || a.Size(-1) != b.Size(-2) {
		return c10.Errorf("sizes %v and %v do not multiply", a.Sizes(), b.Sizes())
	}
	return nil
}

//opassert:kernel mm
func MM(ctx context.Context, self, mat2 *c10.Tensor) (*c10.Tensor, error) {
	if err := checkMatrices(self, mat2, 2); err != nil {
		return nil, err
	}
	out := c10.Empty([]int64{self.Size(0), mat2.Size(1)}, c10.Common(self, mat2))
	if err := product(ctx, self, mat2, out); err != nil {
		out.Release()
		return nil, err
	}
	return out, nil
}

//opassert:kernel bmm
func BMM(ctx context.Context, self, mat2 *c10.Tensor) (*c10.Tensor, error) {
	if err := checkMatrices(self, mat2, 3); err != nil {
		return nil, err
	}
	if self.Size(0) != mat2.Size(0) {
		return nil, c10.Errorf("batches of %d and of %d", self.Size(0), mat2.Size(0))
	}
	out := c10.Empty([]int64{self.Size(0), self.Size(1), mat2.Size(2)}, c10.Common(self, mat2))
	for i := range self.Size(0) {
		slices := []*c10.Tensor{SelectInt(self, 0, i), SelectInt(mat2, 0, i), SelectInt(out, 0, i)}
		err := product(ctx, slices[0], slices[1], slices[2])
		releaseAll(slices)
		if err != nil {
			out.Release()
			return nil, err
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

// Matmul is composite: vectors are taken as matrices of one row or column.
//
//opassert:kernel matmul
func Matmul(ctx context.Context, self, other *c10.Tensor) (*c10.Tensor, error) {
	if self.Dim() == 0 || other.Dim() == 0 {
		return nil, c10.Errorf("matmul of a 0-dim tensor")
	}
	a, b := self.Retain(), other.Retain()
	defer func() { releaseAll([]*c10.Tensor{a, b}) }()
	if self.Dim() == 1 {
		reassign(&a, Unsqueeze(a, 0))
	}
	if other.Dim() == 1 {
		reassign(&b, Unsqueeze(b, 1))
	}
	multiply := MM
	if a.Dim() == 3 {
		multiply = BMM
	}
	out, err := multiply(ctx, a, b)
	if err != nil {
		return nil, err
	}
	if self.Dim() == 1 {
		SqueezeDimInPlace(out, 0)
	}
	if other.Dim() == 1 {
		SqueezeDimInPlace(out, -1)
	}
	return out, nil
}

// reassign puts a new handle in place of one that it releases.
func reassign(t **c10.Tensor, to *c10.Tensor) {
	(*t).Release()
	*t = to
}

// Linear is composite: a product with the transposed weight, and the bias.
//
//opassert:kernel linear
func Linear(ctx context.Context, input, weight, bias *c10.Tensor) (*c10.Tensor, error) {
	transposed := T(weight)
	defer transposed.Release()
	if bias == nil {
		return Matmul(ctx, input, transposed)
	}
	if input.Dim() == 2 {
		return AddMM(ctx, bias, input, transposed, 1, 1)
	}
	out, err := Matmul(ctx, input, transposed)
	if err != nil {
		return nil, err
	}
	return AddTensorInPlace(out, bias, 1), nil
}
