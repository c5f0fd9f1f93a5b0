package probe

import (
	"slices"

	"github.com/opassert/opassert/asserts/suite/internal/sample"
	"github.com/opassert/opassert/schema"
)

var _ = add(Row{
	Name: "neighbours", How: "with other bytes beside an argument", At: Repeated, InGo: true,
	When: func(c *Call) bool { // an op that returns a view may return these
		return !c.leavesMemory() && c.Op.Schema.View() == schema.NotView &&
			slices.ContainsFunc(c.Case.Tensors(), (*sample.TensorSpec).Surrounded)
	},
	Setup: neighbours,
	Fault: nondeterminism("neighbours", "depend on bytes beside an argument in its storage"),
	Program: &Program{
		Before: "surround([{held}], byte)", Fault: Follows,
		Says: "{x} depends on bytes of an argument's storage that are not its elements",
	},
})
