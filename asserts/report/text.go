package report

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/internal/slicesx"
)

// A block is an op with what was found in it, errors first.
type block struct {
	op     *OpResult
	found  []*Shown
	errors int
}

// blocks returns the ops with findings, the worst first, and the notes that three or more ops share, with their names.
func (r *Report) blocks() (all []*block, shared []*Shown) {
	var order []string
	ops, first := make(map[string][]string), make(map[string]*Shown)
	key := func(op *OpResult, s *Shown) string {
		if s.Level == "error" {
			return ""
		}
		return strings.ReplaceAll(s.Code+s.Says+s.line("fix"), op.Name(), "OP")
	}
	for _, op := range r.Ops {
		b := &block{op: op, found: r.shown(op)}
		for _, s := range b.found {
			if s.Level == "error" {
				b.errors++
				continue
			}
			k := key(op, s)
			if first[k] == nil {
				first[k], order = s, append(order, k)
			}
			if !slices.Contains(ops[k], op.Name()) {
				ops[k] = append(ops[k], op.Name())
			}
		}
		all = append(all, b)
	}
	common := func(k string) bool { return len(ops[k]) > 2 }
	for _, b := range all {
		b.found = slices.DeleteFunc(b.found, func(s *Shown) bool { return common(key(b.op, s)) })
	}
	for _, k := range slices.DeleteFunc(order, func(k string) bool { return !common(k) }) {
		s := *first[k]
		s.Lines = [][2]string{{"ops", few(ops[k], 8, ", ")}, {"fix", strings.ReplaceAll(s.line("fix"), ops[k][0], "OP")}}
		s.Says, s.Facts = fmt.Sprintf("%s: %d ops", strings.ReplaceAll(s.Says, ops[k][0], "OP"), len(ops[k])), ""
		shared = append(shared, &s)
	}
	all = slices.DeleteFunc(all, func(b *block) bool { return len(b.found) == 0 })
	slices.SortStableFunc(all, func(a, b *block) int { return cmp.Compare(b.errors, a.errors) })
	return all, shared
}

// shown returns what counts against an op, and its notes, errors first.
func (r *Report) shown(op *OpResult) (all []*Shown) {
	for _, c := range op.Crashes {
		if c.Counts() {
			all = append(all, r.showCrash(op, c))
		}
	}
	for _, f := range op.Findings {
		if !f.Known {
			all = append(all, r.show(op, f))
		}
	}
	slices.SortStableFunc(all, func(a, b *Shown) int { return strings.Compare(a.Level, b.Level) })
	return all
}

// WriteText writes the findings by op, the worst first, and then the ending: what was found, what
// never ran, what was not judged, and the command that repeats the first finding.
func (r *Report) WriteText(w io.Writer, form Form) error {
	t := textWriter{w: w}
	blocks, shared := r.blocks()
	if form != Quiet {
		for _, b := range blocks {
			t.line("%s", strings.TrimRight(b.op.Name()+"   "+b.op.Site.String(), " "))
			t.shown(b.found, form)
		}
		if len(shared) > 0 {
			t.line("in several ops")
			t.shown(shared, form)
		}
	}
	if form == Verbose {
		r.writeUncounted(&t)
		r.writeTotals(&t)
		t.line("")
	}
	r.writeEnding(&t, form, blocks)
	return t.err
}

func (t *textWriter) shown(all []*Shown, form Form) {
	for _, s := range all {
		if t.err == nil {
			t.err = s.Write(t.w, form)
		}
	}
	t.line("")
}

func (r *Report) writeUncounted(t *textWriter) {
	for _, op := range r.Ops {
		for _, l := range op.known() {
			t.line("known  %v", l)
		}
		for _, c := range op.Crashes {
			if !c.Counts() && !c.Known {
				t.line("not counted  %s  %s in case %d, %s", op.Name(), c.Cause, c.Case, c.excuse())
			}
		}
	}
}

