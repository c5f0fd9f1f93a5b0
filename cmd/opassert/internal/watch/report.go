package watch

import (
	"cmp"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/asserts/suite/compare"
	"github.com/opassert/opassert/cmd/opassert/internal/preload"
	"github.com/opassert/opassert/internal/printable"
	"github.com/opassert/opassert/internal/slicesx"
)

// An OpReport has the findings and the counts of a run.
type OpReport struct {
	Program   string // its command, quoted for a shell
	Findings  []*OpFinding
	Status    int // the program's, as [preload.End] has it
	Took      time.Duration
	Processes int
	Strict    bool               // notes are errors
	Level     asserts.Level      // for PyTorch's own ops
	Custom    asserts.Level      // for others
	Called    []*report.OpResult // the ops that were called, sorted, without findings

	Ops, Calls int // the called ops, and their calls
	Judged     int // calls
	Content    int // judged calls at the level content
	Skips      []asserts.Skip
	OpSkips    []asserts.Result // the same by op, with those of calls that were not seen
	Unread     []string         // ops whose schema cannot be read, each with the reason
	Unrecorded int              // calls that a file of cases cannot express
	NotSeen    []string         // custom ops of which no call was seen
	Early      int              // Python threads that ran before libtorch was loaded
	Unwatched  []string         // the reasons why processes were not watched
	Left       []string         // processes that still run, without libtorch

	records map[string]records // by op
	unseen  map[string]int     // calls that were not judged, or not on contents, by reason
}

// ExitStatus is the program's own if that is not 0; else 2 if something was not watched, or there was nothing to
// watch; else 1 with findings that the program has not asked for.
func (r *OpReport) ExitStatus() int {
	switch {
	case r.Status != 0:
		return r.Status
	case len(r.Unwatched) > 0:
		return 2
	case slices.ContainsFunc(r.Findings, func(f *OpFinding) bool { return f.fails(r.Strict) && f.Asked < f.Count }):
		return 1
	}
	return 0
}

func (r *run) report(end preload.End, took time.Duration) (*OpReport, error) {
	counts, err := readCounts(r.counts, len(r.ops.all))
	lost, unread := readLost(r.counts, end.Commands)
	if err := cmp.Or(err, unread); err != nil {
		return nil, err
	}
	r.noteUnwritten(counts)
	r.mu.Lock()
	defer r.mu.Unlock()
	rep := &OpReport{
		Program: printable.Shell(r.config.Command...), Level: r.config.level(false), Custom: r.config.level(true),
		Findings: r.findings.sorted(), Status: end.Status, Took: took, Processes: len(r.processes), Strict: r.config.Strict,
		Unwatched: append(r.object.Unwatched(), lost...), Left: end.Left, Early: r.early, unseen: make(map[string]int),
	}
	called := make(map[string]*report.OpResult)
	for i, c := range counts {
		op := r.ops.all[i]
		if op.unread != "" {
			rep.Unread = append(rep.Unread, op.name+": "+op.unread)
		}
		for reason, n := range c.unseen() {
			rep.unseen[reason] += int(n)
		}
		if op.judged != nil {
			rep.OpSkips = append(rep.OpSkips, withoutContent(op, c)...)
		}
		if c.calls == 0 {
			continue
		}
		if called[op.name] == nil {
			called[op.name] = &report.OpResult{Op: op.name, Schema: op.listed.Schema, Composite: op.listed.Composite}
		}
		called[op.name].Cases += int(c.calls)
		called[op.name].Ran += int(c.usual + c.asked)
		rep.Calls += int(c.calls)
		rep.Judged += int(c.usual + c.asked)
		rep.Content += int(c.content)
		rep.Unrecorded += int(c.unrecorded)
		if op.judged == nil {
			continue
		}
		r.countTraits(op, c)
		r.skip(op.name, asserts.MetaAlias, notCalled, int(c.kinds)-r.faked[int64(i)])
		r.skip(op.name, asserts.MetaAlias, unwritten, int(c.unwritten))
		if op.followed {
			r.skip(op.name, asserts.AutogradKernel, notBackward, int(c.usual+c.asked-c.differentiated))
		}
		for _, s := range op.unseen {
			n := c.usual + c.asked
			if s.Code.Level() >= asserts.Content {
				n = c.content
			}
			r.skip(op.name, s.Code, s.Reason, int(n))
		}
	}
	rep.addSkips(r.skips)
	for _, name := range slices.Sorted(maps.Keys(called)) {
		rep.Called = append(rep.Called, called[name])
	}
	rep.Ops = len(rep.Called)
	rep.records = r.records
	rep.NotSeen = r.notSeen(called)
	slices.Sort(rep.Unread)
	rep.Unread = slices.Compact(rep.Unread)
	if len(rep.Unwatched) == 0 && rep.Calls == 0 && !r.findings.hasReporters() {
		rep.Unwatched = []string{r.nothing()}
	}
	return rep, nil
}

