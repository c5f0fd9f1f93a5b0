package suite

import (
	"strings"

	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/internal/work"
)

// An ending records how a case ended its worker: the crash, and the facts from which the run decides how to continue.
type ending struct {
	report.Crash
	calling string             // the call in progress, encoded, if the worker was asked to show it
	called  string             // the same, or the previous call
	shown   *report.CaseResult // of a case that ran and found something: the crash is in a smaller call
	dump    string             // the output of a hanging worker that was interrupted
	cost    string             // of the case, as its worker reported it
	mixed   bool               // the worker had also run other ops, which may be to blame
	outside bool               // the worker was killed or stopped, seldom by a kernel
}

// what is the prefix of an uncaught exception's message in the C++ run time.
const what = "  what():  "

// said returns the most informative line that a kernel wrote before it ended its worker: an exception's, or the last.
func said(before, line string) string {
	if strings.HasPrefix(before, what) && !strings.HasPrefix(line, what) {
		return before
	}
	return line
}

func (e *ending) onDevice() bool {
	return e.Device != "" && e.Device != engine.CPU && e.Device != engine.Meta
}

// expected reports whether the worker ended at our limit of memory or time, not through a fault of the kernel.
func (e *ending) expected() bool {
	return e.Cause == report.OutOfMemory && e.cost != "" || e.Cause == report.Hang && e.cost == work.WordCostly
}
