package suite

import (
	"context"
	"os/exec"
	"time"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/schema"
)

// A Run is one run over many ops.
type Run struct {
	Operators []engine.Operator
	From, To  int                         // case numbers
	Workers   int                         // processes
	Timeout   time.Duration               // for one case, in processor time
	Compiling time.Duration               // for one that compiles its kernel, when Python kernels are first called; or 0
	Worker    func() *exec.Cmd            // starts a worker: a process with WorkerVariable set, which calls Serve
	Listed    *Listed                     // from a worker that has been started; may be nil
	Started   func(op string)             // called before each op that runs, concurrently; may be nil
	Done      func(*report.OpResult)      // called after each op, sequentially; may be nil
	Known     map[string]*report.OpResult // results of an earlier, interrupted run

	// Lint returns the checks of an op that are not made of its schema and registration: those that are waived, with the
	// reason. It may be nil: none are made.
	Lint func(*schema.Op) []asserts.Excuse

	// Found gets what a case of an op shows, concurrently; may be nil.
	Found func(op string, shown []*report.Finding)

	// Waived returns the reason why an op may crash like this, or ""; may be nil.
	Waived func(op *schema.Op, cause string) string

	// Frames reduces a crash's stack, with the innermost frame first, to the op's own functions; may be nil.
	Frames func(raw []string) []string

	// Foreign returns why a crash with such a stack is not the op's, or ""; may be nil.
	Foreign func(raw []string) string
}

// The numbers of crashes after which an op is given up: its own that repeat alone, all its own, and all.
const (
	maxRepeated = 3
	maxCrashes  = 10
	maxForeign  = 40
)

// maxSlow is the number of costly cases of an op that may time out before the op is given up.
const maxSlow = 3

// glance divides the time limit of a case for its first run; one that takes more runs again, alone,
// with the full limit. Most of those never end.
const glance = 4

func (r *Run) longest() time.Duration { return max(r.Timeout, r.Compiling) }

// costly divides that limit for a costly case.
const costly = 2

func (r *Run) feed(ctx context.Context, queue chan<- engine.Operator, finish func(*report.OpResult)) {
	defer close(queue)
	for _, o := range r.Operators {
		if known := r.Known[o.Name()]; known != nil {
			finish(known)
			continue
		}
		if o.Missing != "" {
			res := report.NewOpResult(o)
			if r.Lint != nil {
				res.Lint(o, r.Lint(o.Schema))
			}
			finish(res)
			continue
		}
		select {
		case queue <- o:
		case <-ctx.Done():
			return
		}
	}
}
