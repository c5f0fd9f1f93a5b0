package watch

import (
	"bytes"
	"encoding/binary"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/opassert/opassert/internal/printable"
	"github.com/opassert/opassert/internal/procstat"
)

// A task is the context that a process names, such as a test.
type task struct {
	name    string
	command string // the command that repeats it, quoted for a shell
}

// An occurrence is a finding in a context.
type occurrence struct {
	*OpFinding
	in    task
	times int
}

// A reporter is a process that names its contexts and reports the findings there
// itself, including those of processes that it started.
type reporter struct {
	parent     *reporter      // the reporter that started it, or nil
	file       *os.File       // its contexts, after the news; see loader.c; nil once it has ended
	read       int64          // how many bytes of it were read
	news       uint64         // increased when there are new findings
	contexts   map[int64]task // by their numbers
	now        int64
	unreported []*occurrence // the findings since it asked
}

const newsSize = 8

// reporters are the reporters of a run, by process; findings guards them.
type reporters map[int]*reporter

// A reporterContext is a reporter in one of its contexts; nil for a process without one.
type reporterContext struct {
	reporter *reporter
	in       task
}

// closeEnded closes the files of ended processes, once they are read: a run may have more processes than open files.
func (h reporters) closeEnded() {
	for pid, at := range h {
		if at.file != nil && //mutate:equivalent true: only saves time
			ended(pid) {
			at.catchUp()
			at.file.Close()
			at.file = nil
		}
	}
}

// catchUp reads the contexts that the process has written since: a number, a name and
// the command that repeats it, on a line each, and a zero byte.
func (at *reporter) catchUp() {
	text, _ := io.ReadAll(io.NewSectionReader(at.file, at.read, math.MaxInt64-at.read))
	for entry := range bytes.SplitAfterSeq(text, []byte{0}) {
		whole, ok := bytes.CutSuffix(entry, []byte{0})
		if !ok {
			return // the process is writing it
		}
		at.read += int64(len(entry))
		parts := strings.SplitN(string(whole), "\n", 3)
		if number, err := strconv.ParseInt(parts[0], 10, 64); err == nil && len(parts) == 3 {
			at.now = number
			at.contexts[number] = task{parts[1], parts[2]}
		}
	}
}

// notify notifies a process, and those that started it, which get its findings if it
// does not ask for them. Findings that no process asks for are printed.
func (at *reporter) notify() {
	for ; at != nil; at = at.parent {
		at.news++
		at.file.WriteAt(binary.NativeEndian.AppendUint64(nil, at.news), 0)
	}
}

// leaves reports whether a process may inherit findings later.
func (h reporters) leaves(parent *reporter) bool {
	for _, at := range h {
		if at.parent == parent && (len(at.unreported) > 0 || h.leaves(at)) {
			return true
		}
	}
	return false
}

// inherit returns the findings of the processes that a reporter has started and that
// ended without asking for them, such as crashed ones.
func (h reporters) inherit(parent *reporter) (unreported []*occurrence) {
	for _, pid := range slices.Sorted(maps.Keys(h)) {
		if at := h[pid]; at != nil && at.parent == parent && ended(pid) {
			delete(h, pid)
			unreported = append(append(unreported, at.unreported...), h.inherit(at)...)
		}
	}
	return unreported
}

// A shownOccurrence is a finding in the answer to a process.
type shownOccurrence struct {
	Context string `json:"context"`
	Code    string `json:"code"`
	Op      string `json:"op"`
	Title   string `json:"title"`
	Report  string `json:"report"`
	Times   int    `json:"times"`
}

func shownSince(unreported []*occurrence) ([]byte, error) {
	all := []shownOccurrence{}
	for _, o := range unreported {
		o.Asked += o.times
		text := o.report()
		title, _, _ := strings.Cut(text, "\n")
		all = append(all, shownOccurrence{o.in.name, o.Code.String(), o.Op, title, text, o.times})
	}
	var text bytes.Buffer
	err := printable.JSON(&text, all, "")
	return text.Bytes(), err
}

// report is the finding below its title, with the command that repeats its context.
func (o *occurrence) report() string {
	violation := *o.Violation
	violation.Repro = o.in.command
	there := *o.OpFinding
	there.Violation = &violation
	return there.result().Text
}

// of returns the place of a process: its context with a number, or that of its
// nearest ancestor with one. 0 is for the current context.
func (h reporters) of(pid int, number int64) reporterContext {
	for ; pid > 1 && len(h) > 0; pid = parent(pid) { //mutate:equivalent true: only saves time
		at := h[pid]
		if at == nil {
			continue
		}
		at.catchUp()
		if _, known := at.contexts[number]; !known {
			number = at.now
		}
		return reporterContext{at, at.contexts[number]}
	}
	return reporterContext{}
}

// parent returns the parent of a process, 0 if it is not known.
func parent(pid int) int {
	fields := procstat.Of(pid)
	if len(fields) < 2 {
		return 0
	}
	parent, _ := strconv.Atoi(fields[1])
	return parent
}

// ended reports whether a process has ended, or is about to.
func ended(pid int) bool {
	const exiting = 4 // PF_EXITING of Linux, from before its descriptors are closed
	fields := procstat.Of(pid)
	if len(fields) < 7 {
		return true
	}
	flags, _ := strconv.ParseUint(fields[6], 10, 64)
	return flags&exiting != 0
}

// add counts a finding at a place, and reports whether a process will ask for it.
func (at reporterContext) add(found *OpFinding) bool {
	if at.reporter == nil {
		return false
	}
	defer at.reporter.notify()
	for _, o := range at.reporter.unreported {
		if o.OpFinding == found && o.in == at.in {
			o.times++
			return true
		}
	}
	at.reporter.unreported = append(at.reporter.unreported, &occurrence{found, at.in, 1})
	return true
}
