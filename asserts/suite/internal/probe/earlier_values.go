package probe

import "github.com/opassert/opassert/asserts"

// EarlierValues is found by new processes, of which some make another call first.
var EarlierValues = add(Row{
	Name: "earlier-values", How: "after a call with other values, in another process", At: Elsewhere, Budget: one,
	Fault: nondeterminism(asserts.EarlierValues, "depend on the values of an earlier call: they differ between two new "+
		"processes, one of which makes a call with other values first, the other one the same call"),
	Program: &Program{
		Apart: true, Before: "if byte == 0xA6:\n    scale([t.data for t in tensors([{held}])], 0.5)\n{first}\nold = " +
			"[{read}]\n{arguments}\n" +
			"for t, new in zip(tensors(old), tensors([{read}])):\n    t.data.copy_(new)\n" +
			"[{read}] = replaced(old, lambda t: t.data)  # at the addresses, and with the _version, of the first ones: as " +
			"where memory is reused",
		Fault: Follows,
		Says:  "{x} depends on the values of an earlier call",
	},
})
