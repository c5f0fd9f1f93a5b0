package watch

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/opassert/opassert/internal/printable"
)

// A task is the context that a process names, such as a test.
type task struct {
	name  string
	again string // the command that repeats it, as a shell takes it
}

// An occurrence is a finding in a context.
type occurrence struct {
	*Finding
	in    task
	times int
}

// A holder is a process that names its context, and asks for the findings there and
// in the processes that it started: it reports these itself.
type holder struct {
	above    *holder        // the process that started it, nil where that has not said where it is
	contexts map[int64]task // by the numbers that it counts them with
	now      int64
	since    []*occurrence // the findings since it asked
}

// holders are those of a run, by process; findings guards them.
type holders map[int]*holder

// A spot is a holder in one of its contexts, nil where no process has said where it is.
type spot struct {
	holder *holder
	in     task
}

// enter records the context that a process names, and returns the findings since it
// named the last one.
func (h holders) enter(text string) ([]byte, error) {
	parts := strings.SplitN(text, "\n", 4)
	if len(parts) < 4 {
		return nil, errors.New("a process's context is cut short")
	}
	pid, err := strconv.Atoi(parts[0])
	number, failed := strconv.ParseInt(parts[1], 10, 64)
	if err := errors.Join(err, failed); err != nil {
		return nil, fmt.Errorf("a process's context: %w", err)
	}
	at := h[pid]
	if at == nil {
		at = &holder{above: h.of(parent(pid), 0).holder, contexts: make(map[int64]task)}
		h[pid] = at
	}
	at.now = number
	at.contexts[number] = task{parts[2], parts[3]}
	since := append(at.since, h.inherit(at)...)
	at.since = nil
	return shownSince(since)
}

// inherit returns the findings of the processes that a holder has started and that
// have ended without asking for it, as one that crashes does.
func (h holders) inherit(above *holder) (since []*occurrence) {
	for _, pid := range slices.Sorted(maps.Keys(h)) {
		if at := h[pid]; at != nil && at.above == above && ended(pid) {
			delete(h, pid)
			since = append(append(since, at.since...), h.inherit(at)...)
		}
	}
	return since
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

func shownSince(since []*occurrence) ([]byte, error) {
	all := []shownOccurrence{}
	for _, o := range since {
		o.Asked += o.times
		all = append(all, shownOccurrence{o.in.name, o.Code.String(), o.Op, printable.Text(o.Title()), o.report(), o.times})
	}
	var text bytes.Buffer
	err := printable.JSON(&text, all, "")
	return text.Bytes(), err
}

// report is that of the finding, with the command that repeats its context.
func (o *occurrence) report() string {
	violation := *o.Violation
	violation.Repro = o.in.again
	there := *o.Finding
	there.Violation = &violation
	return there.Report()
}

// of returns where a process is: in the context that it has set, or the nearest of
// those that it descends from. 0 is for the context that it is in now.
func (h holders) of(pid int, number int64) spot {
	for ; pid > 1 && len(h) > 0; pid = parent(pid) { //mutate:equivalent true: only saves time
		at := h[pid]
		if at == nil {
			continue
		}
		if _, known := at.contexts[number]; !known {
			number = at.now
		}
		return spot{at, at.contexts[number]}
	}
	return spot{}
}

// parent returns the parent of a process, 0 where that is not known.
func parent(pid int) int {
	fields := stat(pid)
	if len(fields) < 2 {
		return 0
	}
	above, _ := strconv.Atoi(fields[1])
	return above
}

// ended reports whether a process has ended, or is about to.
func ended(pid int) bool {
	const exiting = 4 // PF_EXITING of Linux, from before its descriptors are closed
	fields := stat(pid)
	if len(fields) < 7 {
		return true
	}
	flags, _ := strconv.ParseUint(fields[6], 10, 64)
	return flags&exiting != 0
}

// stat returns the fields of proc_pid_stat(5) after the name of a process.
func stat(pid int) []string {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
}

// add counts a finding at a spot, and reports whether it will be asked for.
func (at spot) add(found *Finding) bool {
	if at.holder == nil {
		return false
	}
	for _, o := range at.holder.since {
		if o.Finding == found && o.in == at.in {
			o.times++
			return true
		}
	}
	at.holder.since = append(at.holder.since, &occurrence{found, at.in, 1})
	return true
}
