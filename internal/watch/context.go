package watch

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/opassert/opassert/internal/preload"
	"github.com/opassert/opassert/internal/printable"
	"github.com/opassert/opassert/internal/procstat"
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
	file     *os.File       // of its contexts, behind the news; see loader.c; nil once it has ended
	read     int64          // how much of it has been read
	news     uint64         // rises where there is something to ask for
	contexts map[int64]task // by the numbers that it counts them with
	now      int64
	since    []*occurrence // the findings since it asked
}

const newsSize = 8

// holders are those of a run, by process; findings guards them.
type holders map[int]*holder

// A spot is a holder in one of its contexts, nil where no process has said where it is.
type spot struct {
	holder *holder
	in     task
}

// file returns the file that a process writes its contexts to.
func (h holders) file(text string) (*os.File, error) {
	pid, err := strconv.Atoi(text)
	if err != nil {
		return nil, fmt.Errorf("the contexts of a process: %w", err)
	}
	h.closeEnded()
	if at := h[pid]; at != nil && at.file != nil {
		return at.file, nil
	}
	file, err := preload.NewMemory("opassert-contexts", newsSize)
	if err != nil { //mutate:equivalent false: a limit of files is one of the whole process of a test
		return nil, err
	}
	file.Seek(newsSize, io.SeekStart) // the process goes on from there
	h[pid] = &holder{above: h.of(parent(pid), 0).holder, file: file, read: newsSize, contexts: make(map[int64]task)}
	return file, nil
}

// closeEnded closes the files of processes that have ended, once they are read: a run may start
// more processes than it may have files open.
func (h holders) closeEnded() {
	for pid, at := range h {
		if at.file == nil { //mutate:equivalent false: only saves time
			continue
		}
		if ended(pid) {
			at.catchUp()
			at.file.Close()
			at.file = nil
		}
	}
}

// catchUp reads the contexts that the process has written since: the number of each, its
// name and the command that repeats it, a line each, and a zero.
func (at *holder) catchUp() {
	text, _ := io.ReadAll(io.NewSectionReader(at.file, at.read, math.MaxInt64-at.read))
	for entry := range bytes.SplitAfterSeq(text, []byte{0}) {
		whole, ok := bytes.CutSuffix(entry, []byte{0})
		if !ok {
			return // it is writing
		}
		at.read += int64(len(entry))
		parts := strings.SplitN(string(whole), "\n", 3)
		if number, err := strconv.ParseInt(parts[0], 10, 64); err == nil && len(parts) == 3 {
			at.now = number
			at.contexts[number] = task{parts[1], parts[2]}
		}
	}
}

// notify has a process ask, and those that started it: findings that it does not ask for are theirs.
// A process that does not see it loses nothing, for findings that no process asks for are printed.
func (at *holder) notify() {
	for ; at != nil; at = at.above {
		at.news++
		at.file.WriteAt(binary.NativeEndian.AppendUint64(nil, at.news), 0)
	}
}

// tell returns the findings of a process since it asked last.
func (h holders) tell(text string) ([]byte, error) {
	pid, _ := strconv.Atoi(text)
	at := h[pid]
	if at == nil {
		return nil, fmt.Errorf("process %q has not said where it is", text)
	}
	since := append(at.since, h.inherit(at)...)
	at.since = nil
	if h.leaves(at) {
		at.notify() // it asks again
	}
	return shownSince(since)
}

// leaves reports whether a process may inherit findings later.
func (h holders) leaves(above *holder) bool {
	for _, at := range h {
		if at.above == above && (len(at.since) > 0 || h.leaves(at)) {
			return true
		}
	}
	return false
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
		at.catchUp()
		if _, known := at.contexts[number]; !known {
			number = at.now
		}
		return spot{at, at.contexts[number]}
	}
	return spot{}
}

// parent returns the parent of a process, 0 where that is not known.
func parent(pid int) int {
	fields := procstat.Of(pid)
	if len(fields) < 2 {
		return 0
	}
	above, _ := strconv.Atoi(fields[1])
	return above
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

// add counts a finding at a spot, and reports whether it will be asked for.
func (at spot) add(found *Finding) bool {
	if at.holder == nil {
		return false
	}
	defer at.holder.notify()
	for _, o := range at.holder.since {
		if o.Finding == found && o.in == at.in {
			o.times++
			return true
		}
	}
	at.holder.since = append(at.holder.since, &occurrence{found, at.in, 1})
	return true
}
