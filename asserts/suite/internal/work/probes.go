package work

import (
	"fmt"
	"slices"
	"time"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/internal/probe"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
)

// A budget is what a probe has used of its own for an op, and what it knows about the op.
type budget struct{ asked, known map[string]bool }

func (t *Target) budget(row *probe.Row) budget {
	b, ok := t.budgets[row]
	if !ok {
		b = budget{make(map[string]bool), make(map[string]bool)}
		t.budgets[row] = b
	}
	return b
}

// due reports whether a probe is to make a call again, or returns the skip if its budget is spent.
func (t *Target) due(row *probe.Row, c *probe.Call) (bool, []asserts.Skip) {
	b := t.budget(row)
	if c.Known = b.known; row.When != nil && !row.When(c) {
		return false, nil
	}
	key := row.Key(c)
	switch {
	case row.Budget == 0:
		return true, nil
	case b.asked[key]:
		return false, nil
	case len(b.asked) == row.Budget:
		return false, unprobed(row, fmt.Sprintf("at most %d per op", row.Budget))
	}
	b.asked[key] = true
	return true, nil
}

// unprobed is the skip of a call that a probe did not make again.
func unprobed(row *probe.Row, reason string) []asserts.Skip {
	return []asserts.Skip{{Code: row.Fault.Code, Reason: "not repeated " + row.How + ": " + reason, Count: 1}}
}

func (r *Runner) probeCall(t *Target, c *sample.Case, seen *asserts.Seen) *probe.Call {
	return &probe.Call{Runner: &caller{r, t}, Op: t.operator, Judged: t.judged, Level: r.Level, Case: c, Seen: seen}
}

// probe makes a call of a library's op again by the probes of a moment whose turn it is, and returns
// what they find, the first fault of each subject, and what was not tried.
func (r *Runner) probe(t *Target, at probe.Moment, c *probe.Call) (faults []asserts.Fault, skips []asserts.Skip) {
	for _, row := range probe.Of(at) {
		if !t.operator.Added && (t.operator.Function == nil || !row.InGo) {
			continue
		}
		ok, spent := t.due(row, c)
		if skips = append(skips, spent...); !ok {
			continue
		}
		c.Free = false
		for _, f := range row.Faults(c) {
			known := func(g asserts.Fault) bool {
				return f.Code == g.Code && f.Argument == g.Argument && f.Return == g.Return
			}
			if !slices.ContainsFunc(faults, known) {
				faults = append(faults, f)
			}
		}
		if c.Free {
			delete(t.budget(row).asked, row.Key(c))
		}
	}
	return faults, skips
}

// probeMore makes calls with changed arguments, which are judged as the call, and adds what they show to its result.
func (r *Runner) probeMore(t *Target, a *attempt, result *report.CaseResult) {
	if !t.operator.Added {
		return
	}
	on := a.calls[0].on
	for _, row := range probe.Of(probe.Judged) {
		ok, skips := t.due(row, r.probeCall(t, a.c, a.calls[0].seen))
		if ok {
			skips = r.probeOne(t, a.c, row, result)
		}
		result.Devices.Add(report.Devices{on: {Skips: skips}})
	}
}

// probeOne makes the first changed call that the op accepts, or returns the skip.
func (r *Runner) probeOne(t *Target, c *sample.Case, row *probe.Row, result *report.CaseResult) []asserts.Skip {
	if row.Fast != nil && !r.isFast(t, c, row.Fast) {
		return unprobed(row, fmt.Sprintf("a smaller call takes %v or more", soon))
	}
	for b := range r.again(t, c, row.Change...) {
		shown := report.CaseResult{Case: result.Case}
		r.judgeRun(t, b, &shown)
		result.Devices.Add(shown.Devices)
		result.Found = append(result.Found, shown.Found...)
		return nil
	}
	return unprobed(row, "the op refuses it")
}

// A call that takes more processor time than soon, or longer than late by the clock, is not fast. On a
// busy machine a call is not late.
const (
	soon = 2 * time.Millisecond
	late = 200 * time.Millisecond
)

// isFast reports whether one of three changed calls is fast.
func (r *Runner) isFast(t *Target, c *sample.Case, changes []probe.Change) bool {
	e := r.Engine.(engine.Threaded)
	for range 3 {
		begun, spent := time.Now(), e.CPUTime()
		for range r.again(t, c, changes...) {
			break
		}
		if e.CPUTime()-spent < soon && time.Since(begun) < late {
			return true
		}
	}
	return false
}

// A caller makes calls of an op for probes.
type caller struct {
	r *Runner
	t *Target
}

func (p *caller) Arguments(c *sample.Case, how probe.Setup) probe.Arguments {
	if args := p.r.made(p.t, c, how); args != nil {
		return args
	}
	return nil
}

func (p *caller) Try(c *sample.Case) *asserts.Seen {
	a, err := p.r.Try(p.t, c)
	if err != nil {
		return nil
	}
	return a.calls[0].seen
}

func (p *caller) Traces() bool {
	e, ok := p.r.Engine.(engine.CopyTracker)
	return ok && e.Traces()
}

func (p *caller) LostWrites(c *sample.Case) (sites map[string]asserts.Site) {
	p.r.callBeside(p.t, c, engine.Rules, "kernel, followed", func(args []any) *fakeCall {
		sites = p.r.Engine.(engine.CopyTracker).LostWrites(p.t.judged, args)
		return nil
	})
	return sites
}

func (p *caller) Divides() bool {
	e, ok := p.r.Engine.(engine.Threaded)
	return ok && e.Server() == 0
}
