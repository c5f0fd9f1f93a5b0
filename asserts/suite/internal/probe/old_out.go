package probe

import (
	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
	"github.com/opassert/opassert/schema"
)

var _ = add(Row{
	Name: "old-out", How: "with other elements of an argument for a result", At: Returned, Budget: many, InGo: true,
	Key: wholeCall,
	When: func(c *Call) bool {
		return c.Op.Function != nil && c.Op.Schema.Kind() == schema.Out && c.Repeatable() && !c.leavesMemory() &&
			c.Case.Plain() && !c.Case.Shares()
	},
	Find: func(r *Row, c *Call) []asserts.Fault {
		zeros, ones := c.filled(0), c.filled(1)
		if zeros == nil || ones == nil || !c.Same(zeros, c.filled(0)) || !c.Same(ones, c.filled(1)) {
			return nil
		}
		return c.Differing(zeros, ones, r.Fault)
	},
	Fault: asserts.Fault{
		Code: asserts.UninitialisedResult, Symptom: "old-out",
		Saw: "are what it held before the call",
	},
	NoProgram: "no program fills an argument for a result",
})

func (c *Call) filled(value float64) *asserts.Seen {
	like := c.Case.Clone()
	for i, arg := range c.Op.Schema.Func.Args {
		for _, t := range like.Args[i].AppendTensors(nil) {
			if arg.Out {
				t.Fill, t.Values = sample.Fill{Name: "const", Value: value}, nil
			}
		}
	}
	return c.call(like, First)
}
