package probe

import (
	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/compare"
	"github.com/opassert/opassert/asserts/suite/internal/design"
)

var _ = add(Row{
	Name: "lost-resized", How: "with other sizes of an argument for a result", At: Returned, Budget: some,
	Key:       wholeCall,
	When:      func(c *Call) bool { return c.Case.Plain() && len(unknown(c, isOut)) > 0 },
	Find:      func(r *Row, c *Call) []asserts.Fault { return lost(r, c, grow, isOut, isOut) },
	Fault:     lostWrite("lost-resized", "the kernel writes {}, but not where its sizes are not the result's"),
	NoProgram: lintHasNone,
})

func isOut(c *Call, w compare.Write) bool { return design.IsOut(c.Op.Schema.Func.Args[w.Arg]) }
