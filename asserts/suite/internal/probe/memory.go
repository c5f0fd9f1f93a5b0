package probe

import (
	"fmt"

	"github.com/opassert/opassert/asserts"
)

// The same call is repeated in memory with other initial contents: see the package work.
var Uninitialised = add(Row{
	Name: "memory", How: "in memory with other contents", At: InMemory,
	Setup: OtherFill,
	Fault: asserts.Fault{
		Code: asserts.UninitialisedResult,
		Saw: fmt.Sprintf("depend on the contents of the memory before the call: they differ if it is filled with %#02x or "+
			"%#02x, and are reproducible if it is filled equally", firstFill, secondFill),
	},
	Program: &Program{
		Heap: true, Fault: Follows, Cpp: "follows(seen)",
		Says: "{x} depends on the contents of its memory before the call",
	},
})
