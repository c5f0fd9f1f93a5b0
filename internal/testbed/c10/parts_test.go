package c10_test

import (
	"fmt"
	"testing"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/internal/testbed/c10"
)

var (
	unary = asserts.Op{
		Name: "aten::f", Schema: "f(Tensor self) -> Tensor",
		Args: []asserts.Subject{{Name: "self", Type: "Tensor"}}, Results: []asserts.Subject{{Name: "result", Type: "Tensor"}},
	}
	writing = asserts.Op{
		Name: "aten::f_", Schema: "f_(Tensor(a!) self, Tensor other) -> Tensor(a!)",
		Args: []asserts.Subject{
			{Name: "self", Type: "Tensor(a!)", Before: []string{"a"}, Write: true},
			{Index: 1, Name: "other", Type: "Tensor"},
		},
		Results: []asserts.Subject{{Name: "result", Type: "Tensor(a!)", Before: []string{"a"}, Write: true}},
	}
)

// call judges a call of a kernel at the content level.
func call(op *asserts.Op, kernel func() *c10.Tensor, args ...*c10.Tensor) asserts.Verdict {
	seen := &asserts.Seen{Level: asserts.Content}
	for _, t := range args {
		seen.Before = append(seen.Before, asserts.Observe(t, asserts.Content))
	}
	result := kernel()
	for _, t := range args {
		seen.After = append(seen.After, asserts.Observe(t, asserts.Content))
	}
	seen.Results = []asserts.Observation{asserts.Observe(result, asserts.Content)}
	return asserts.Judge(op, seen, asserts.Aware())
}

func vector() *c10.Tensor {
	return c10.FromFloats([]float64{5, 6}, []int64{2}, c10.TensorOptions{DType: c10.Float32})
}

func sparse(values *c10.Tensor) *c10.Tensor {
	indices := c10.FromInts([]int64{0, 1, 1, 2}, []int64{2, 2}, c10.TensorOptions{})
	defer indices.Release()
	return c10.NewSparseCOO(indices, values, []int64{2, 3}, true)
}

func wrapped(inner *c10.Tensor) *c10.Tensor { return c10.Wrap(inner, c10.WrapperSubclass) }

// Parts are observed like tensors: the members of a sparse tensor, and the inner
// tensor of a wrapper subclass.
func TestInside(t *testing.T) {
	for name, make := range map[string]func(*c10.Tensor) *c10.Tensor{"sparse": sparse, "wrapper subclass": wrapped} {
		inner := vector()
		holder := make(inner)
		fresh := func() *c10.Tensor {
			inner := vector()
			defer inner.Release()
			return make(inner)
		}
		for _, test := range []struct {
			what   string
			op     *asserts.Op
			kernel func() *c10.Tensor
			args   []*c10.Tensor
			want   string
		}{
			{"fresh", &unary, fresh, []*c10.Tensor{holder}, "[]"},
			{"shares the inner tensor", &unary, func() *c10.Tensor { return make(inner) }, []*c10.Tensor{holder}, "[OA007]"},
			{"writes the inner tensor", &unary, func() *c10.Tensor { inner.SetFloat(0, 9); return fresh() }, []*c10.Tensor{holder}, "[OA009]"},
			{"shares a plain argument", &unary, func() *c10.Tensor { return make(inner) }, []*c10.Tensor{inner}, "[OA007]"},
			{"writes a wrapper whose inner tensor is also passed", &writing, func() *c10.Tensor {
				inner.SetFloat(0, inner.Float(0)+1)
				inner.MarkWritten()
				holder.MarkWritten()
				return holder
			}, []*c10.Tensor{holder, inner}, "[]"},
		} {
			verdict := call(test.op, test.kernel, test.args...)
			var codes []asserts.Code
			for _, v := range verdict.Violations {
				codes = append(codes, v.Code)
			}
			if got := fmt.Sprint(codes); got != test.want {
				t.Errorf("%s, %s: %v, want %s", name, test.what, verdict.Violations, test.want)
			}
		}
	}
}
