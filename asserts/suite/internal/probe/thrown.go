package probe

import (
	"fmt"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
)

// A kernel that throws halfway may leave state of its own changed.
var _ = add(Row{
	Name: "thrown", How: "after a call that threw", At: Thrown, Budget: some,
	Key: func(c *Call) string { return report.WithoutNumbers(c.Threw) },
	Find: func(r *Row, c *Call) []asserts.Fault {
		then := c.Again(First)
		if then == nil || c.Same(c.Seen, then) || !c.Repeats(First, then) {
			return nil
		}
		like := r.Fault
		like.Saw = fmt.Sprintf(like.Saw, c.Case, sample.Clip(c.Threw))
		return c.Differing(c.Seen, then, like)
	},
	Fault:     nondeterminism("after-throw", "of the result of %s are not those from before this call, which threw: %s"),
	NoProgram: "the program of its code makes one call alone",
})
