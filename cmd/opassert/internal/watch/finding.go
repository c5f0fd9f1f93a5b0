package watch

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/cmd/opassert/internal/preload"
	"github.com/opassert/opassert/internal/printable"
)

// An OpFinding is a broken rule at one place of the program, however often.
type OpFinding struct {
	*asserts.Violation
	Count int
	Pids  []int   // sorted
	Rank  string  // of the first process, "" without one
	Site  []Frame // the user's frames, outermost first
	Known bool    // a baseline has it
	Asked int     // of Count, how many a process of the program has asked for

	Program *report.ReproProgram // shows it without opassert; nil without -repro
	printed bool
}

// fails reports whether the finding is an error, as notes are where they are strict.
func (f *OpFinding) fails(strict bool) bool { return !f.Known && (f.Note == "" || strict) }

// where returns the line that called the op: "train.py:42 in forward".
func (f *OpFinding) where() string { return Frame(f.site()).String() }

// Report returns the violation's report, with the line that called the op and the process.
func (f *OpFinding) Report() string {
	where := cmp.Or(f.where(), "a thread without frames of the program")
	if f.Code == asserts.SchemaLint {
		where = "all calls"
	}
	text := printable.Sprintf("%s\n  site    %s\n  process %d", printable.Lines(f.Violation.Error()), where, f.Pids[0])
	if f.Rank != "" {
		text += ", rank " + printable.Line(f.Rank)
	}
	if f.Program != nil {
		text += "\n  program " + f.Program.String()
	}
	return printable.Text(text)
}

// Brief returns the finding as a person reads it, below its op and the line that called that.
func (f *OpFinding) Brief() string {
	more := [][2]string{{"program", f.Program.Outcome()}, {"again", f.Repro}}
	if f.Rank != "" {
		more = append(more, [2]string{"in", "rank " + f.Rank})
	}
	return report.Show(f.Violation, f.Call, more...).Text(f.Op, f.where())
}

// result returns the finding in the form for writers of reports.
func (f *OpFinding) result() asserts.Result {
	result := f.Violation.Result()
	result.Count, result.Report, result.Call = f.Count, f.Report(), f.Call
	result.Text = printable.Line(result.Text) + "\n" + f.Brief()
	if f.Known {
		result.Status = asserts.Known
	}
	if f.Program != nil {
		result.Program = f.Program.File
	}
	result.Site = f.site()
	return result
}

// site returns the line that called the op.
func (f *OpFinding) site() asserts.Site {
	if len(f.Site) == 0 {
		return asserts.Site{}
	}
	return asserts.Site(f.Site[len(f.Site)-1])
}

type findings struct {
	mu      sync.Mutex
	byKey   map[string]*OpFinding
	command string                // the program's command, quoted for a shell
	known   func(*OpFinding) bool // whether a baseline has it; may be nil
	first   func(*OpFinding)      // called with each that is not known and not asked for, one at a time; may be nil
	held    reporters
	strict  bool
}

func (f *findings) add(v *asserts.Violation, p *process, site []Frame, at reporterContext) *OpFinding {
	f.mu.Lock()
	defer f.mu.Unlock()
	found := f.count(v, p, site)
	if !found.fails(f.strict) || !at.add(found) {
		f.print(found)
	}
	return found
}

// print prints a finding that no process asks for, once.
func (f *findings) print(found *OpFinding) {
	if f.first != nil && !found.Known && !found.printed {
		found.printed = true
		f.first(found)
	}
}

// end prints the findings that no process asked for; those without a command get the one that repeats their context.
func (f *findings) end() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, pid := range slices.Sorted(maps.Keys(f.held)) {
		for _, o := range f.held[pid].unreported {
			if !o.printed && o.in.command != "" {
				o.Repro = o.in.command
			}
			f.print(o.OpFinding)
		}
	}
}

func (f *findings) count(v *asserts.Violation, p *process, site []Frame) *OpFinding {
	found := &OpFinding{Violation: v, Count: 1, Pids: []int{p.pid}, Rank: p.rank, Site: site}
	key := strings.Join([]string{v.Op, v.Code.String(), v.Subject.String(), v.Against.String(), v.Answer.String(),
		found.where()}, "\x00")
	if old := f.byKey[key]; old != nil {
		old.Count++
		if i, ok := slices.BinarySearch(old.Pids, p.pid); !ok {
			old.Pids = slices.Insert(old.Pids, i, p.pid)
		}
		return old
	}
	f.byKey[key] = found
	v.Repro = "opassert run -op " + printable.Shell(v.Op) + " -fail -- " + f.command
	found.Known = f.known != nil && f.known(found)
	return found
}

// contexts returns the file that a process, by its number, writes its contexts to.
func (f *findings) contexts(text string) (*os.File, error) {
	pid, err := strconv.Atoi(text)
	if err != nil {
		return nil, fmt.Errorf("the contexts of a process: %w", err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	h := f.held
	h.closeEnded()
	if at := h[pid]; at != nil && at.file != nil {
		return at.file, nil
	}
	file, err := preload.NewMemory("opassert-contexts", newsSize)
	if err != nil { //mutate:equivalent false: a limit of files is one of the whole process of a test
		return nil, err
	}
	file.Seek(newsSize, io.SeekStart) // the process continues from there
	h[pid] = &reporter{parent: h.of(parent(pid), 0).reporter, file: file, read: newsSize, contexts: make(map[int64]task)}
	return file, nil
}

// findingsSince returns the findings of a process, by its number, since it asked last.
func (f *findings) findingsSince(text string) ([]byte, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	h := f.held
	pid, _ := strconv.Atoi(text)
	at := h[pid]
	if at == nil {
		return nil, fmt.Errorf("process %q has no context", text)
	}
	unreported := append(at.unreported, h.inherit(at)...)
	at.unreported = nil
	if h.leaves(at) {
		at.notify() // it will ask again
	}
	return shownSince(unreported)
}

// at returns the place of a process; see [reporters.of].
func (f *findings) at(pid int, number int64) reporterContext {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.held.of(pid, number)
}

// hasReporters reports whether any process has named a context.
func (f *findings) hasReporters() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.held) > 0
}

// sorted returns the findings by op, code, subject and line.
func (f *findings) sorted() []*OpFinding {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.SortedFunc(maps.Values(f.byKey), func(a, b *OpFinding) int {
		return cmp.Or(
			cmp.Compare(a.Op, b.Op), cmp.Compare(a.Code, b.Code), cmp.Compare(a.Subject.String(), b.Subject.String()),
			cmp.Compare(a.Against.String(), b.Against.String()), cmp.Compare(a.where(), b.where()),
			cmp.Compare(a.Answer.String(), b.Answer.String()),
		)
	})
}
