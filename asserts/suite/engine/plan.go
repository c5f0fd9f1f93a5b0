package engine

import (
	"github.com/opassert/opassert/asserts"
)

// A Plan is the checks of the calls of an op.
type Plan struct {
	Op     asserts.Op       // with every check up to the run's level, waived ones included
	Waived []asserts.Excuse // the checks that an allowlist waives
}
