package probe

import "github.com/opassert/opassert/asserts"

// Guard finds accesses of a call that threw, in memory on the other side of pages without access.
var Guard = add(Row{
	Name: "guard", How: "on the other side of pages without access", At: Refused, Budget: some,
	Key:       func(c *Call) string { return c.Threw },
	Setup:     OtherSide,
	Fault:     asserts.Fault{Code: asserts.OutOfBounds},
	NoProgram: "the program of the code shows each access",
})
