package probe

import (
	"slices"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
)

var _ = add(Row{
	Name: "rewritten", How: "with arguments that were written", At: Repeated, InGo: true,
	When: func(c *Call) bool {
		writes := func(s asserts.Subject) bool { return s.Write }
		return !c.leavesMemory() && !HasLarge(c.Case) && !slices.ContainsFunc(c.Judged.Args, writes) &&
			slices.ContainsFunc(c.Case.Tensors(), (*sample.TensorSpec).Usual)
	},
	Find: rewritten,
	Fault: nondeterminism("earlier-call", "depend on the contents of the arguments in an earlier call, after which they "+
		"were written"),
	Program: &Program{
		Before: "kept.append([{held}])  # so that its memory is not reused\nif byte == 0xA6:\n    scale(kept[-1], " +
			"0.5)\n{call}\n    scale(kept[-1], 2)",
		Fault: Follows,
		Says:  "{x} depends on the contents of the arguments in an earlier call",
	},
})

// rewritten makes a call, writes its arguments and repeats it, and compares the result with that of
// the call with new tensors of the same values.
func rewritten(r *Row, c *Call) []asserts.Fault {
	old := c.Arguments(c.Case, First)
	if old == nil {
		return nil
	}
	defer old.Release()
	if old.Call() == nil {
		return nil
	}
	fresh := c.Arguments(c.Case, OtherValue)
	if fresh == nil {
		return nil
	}
	defer fresh.Release()
	want := fresh.Call()
	if want == nil || !old.Copy(fresh) {
		return nil
	}
	then := old.Call()
	if then == nil || c.Same(then, want) {
		return nil
	}
	for range Often {
		if !c.Same(then, old.Call()) || !c.Same(want, fresh.Call()) {
			return nil
		}
	}
	return c.Differing(then, want, r.Fault)
}