// writeEnding writes the lines at the end of each report.
func (r *Report) writeEnding(t *textWriter, form Form, blocks []*block) {
	t.folded("", r.summary(), 12, 3)
	end := func(name string, texts []string) {
		if form == Verbose || name == "not loaded" {
			for _, text := range texts {
				t.line("%-11s %s", name, text)
			}
		} else if len(texts) > 0 {
			t.folded(fmt.Sprintf("%-11s ", name), few(texts, 6, "; "), 12, 3)
		}
	}
	never := r.neverRan()
	if len(never) == 1 && r.Command != "" && len(r.Unreached()) == 1 {
		never[0] += r.Ops[0].own(fmt.Sprintf("; %s -op %s -explain", r.Command, r.Unreached()[0]))
	}
	end("never ran", never)
	end("not loaded", r.Left)
	end("gone", slicesx.Map(r.Gone, baselineLine.String))
	unneeded := slices.DeleteFunc(slices.Clone(r.Excuses), func(e Excuse) bool { return !e.Ran || e.Cases > 0 })
	end("excused", slicesx.Map(unneeded, func(e Excuse) string {
		return fmt.Sprintf("nothing by %s: %s %s (%s)", e.Entry, e.Op, e.Checks, e.Reason)
	}))
	end("not judged", r.notJudged())
	for _, b := range blocks {
		if again := r.again(b.op); again != "" {
			t.line("%-11s %s", "again", again)
			break
		}
	}
}

func (r *Report) again(op *OpResult) string {
	for _, c := range op.Crashes {
		if c.Counts() {
			return r.repro(op, c)
		}
	}
	for _, f := range op.Findings {
		if f.Counts() || op.Against() == 0 && !f.Known {
			return r.violation(op, f).Repro
		}
	}
	return ""
}

// summary counts what was found: "1 error, 1 note in 1 of 12 ops; 11 are clean. 2104 calls".
func (r *Report) summary() string {
	sum, with, clean, excused := r.Totals(), 0, 0, 0
	for _, op := range r.Ops {
		switch {
		case len(r.shown(op))+len(op.known()) > 0:
			with++
		case len(op.Waived) > 0:
			excused++
		case op.Ran > 0:
			clean++
		}
	}
	var counts []string
	for _, c := range []struct {
		n    int
		noun string
	}{
		{sum.Findings, "error"}, {sum.Crashes, "crash"}, {sum.Notes, "note"}, {sum.Known, "known finding"},
		{len(r.Gone), "gone"},
	} {
		if c.n > 0 {
			counts = append(counts, Count(c.n, c.noun))
		}
	}
	text := "nothing found in " + Count(len(r.Ops), "op")
	if len(counts) > 0 {
		text = fmt.Sprintf("%s in %d of %s", strings.Join(counts, ", "), with, Count(len(r.Ops), "op"))
	}
	if r.All > len(r.Ops) {
		text += fmt.Sprintf("; interrupted after %d of %d", len(r.Ops), r.All)
	}
	for _, c := range []struct {
		n    int
		what string
	}{{clean, "clean"}, {excused, "excused"}} {
		if c.n > 0 {
			text += fmt.Sprintf("; %d %s %s", c.n, map[bool]string{true: "is", false: "are"}[c.n == 1], c.what)
		}
	}
	if reproduced, others := r.Programs(); reproduced+others > 0 {
		text += fmt.Sprintf("; %d of %s reproduced it without opassert", reproduced, Count(reproduced+others, "program"))
	}
	return fmt.Sprintf("%s. %s of %s%s", text, Count(sum.Ran, "call"), r.Engine, sum.later())
}

// Count returns a number of things in words: "1 note", "2 crashes".
func Count(n int, noun string) string {
	switch {
	case n == 1 || noun == "gone":
	case strings.HasSuffix(noun, "sh"):
		noun += "es"
	default:
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

func (r *Report) neverRan() (all []string) {
	reasons := make(map[string][]string)
	var order []string
	for _, op := range r.Ops {
		if op.Ran > 0 || op.Against() > 0 {
			continue
		}
		reason := strings.Join(strings.Fields(op.Reason()), " ")
		if reasons[reason] == nil {
			order = append(order, reason)
		}
		reasons[reason] = append(reasons[reason], op.Name())
	}
	for _, reason := range order {
		all = append(all, fmt.Sprintf("%s: %s", few(reasons[reason], 4, ", "), reason))
	}
	return all
}

// notJudged returns the checks that no call was judged by, although the schemas ask for them.
func (r *Report) notJudged() (all []string) {
	sum := r.Totals()
	skipped := make(map[asserts.Code]int)
	for _, s := range sum.Skips {
		if sum.Judged[s.Code] == 0 {
			skipped[s.Code] += s.Count
		}
	}
	for _, c := range slices.Sorted(maps.Keys(skipped)) {
		all = append(all, fmt.Sprintf("%v in %s", c, Count(skipped[c], "call")))
	}
	if len(all) > 0 {
		all[len(all)-1] += "; -v has the reasons"
	}
	return all
}
