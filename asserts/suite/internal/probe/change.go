package probe

import (
	"slices"

	"github.com/opassert/opassert/asserts/suite/internal/design"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
	"github.com/opassert/opassert/internal/tensor"
	"github.com/opassert/opassert/schema"
)

// A Change modifies a case of an op.
type Change func(*schema.Op, *sample.Case)

// Unchanged leaves a case as it is.
func Unchanged(*schema.Op, *sample.Case) {}

func matrices(c *sample.Case) []*sample.TensorSpec {
	return slices.DeleteFunc(c.Tensors(), func(t *sample.TensorSpec) bool { return len(t.Sizes) < 2 })
}

func widen(ts []*sample.TensorSpec, dim int, by int64) {
	for _, t := range ts {
		t.Sizes[len(t.Sizes)-dim] += by
	}
}

func transpose(_ *schema.Op, c *sample.Case) {
	for _, t := range matrices(c) {
		t.Arrangement = tensor.Transposed
	}
}

// grow makes tensors for results one-dimensional, with an element more.
func grow(op *schema.Op, c *sample.Case) {
	outs := design.OutsOf(op, c)
	for i, t := range c.Tensors() {
		if outs[i] {
			t.Sizes, t.Arrangement = []int64{tensor.Numel(t.Sizes) + 1}, tensor.Contiguous
		}
	}
}

// worthDividing is the number of elements from which kernels divide a tensor: over twice at::parallel_for's grain.
const worthDividing = 1 << 16

// lengthened returns changes that give tensors at least this number of elements: those of the sizes of
// the first, or the first alone if the op treats it as a batch.
func lengthened(elements int64) []Change {
	return []Change{
		func(_ *schema.Op, c *sample.Case) {
			all := growing(c)
			first := slices.Clone(all[0].Sizes)
			if slices.ContainsFunc(all, func(t *sample.TensorSpec) bool { return !slices.Equal(t.Sizes, first) }) {
				all = all[:1] // an op may compute each pair of elements
			}
			lengthen(all, elements)
		},
		func(_ *schema.Op, c *sample.Case) { lengthen(growing(c)[:1], elements) },
	}
}

func growing(c *sample.Case) []*sample.TensorSpec {
	return slices.DeleteFunc(c.Tensors(),
		func(t *sample.TensorSpec) bool { return len(t.Sizes) == 0 || tensor.Numel(t.Sizes) == 0 })
}

// lengthen multiplies the first size of each tensor by about the same number: odd numbers do not divide evenly.
func lengthen(all []*sample.TensorSpec, elements int64) {
	for _, t := range all {
		t.Sizes[0] = t.Sizes[0]*(elements/tensor.Numel(t.Sizes)+1) | 1
	}
}
