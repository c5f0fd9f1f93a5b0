package suite

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
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

// Results gives the report in the form that every writer takes: findings and
// crashes; ops that never ran, and what was skipped, each with its reason; and
// the checks that held, op by op.
func (r *Report) Results() []asserts.Result {
	var all []asserts.Result
	for _, op := range r.Ops {
		all = append(all, r.found(op)...)
		if op.Ran == 0 && len(op.Crashes) == 0 {
			all = append(all, asserts.Result{Op: op.Op, Status: asserts.Skipped, Reason: "never ran: " + op.reason(), Count: op.Cases})
			continue
		}
		all = append(all, op.held("cpu", &op.CPU)...)
		all = append(all, op.held("meta", &op.Meta)...)
	}
	return all
}

// found gives what speaks against an op.
func (r *Report) found(op *OpResult) []asserts.Result {
	var all []asserts.Result
	for _, f := range op.Findings {
		v := r.violation(f)
		result := v.Result()
		result.Report += "\n  call    " + f.Call
		result.Case, result.Device, result.Count = strconv.Itoa(f.Case), f.Device, f.Times
		all = append(all, result)
	}
	for _, c := range op.Crashes {
		all = append(all, asserts.Result{
			Op: op.Op, Status: asserts.Crashed, Case: strconv.Itoa(c.Case), Reason: c.Cause + c.note(),
			Report: fmt.Sprintf("%s  %s  in case %d%s\n  repro   %s", c.Cause, op.Op, c.Case, c.note(), r.repro(op, c)),
		})
	}
	return all
}

// held gives the checks of an op that held on a device, and those skipped.
func (op *OpResult) held(device string, t *tally) []asserts.Result {
	var all []asserts.Result
	for c := range asserts.AllCodes.All() {
		broken := slices.ContainsFunc(op.Findings, func(f *Finding) bool {
			return f.Violation.Code == c && strings.Contains(f.Device, device)
		})
		if t.Judged[c] > 0 && !broken {
			all = append(all, asserts.Result{Op: op.Op, Code: c, Status: asserts.Passed, Device: device, Count: t.Judged[c]})
		}
	}
	for _, s := range t.Skips {
		all = append(all, asserts.Result{Op: op.Op, Code: s.Code, Status: asserts.Skipped, Device: device, Count: s.Count, Reason: s.Reason})
	}
	return all
}

// violation gives a finding's violation with the whole repro line.
func (r *Report) violation(f *Finding) *asserts.Violation {
	v := *f.Violation
	v.Repro = r.Command + " " + v.Repro
	return &v
}

func (r *Report) repro(op *OpResult, c Crash) string {
	return fmt.Sprintf("%s -op %s -case %d", r.Command, op.Op, c.Case)
}

// WriteText writes the findings, the crashes and the totals.
func (r *Report) WriteText(w io.Writer) error {
	t := textWriter{w: w}
	for _, op := range r.Ops {
		for _, f := range op.Findings {
			t.line("%s\n  call    %s\n", r.violation(f).Error(), f.Call)
		}
	}
	for _, op := range r.Ops {
		if len(op.Crashes) > 0 {
			r.writeCrashes(&t, op)
		}
	}
	r.writeTotals(&t)
	return t.err
}

// writeCrashes tells of an op's crashes in two lines: of many, most ask for
// something that makes no sense.
func (r *Report) writeCrashes(t *textWriter, op *OpResult) {
	var causes []string
	for _, c := range op.Crashes {
		causes = append(causes, fmt.Sprintf("%s in case %d%s", c.Cause, c.Case, c.note()))
	}
	t.line("crash  %s  %s", op.Op, strings.Join(causes, ", "))
	t.line("  repro   %s\n", r.repro(op, op.Crashes[0]))
}

func (c Crash) note() string {
	if c.Alone {
		return ""
	}
	return " (but not in a process of its own)"
}

func took(d time.Duration) string { return d.Round(10 * time.Millisecond).String() }

// Totals are a report's numbers.
type Totals struct {
	Ops, Reached      int // all, and those that ran at least once
	Below, BelowRun   int // the same of ops with a kernel below autograd
	Cases, Ran        int
	Findings, Crashes int
	Judged            asserts.Counts
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
	t.line("  cases   %d, of which %d ran, in %v", sum.Cases, sum.Ran, took(r.Took))
	var judged []string
	for c := range asserts.AllCodes.All() {
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