func (r *run) nothing() string {
	if len(r.processes) == 0 {
		return "no process of the program loaded libtorch: nothing was watched"
	}
	return "the program called no op: nothing was watched"
}

// countTraits adds the skips of usual calls, by the traits of their tensors: the
// judge does not get calls that look usual to every check.
func (r *run) countTraits(op *watchedOp, c countsOf) {
	codes := op.judged.Codes()
	content := atContent(codes)
	r.countTraitsOf(op.name, codes&^content, c.traits[:])
	r.countTraitsOf(op.name, content, c.contentTraits[:])
	for code := range codes.All() {
		unheld := c.unheld[code]
		if content.Has(code) {
			unheld = c.contentUnheld[code]
		}
		r.skip(op.name, code, asserts.NotThere, int(unheld))
		if fresh.Has(code) {
			r.skip(op.name, code, "uses not counted", int(c.traits[uncountedTrait]))
		}
	}
}

func (r *run) countTraitsOf(op string, codes asserts.Codes, traits []int64) {
	ofWrapper := asserts.Row{Trait: asserts.WrapperSubclass, Skip: inside, Reason: hidden}
	rows := append(slices.Clip(r.config.Policy.Rows), ofWrapper)
	for i, trait := range traitOf {
		for _, row := range rows {
			if row.Trait&trait == 0 {
				continue
			}
			n := traits[i]
			if exempt := slices.Index(traitOf, row.Unless); exempt >= 0 {
				n -= traits[exempt]
			}
			for code := range (row.Skip & codes).All() {
				r.skip(op, code, row.Reason, int(n))
			}
		}
	}
}

