package engine

import (
	"github.com/opassert/opassert/asserts"
)

// A Plan says what the calls of an op are held against.
type Plan struct {
	Op     asserts.Op       // with every check up to the run's level, waived ones included
	Waived []asserts.Excuse // the checks that an allowlist waives
}
