package watch

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/internal/printable"
)

// A Finding is a broken rule at one place of the program, however often.
type Finding struct {
	*asserts.Violation
	Count int
	Pids  []int   // sorted
	Rank  string  // of the process that was first, "" where it has none
	Site  []Frame // the user's frames, outermost first
	Known bool    // a baseline has it
}

// where returns the line that called the op: "train.py:42 in forward".
func (f *Finding) where() string {
	if len(f.Site) == 0 {
		return ""
	}
	return f.Site[len(f.Site)-1].String()
}

// Report is the violation's report, with the line that called the op and the
// process.
func (f *Finding) Report() string {
	where := f.where()
	if where == "" {
		where = "a thread without frames of the program"
	}
	report := printable.Sprintf("%s\n  site    %s\n  process %d", printable.Lines(f.Violation.Error()), where, f.Pids[0])
	if f.Rank != "" {
		report += ", rank " + printable.Line(f.Rank)
	}
	return report
}

// findings are those of a run.
type findings struct {
	mu    sync.Mutex
	byKey map[string]*Finding
	again string              // the program's command, as a shell takes it
	known func(*Finding) bool // to a baseline; may be nil
	first func(*Finding)      // called with each that is new and not known, one at a time; may be nil
}

// add counts a violation.
func (f *findings) add(v *asserts.Violation, p *process, site []Frame) *Finding {
	f.mu.Lock()
	defer f.mu.Unlock()
	found := &Finding{Violation: v, Count: 1, Pids: []int{p.pid}, Rank: p.rank, Site: site}
	key := strings.Join([]string{v.Op, v.Code.String(), v.Subject.String(), v.Against.String(), v.Answer.String(), found.where()}, "\x00")
	if old := f.byKey[key]; old != nil {
		old.Count++
		if i, ok := slices.BinarySearch(old.Pids, p.pid); !ok {
			old.Pids = slices.Insert(old.Pids, i, p.pid)
		}
		return old
	}
	f.byKey[key] = found
	v.Repro = "opassert run -op " + shell([]string{v.Op}) + " -fail -- " + f.again
	found.Known = f.known != nil && f.known(found)
	if f.first != nil && !found.Known {
		f.first(found)
	}
	return found
}

// sorted returns them by op, code, subject and place.
func (f *findings) sorted() []*Finding {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []*Finding
	for _, found := range f.byKey {
		all = append(all, found)
	}
	slices.SortFunc(all, func(a, b *Finding) int {
		return cmp.Or(
			cmp.Compare(a.Op, b.Op), cmp.Compare(a.Code, b.Code), cmp.Compare(a.Subject.String(), b.Subject.String()),
			cmp.Compare(a.Against.String(), b.Against.String()), cmp.Compare(a.where(), b.where()), cmp.Compare(a.Answer.String(), b.Answer.String()),
		)
	})
	return all
}
