package work

import (
	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
)

// A Runner runs the cases of ops in this process, one after the other.
type Runner struct {
	Engine engine.Engine
	Level  asserts.Level
	Policy *asserts.Policy
	Seed   uint64
	// Tolerance is how far values may be from those of the CPU, relative to 1 + their size;
	// 0: they are not compared.
	Tolerance float64

	room     []byte // for the bytes of a tensor
	earlier  earlier
	readings map[string]string // errors of an op, with why no arguments avoid them, or ""

	threwLast *sample.Case // since the changes that calls leave were last asked for
}

// earlier holds the fresh returns of the last call of an op, and its arguments if
// kernels may keep them. The next call must not change them: this alone shows kernels
// that return memory of one buffer under a new storage each time, and kernels that
// write an argument of an earlier call.
type earlier struct {
	op      *Target
	tensors []engine.Tensor
	args    []int // of each, as in asserts.Earlier
	then    [][]asserts.Observation
	extra   []engine.Tensor // released with them
}
