package work

import (
	"slices"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
)

// widenings change sizes of tensors with two or more dimensions: so that the product of two
// matrices accepts them, that with a transposed one, and ops on tensors that are alike.
var widenings = []tensorChange{
	func(all []*sample.TensorSpec) { ts := matrices(all); widen(ts[:1], 2, 1); widen(ts[len(ts)-1:], 1, 2) },
	func(all []*sample.TensorSpec) { ts := matrices(all); widen(ts[:1], 2, 1); widen(ts[len(ts)-1:], 2, 2) },
	func(all []*sample.TensorSpec) { widen(matrices(all), 2, 1) },
	func(all []*sample.TensorSpec) { widen(matrices(all)[:1], 2, 1) },
}

// widen adds to a size of tensors, by its distance from the end.
func widen(ts []*sample.TensorSpec, dim int, by int64) {
	for _, t := range ts {
		t.Sizes[len(t.Sizes)-dim] += by
	}
}

// square reports whether a tensor has two equal sizes.
func square(t *sample.TensorSpec) bool {
	sizes := slices.Sorted(slices.Values(t.Sizes))
	return len(slices.Compact(sizes)) < len(t.Sizes)
}

// uneven repeats a call with square matrices with unequal sizes, once for each setting, and returns
// it, or nil: with equal sizes, a fake or a kernel for meta that confuses dimensions returns the
// right ones.
func (r *Runner) uneven(t *Target, c *sample.Case) *attempt {
	if r.Level < asserts.Meta || !t.operator.Added || !c.Plain() || shared(c) || len(matrices(c.Tensors())) == 0 || !t.uneven.first(setting(c)) {
		return nil
	}
	if !slices.ContainsFunc(matrices(c.Tensors()), square) {
		return nil
	}
	for a := range r.again(t, c, widenings...) {
		return a
	}
	return nil
}