// WriteSummary writes the numbers of findings, and of calls that were observed; with all also how often
// calls were not judged, by reason.
func (r *OpReport) WriteSummary(w io.Writer, all bool) error {
	var b strings.Builder
	counts := make(map[string]int)
	var lines []string
	for _, f := range r.Findings {
		kind := "error"
		switch {
		case f.Known:
			kind = "known finding"
		case f.Note != "":
			kind = "note"
		}
		counts[kind]++
		if f.Asked == f.Count && kind == "error" {
			continue // the program has reported it
		}
		line := printable.Sprintf("  %d x %s %s  %s: %s", f.Count, kind, f.Symptom.Of(f.Code), f.Op, f.Sentence())
		if f.Answer != nil {
			line += printable.Sprintf(", answered by %s", f.Answer)
		}
		if where := f.where(); where != "" {
			line += printable.Sprintf(", at %s", where)
		}
		lines = append(lines, line+"\n")
	}
	kinds := slices.DeleteFunc([]string{"error", "note", "known finding"}, func(k string) bool { return counts[k] == 0 })
	counted := slicesx.Join(kinds, ", ", func(k string) string { return report.Count(counts[k], k) })
	found := cmp.Or(counted, "nothing found")
	printable.Printf(&b, "opassert run: calls %d, ops %d, processes %d: %s\n", r.Calls, r.Ops, r.Processes, found)
	b.WriteString(strings.Join(lines, ""))
	if all {
		r.writeCalls(&b)
	}
	r.writeUnseen(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

// writeCalls writes how often calls were judged, and not, by reason.
func (r *OpReport) writeCalls(b *strings.Builder) {
	printable.Printf(b, "  judged  %d calls, %d of them at the level content\n", r.Judged, r.Content)
	for _, reason := range []string{failed, faked, lost, sampledOut, tooLarge, ofSubclass, ofAbove} {
		if n := r.unseen[reason]; n > 0 {
			printable.Printf(b, "  %-7s %d %s\n", "", n, reason)
		}
	}
	for _, s := range r.Skips {
		printable.Printf(b, "  skipped %v %d: %s\n", s.Code, s.Count, s.Reason)
		if s.Code == asserts.ViewStorage && strings.Contains(s.Reason, "does not report views") {
			printable.Printf(b, "%10sa class whose views share storage with their bases declares it with %s = True\n",
				"", "__opassert_reports_views__")
		}
	}
}

// writeUnseen writes what was recorded, and what was not seen or not watched.
func (r *OpReport) writeUnseen(b *strings.Builder) {
	for _, op := range slices.Sorted(maps.Keys(r.records)) {
		printable.Printf(b, "  recorded %s of %s\n", report.Count(len(r.records[op]), "call"), op)
	}
	if r.Unrecorded > 0 {
		calls := report.Count(r.Unrecorded, "call")
		printable.Printf(b, "  not recorded %s: a file of cases cannot express their arguments\n", calls)
	}
	if r.Early > 0 {
		threads := report.Count(r.Early, "Python thread")
		printable.Printf(b, "  not seen calls of %s, which ran before libtorch was loaded\n", threads)
	}
	for _, u := range r.Unread {
		printable.Printf(b, "  not watched %s\n", u)
	}
	if len(r.NotSeen) > 0 {
		printable.Printf(b, "  not seen %s: never called, or past the watcher's keys\n", strings.Join(r.NotSeen, ", "))
	}
	for _, l := range r.Left {
		printable.Printf(b, "  still runs, without libtorch: %s\n", l)
	}
	for _, t := range r.Unwatched {
		printable.Printf(b, "  NOT WATCHED: %s\n", t)
	}
}

// Results returns the findings in the form for writers of reports.
func (r *OpReport) Results() []asserts.Result {
	var results []asserts.Result
	for _, f := range r.Findings {
		if !f.Known {
			results = append(results, f.result())
		}
	}
	return append(results, r.OpSkips...)
}

// noteUnwritten adds notes of the arguments that schemas let ops write and that no call
// of many changed, in any process.
func (r *run) noteUnwritten(counts []countsOf) {
	for i, c := range counts {
		op := r.ops.all[i]
		unwritten := func(e asserts.Excuse) bool { return e.Covers(asserts.SchemaLint, asserts.Unwritten) }
		if c.content == 0 || op.judged == nil || slices.ContainsFunc(op.excused, unwritten) {
			continue
		}
		for a := range op.judged.Args {
			subject := &op.judged.Args[a]
			calls, sizes, changed := c.writes(a)
			given := subject.Write && !subject.Inside && !strings.HasSuffix(subject.Type, "?") // in every call
			if changed || !given || !compare.EnoughCalls(calls, sizes) {
				continue
			}
			at := subject.Place(false, asserts.NoElement, "")
			at.Aliased = true
			pid := slices.Min(slices.Collect(maps.Keys(r.processes)))
			r.findings.add(compare.Unwritten(op.name, op.judged.Schema, at, compare.Itself, calls, sizes),
				&process{run: r, pid: pid, rank: r.processes[pid]}, nil, reporterContext{})
		}
	}
}
