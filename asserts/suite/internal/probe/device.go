package probe

import "github.com/opassert/opassert/asserts"

// Noted is what Device knows about an op that it has a note of.
const Noted = "noted"

// Device finds calls that throw on a device, and not on the CPU and Meta.
var Device = add(Row{
	Name: "device", How: "on cpu and meta after it threw", At: Refused, Budget: many,
	Key:  wholeCall,
	When: func(c *Call) bool { return !c.Known[Noted] },
	Fault: asserts.Fault{
		Code: asserts.MetaAlias, Symptom: "refuses",
		Saw: "on the CPU and Meta it returns, here it raises: ",
	},
	NoProgram: "the report has the message",
})
