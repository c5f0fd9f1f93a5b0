package probe

import "github.com/opassert/opassert/asserts"

// races is the number of calls with two threads: only where both write an element at once an update is lost.
const races = 50

var _ = add(Row{
	Name: "races", How: "with two threads, as before", At: Returned, Budget: one,
	When: isLarge,
	Find: func(r *Row, c *Call) []asserts.Fault {
		first := c.Again(twoThreads)
		for range races {
			then := c.Again(twoThreads)
			if first == nil || then == nil {
				return nil
			}
			if differ := Unlike(c.Judged, first, then); len(differ) > 0 {
				if !c.Repeats(First, c.Seen) {
					return nil
				}
				return about(differ, r.Fault)
			}
		}
		return nil
	},
	Fault: nondeterminism("races", "differ between two calls with two threads"),
	Program: &Program{
		Often: true, Before: "torch.set_num_threads(2)", Fault: "seen[0] != seen[1]",
		Says: "{x} differs between calls with two threads",
	},
})
