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
	Fault: asserts.Fault{
		Code: asserts.NondeterministicResult, Symptom: asserts.Threads,
		Saw:    "depend on the argument of at::set_num_threads",
		Breaks: "on a machine with another number of cores its result differs",
		Fix:    "divide the work by its size alone, and combine the results of the parts in order",
	},
	Program: &Program{
		Before: "torch.set_num_threads(2 if byte == 0xA6 else 1)", Fault: Follows,
		Says: "{x} depends on the number of threads",
	},
})
