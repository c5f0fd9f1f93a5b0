package probe

import "github.com/opassert/opassert/asserts"

var _ = add(Row{
	Name: "threads", How: "with two threads", At: Returned, Budget: one,
	When: isLarge,
	Find: func(r *Row, c *Call) []asserts.Fault {
		then := c.Again(twoThreads)
		if then == nil || !c.Repeats(twoThreads, then) || !c.Repeats(First, c.Seen) {
			return nil
		}
		return about(Unlike(c.Judged, c.Seen, then), r.Fault) // the bytes of large tensors are not copied
	},
	Fault: nondeterminism("threads", "depend on the argument of at::set_num_threads"),
	Program: &Program{
		Before: "torch.set_num_threads(2 if byte == 0xA6 else 1)", Fault: Follows,
		Says: "{x} depends on the number of threads",
	},
})
