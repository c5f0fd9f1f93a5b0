package probe

import (
	"slices"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
	"github.com/opassert/opassert/schema"
)

// With equal sizes, a fake or a kernel for meta that confuses dimensions returns the right ones. The changes
// are accepted by the product of two matrices, that with a transposed one, and ops on tensors that are alike.
var _ = add(Row{
	Name: "sizes", How: "with unequal sizes", At: Judged, Budget: some,
	When: func(c *Call) bool {
		return c.Level >= asserts.Meta && c.Case.Plain() && !c.Case.Shares() && slices.ContainsFunc(matrices(c.Case), square)
	},
	Change: []Change{
		func(_ *schema.Op, c *sample.Case) {
			ts := matrices(c)
			widen(ts[:1], 2, 1)
			widen(ts[len(ts)-1:], 1, 2)
		},
		func(_ *schema.Op, c *sample.Case) {
			ts := matrices(c)
			widen(ts[:1], 2, 1)
			widen(ts[len(ts)-1:], 2, 2)
		},
		func(_ *schema.Op, c *sample.Case) { widen(matrices(c), 2, 1) },
		func(_ *schema.Op, c *sample.Case) { widen(matrices(c)[:1], 2, 1) },
	},
	Fault: asserts.Fault{Code: asserts.MetaAlias},
})

// square reports whether a tensor has two equal sizes.
func square(t *sample.TensorSpec) bool {
	return len(slices.Compact(slices.Sorted(slices.Values(t.Sizes)))) < len(t.Sizes)
}
