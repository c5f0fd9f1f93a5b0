package work

import (
	"slices"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
)

// mostSettings is for how many values of an op's other arguments a call is made with
// sizes that differ.
const mostSettings = 8

// widenings change sizes of tensors that have two dimensions and more: as the product of
// two matrices takes them, that with a transposed one, and ops on tensors that are alike.
var widenings = []func([]*sample.TensorSpec){
	func(ts []*sample.TensorSpec) { widen(ts[:1], 2, 1); widen(ts[len(ts)-1:], 1, 2) },
	func(ts []*sample.TensorSpec) { widen(ts[:1], 2, 1); widen(ts[len(ts)-1:], 2, 2) },
	func(ts []*sample.TensorSpec) { widen(ts, 2, 1) },
	func(ts []*sample.TensorSpec) { widen(ts[:1], 2, 1) },
}

// widen adds to a size of tensors, by its distance from the end.
func widen(ts []*sample.TensorSpec, dim int, by int64) {
	for _, t := range ts {
		t.Sizes[len(t.Sizes)-dim] += by
	}
}

// matrices returns the tensors of a case with two dimensions and more.
func matrices(c *sample.Case) []*sample.TensorSpec {
	return slices.DeleteFunc(c.Tensors(), func(t *sample.TensorSpec) bool { return len(t.Sizes) < 2 })
}

// square reports whether a tensor has a size twice.
func square(t *sample.TensorSpec) bool {
	sizes := slices.Sorted(slices.Values(t.Sizes))
	return len(slices.Compact(sizes)) < len(t.Sizes)
}

// setting returns the part that cases share whose tensors alone differ.
func setting(c *sample.Case) string {
	like := c.Clone()
	for _, spec := range like.Tensors() {
		*spec = sample.TensorSpec{}
	}
	return like.String()
}

// uneven makes a call with square matrices again with sizes that differ, once for each
// setting: where sizes are equal, a fake or a kernel for meta that takes one dimension
// for another returns the right ones. It returns nil where there is no such call.
func (r *Runner) uneven(t *Target, c *sample.Case) *attempt {
	key := setting(c)
	if r.Level < asserts.Meta || !t.operator.Added || !c.Plain() || shared(c) || t.uneven[key] || len(t.uneven) == mostSettings || len(matrices(c)) == 0 {
		return nil
	}
	t.uneven[key] = true
	if !slices.ContainsFunc(matrices(c), square) {
		return nil
	}
	for _, change := range widenings {
		wide := c.Clone()
		change(matrices(wide))
		if a, err := r.Try(t, wide); err == nil {
			return a
		}
	}
	return nil
}
