package suite

import (
	"strings"

	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/internal/work"
	"github.com/opassert/opassert/asserts/suite/report"
)

// An ending records how a case ended its worker: the crash, and the facts from
// which the run decides how to continue.
type ending struct {
	report.Crash
	calling string       // the call that was being made, encoded, where the worker was asked to show it
	called  string       // the same, or the one before it
	shown   *report.Case // of a case that ran and found something: the crash is that of a smaller call
	dump    string       // the output of a worker that was interrupted because it hangs
	cost    string       // of the case, as its worker reported it
	mixed   bool         // the worker had run other ops too, which may be to blame
	outside bool         // the worker was killed or stopped, which is seldom a kernel's doing
}

// what is the prefix of an uncaught exception's message, as the C++ run time prints it.
const what = "  what():  "

// said returns the line that says most of those that a kernel wrote before it ended its
// worker: the message of an exception, or else the last one.
func said(before, line string) string {
	if strings.HasPrefix(before, what) && !strings.HasPrefix(line, what) {
		return before
	}
	return line
}

// onDevice reports whether the op was called on a device that is not PyTorch's own.
func (e *ending) onDevice() bool {
	return e.Device != "" && e.Device != engine.CPU && e.Device != engine.Meta
}

// expected reports whether the worker ended at a limit of ours on memory or time,
// and not through a fault of the kernel.
func (e *ending) expected() bool {
	return e.Cause == report.OutOfMemory && e.cost != "" || e.Cause == report.Hang && e.cost == work.WordCostly
}
