package probe

import (
	"slices"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
	"github.com/opassert/opassert/internal/tensor"
)

// Kernels divide large tensors alone among threads.
var _ = add(Row{
	Name: "threads-large", How: "with large tensors", At: Judged, Budget: one,
	When:   func(c *Call) bool { return dividing(c) && len(growing(c.Case)) > 0 },
	Change: lengthened(worthDividing),
	Fast:   lengthened(worthDividing / 16), // all elements would take seconds, if an op computes each pair of them
	Fault:  asserts.Fault{Code: asserts.NondeterministicResult},
})

// dividing reports whether a call of an op with several threads must return what it does with one.
func dividing(c *Call) bool {
	return c.Divides() && !c.Seen.Autograd && c.Repeatable() && !c.leavesMemory() && c.Case.Plain() && !c.Case.Shares()
}

// HasLarge reports whether a case has a tensor that is worth dividing. Its bytes are not copied.
func HasLarge(c *sample.Case) bool {
	return slices.ContainsFunc(c.Tensors(),
		func(t *sample.TensorSpec) bool { return tensor.Numel(t.Sizes) >= worthDividing })
}

// isLarge reports whether kernels divide the work of a call, and must return what one thread does.
func isLarge(c *Call) bool { return dividing(c) && HasLarge(c.Case) }
