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
	// Tolerance is the allowed difference from values on the CPU, relative to 1 + their absolute value; 0 compares none.
	Tolerance float64

	room    []byte // for the bytes of a tensor
	earlier lastCall

	unjudged *sample.Case    // a call since left was called that threw, or a query
	queried  []asserts.Fault // the changes of state by queries
}

// lastCall holds the fresh returns of the last call of an op, and its arguments if kernels may keep
// them. The next call must not change them: only this shows kernels that return memory of one
// buffer under a new storage each time, and kernels that write an argument of an earlier call.
type lastCall struct {
	op      *Target
	tensors []engine.Tensor
	args    []int // of the tensors, as in asserts.Earlier
	then    [][]asserts.Observation
	extra   []engine.Tensor // released with them
}
