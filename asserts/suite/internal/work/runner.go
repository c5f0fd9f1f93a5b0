package work

import (
	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/engine"
)

// A Runner runs the cases of ops in this process, one after the other.
type Runner struct {
	Engine engine.Engine
	Level  asserts.Level
	Policy *asserts.Policy
	Seed   uint64

	room     []byte // for the bytes of a tensor
	earlier  earlier
	readings map[string]string // errors of an op, with why no arguments avoid them, or ""
}
