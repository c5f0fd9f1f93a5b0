package probe

import "github.com/opassert/opassert/asserts"

// FirstCall is found by new processes that make the call once.
var FirstCall = add(Row{
	Name: "first-call", How: "as the first one of another process", At: Elsewhere, Budget: one,
	Fault: nondeterminism(asserts.FirstCall, "differ between the first call of the op in a new process and the same "+
		"call after it"),
	Program: &Program{
		Apart: true, Before: "if byte == 0xA6:\n{call}\n{arguments}", Fault: Follows,
		Says: "{x} differs between the first call in a process and the second one",
	},
})
