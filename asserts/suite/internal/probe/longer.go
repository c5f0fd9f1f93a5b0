package probe

import "github.com/opassert/opassert/asserts"

// A buffer of a kernel that stays as long as the longest call needs holds, in shorter calls, old elements at its end.
var _ = add(Row{
	Name: "longer", How: "after a call with longer tensors", At: Repeated, Budget: one,
	When: func(c *Call) bool {
		repeats := !c.Seen.Autograd && c.Repeatable() && !c.leavesMemory()
		return repeats && c.Case.Plain() && !c.Case.Shares() && !HasLarge(c.Case) && len(growing(c.Case)) > 0
	},
	Find: func(r *Row, c *Call) []asserts.Fault {
		for _, change := range lengthened(worthDividing / 16) {
			longer := c.Case.Clone()
			if change(c.Op.Schema, longer); c.call(longer, First) == nil {
				continue
			}
			if then := c.Again(First); then != nil && !c.Same(c.Seen, then) && c.Repeats(First, then) {
				return c.Differing(c.Seen, then, r.Fault)
			}
			return nil
		}
		return nil
	},
	Fault: asserts.Fault{
		Code: asserts.NondeterministicResult, Symptom: "longer-call",
		Saw: "are not those from before a call of the op with longer tensors",
	},
	NoProgram: "the program of its code makes calls of one length alone",
})
