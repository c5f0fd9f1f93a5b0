package suite

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/opassert/opassert/asserts"
)

// A Report is what a whole run found.
type Report struct {
	Engine  string
	Level   asserts.Level
	Seed    uint64
	Cases   int    // asked for of each op
	Command string // what a repro line begins with
	Ops     []*OpResult
	Took    time.Duration
}

// Findings counts the findings, and the crashes.
func (r *Report) Findings() int {
	n := 0
	for _, op := range r.Ops {
		n += len(op.Findings) + len(op.Crashes)
	}
	return n
}

// WriteText writes the findings, the crashes and the totals.
func (r *Report) WriteText(w io.Writer) error {
	t := textWriter{w: w}
	for _, op := range r.Ops {
		for _, f := range op.Findings {
			r.writeFinding(&t, f)
		}
	}
	for _, op := range r.Ops {
		for _, c := range op.Crashes {
			t.line("%s  %s  in case %d%s", c.Cause, op.Op, c.Case, c.note())
			t.line("  repro   %s -op %s -case %d\n", r.Command, op.Op, c.Case)
		}
	}
	r.writeTotals(&t)
	return t.err
}

func (c Crash) note() string {
	if c.Alone {
		return ""
	}
	return "  (not in a process of its own: an earlier call may have done it)"
}

func (r *Report) writeFinding(t *textWriter, f *Finding) {
	v := *f.Violation
	v.Repro = r.Command + " " + v.Repro
	t.line("%s  call    %s\n", indented(v.Error()), f.Call)
}

func indented(report string) string { return report + "\n" }

// Totals are a report's numbers.
type Totals struct {
	Ops, Reached      int // all, and those that ran at least once
	Below, BelowRun   int // the same of ops with a kernel below autograd
	Cases, Ran        int
	Findings, Crashes int
	Judged            [asserts.NumCodes]int
	Skips             []asserts.Skip
	NoMeta            map[string]int
}

// Totals adds up.
func (r *Report) Totals() Totals {
	t := Totals{Ops: len(r.Ops), NoMeta: make(map[string]int)}
	var all tally
	for _, op := range r.Ops {
		t.Cases += op.Cases
		t.Ran += op.Ran
		t.Findings += len(op.Findings)
		t.Crashes += len(op.Crashes)
		if op.Ran > 0 {
			t.Reached++
		}
		if op.Below {
			t.Below++
			if op.Ran > 0 {
				t.BelowRun++
			}
		}
		all.add(&op.CPU)
		all.add(&op.Meta)
		for why, n := range op.NoMeta {
			t.NoMeta[why] += n
		}
	}
	t.Judged, t.Skips = all.Judged, all.Skips
	return t
}

func (r *Report) writeTotals(t *textWriter) {
	sum := r.Totals()
	t.line("%s, level %v, seed %d: %d findings and %d crashes in %d calls", r.Engine, r.Level, r.Seed, sum.Findings, sum.Crashes, sum.Ran)
	t.line("  ops     %d of %d ran; of those with a kernel below autograd %d of %d", sum.Reached, sum.Ops, sum.BelowRun, sum.Below)
	t.line("  cases   %d, of which %d ran, in %v", sum.Cases, sum.Ran, r.Took.Round(10*time.Millisecond))
	var judged []string
	for c := asserts.InputImpl; int(c) < asserts.NumCodes; c++ {
		if n := sum.Judged[c]; n > 0 {
			judged = append(judged, fmt.Sprintf("%v %d", c, n))
		}
	}
	t.line("  judged  %s", strings.Join(judged, ", "))
	for _, s := range sum.Skips {
		t.line("  skipped %v %d: %s", s.Code, s.Count, s.Reason)
	}
	for _, why := range slices.Sorted(maps.Keys(sum.NoMeta)) {
		if n := sum.NoMeta[why]; n > 20 || sum.Ops < 20 {
			t.line("  not compared with meta %d: %s", n, why)
		}
	}
}

// WriteUnreached lists the ops that never ran, each with its reason.
func (r *Report) WriteUnreached(w io.Writer) error {
	t := textWriter{w: w}
	for _, op := range r.Ops {
		if op.Ran > 0 {
			continue
		}
		where := ""
		if op.Below {
			where = " below"
		}
		t.line("%s%s\t%s", op.Op, where, strings.ReplaceAll(op.reason(), "\n", " "))
	}
	return t.err
}

// reason says why an op never ran.
func (r *OpResult) reason() string {
	switch {
	case r.Missing != "":
		return r.Missing
	case r.Error != "":
		return r.Error
	case len(r.Crashes) > 0:
		return r.Crashes[0].Cause
	}
	return "no case was tried"
}

// A textWriter keeps the first error.
type textWriter struct {
	w   io.Writer
	err error
}

func (t *textWriter) line(format string, args ...any) {
	if t.err == nil {
		_, t.err = fmt.Fprintf(t.w, format+"\n", args...)
	}
}
