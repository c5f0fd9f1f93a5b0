package suite

import (
	"context"
	"os/exec"
	"time"

	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/report"
	"github.com/opassert/opassert/schema"
)

// A Run is one run over many ops.
type Run struct {
	Operators []engine.Operator
	From, To  int                         // case numbers
	Workers   int                         // processes
	Timeout   time.Duration               // of one case, in processor time
	Compiling time.Duration               // of one that compiles its kernel, where Python's are first called; or 0
	Lint      bool                        // look at the schemas too (OA012)
	Worker    func() *exec.Cmd            // starts a worker: a process with WorkerVariable set, which calls Serve
	Listed    *Listed                     // by one that has been started; may be nil
	Started   func(op string)             // called before each op that runs, several at a time; may be nil
	Done      func(*report.OpResult)      // called after each op, one at a time; may be nil
	Known     map[string]*report.OpResult // results of an earlier, interrupted run

	// Waived returns the reason why an op may crash like this, or ""; may be nil.
	Waived func(op *schema.Op, cause string) string

	// Frames turns the stack of a crash as a worker reports it, innermost frame
	// first, into the op's own functions; may be nil.
	Frames func(raw []string) []string

	// Foreign returns why a crash with such a stack is not the op's, or ""; may be nil.
	Foreign func(raw []string) string
}

// After how many crashes an op is given up: of its own that repeat alone, of all its
// own, and of all.
const (
	maxRepeated = 3
	maxCrashes  = 10
	maxForeign  = 40
)

// maxSlow is how many costly cases of an op may run out of time before the op is
// given up.
const maxSlow = 3

// glance is the part of its time that a case gets among others; one that takes
// more runs again, alone, with all of it. Most of those never end.
const glance = 4

// longest returns the time limit of a case that runs alone.
func (r *Run) longest() time.Duration { return max(r.Timeout, r.Compiling) }

// costly is the part of that time that a costly case gets.
const costly = 2

func (r *Run) feed(ctx context.Context, queue chan<- engine.Operator, finish func(*report.OpResult)) {
	defer close(queue)
	for _, o := range r.Operators {
		if known := r.Known[o.Name()]; known != nil {
			finish(known)
			continue
		}
		if o.Missing != "" {
			finish(report.NewOpResult(o))
			continue
		}
		select {
		case queue <- o:
		case <-ctx.Done():
			return
		}
	}
}
