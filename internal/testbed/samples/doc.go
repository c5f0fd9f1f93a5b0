// Package samples has calls for the kernels of package kernels: for every op some cases (plain, empty, 0-dim, the same
// tensor twice, an undefined optional, ...), each with every variant of tensors that the op can take.
//
// They are data: the caller calls kernels or generated wrappers with them.
package samples

import (
	"slices"
	"strings"

	"github.com/opassert/opassert/internal/slicesx"
)

// A Sample is one call of an op.
type Sample struct {
	Op   string // "add.Tensor"
	Name string // the case and the variant of the tensors: "broadcast/meta"

	// Args makes new arguments, in the order of the kernel's parameters, a context included. They are equal every time.
	Args func() []any
}

// All returns the samples of every op of package kernels, sorted by op.
func All() []Sample {
	var all []Sample
	for _, c := range slices.Concat(elementwise(), results(), random(), lists(), views(), sparse(), inPlace(), out()) {
		for _, s := range c.variants {
			all = append(all, Sample{c.op, c.name + "/" + string(s),
				func() []any { return slicesx.Map(c.args, (&builder{s, make(map[*description]any)}).argument) }})
		}
	}
	slices.SortStableFunc(all, func(a, b Sample) int { return strings.Compare(a.Op, b.Op) })
	return all
}
