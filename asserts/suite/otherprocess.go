package suite

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/internal/work"
)

// A control is an additional worker of a run. It repeats a few calls of each op, as the first calls of that op
// in its process. If a result differs from the one between the cases, new processes show whether
// it depends on an earlier call.
type control struct {
	sync.Mutex
	supervisor
}

// agreeing is the number of processes in which a call must return the same bytes after itself, and other
// bytes after a call with other values, or as the first one: results may also depend on the process, or on chance.
const agreeing = 3

// mostFollowed is the number of calls of an op with other results for which the reason is looked for.
const mostFollowed = 3

// unexplained makes findings notes: the results depend on something else than the previous call.
func unexplained(found []*report.Finding) {
	for _, f := range found {
		v := f.Violation
		v.Saw = "bytes of " + v.Subject.Name + " differ between two processes with the same values and the same seed, " +
			"but not because of the previous call"
		v.Symptom, v.Fix, f.Earlier = "", asserts.Symptom("").In(v.Code).Fix, ""
		v.Note = "seen between processes alone, as of a kernel that is compiled again after some calls"
	}
}

// unfollowed is the skip of a call that is not repeated after those.
var unfollowed = asserts.Skip{
	Code: asserts.NondeterministicResult, Count: 1,
	Reason: fmt.Sprintf("the call is not repeated in a process that has not run the op: %d others returned something "+
		"else there", mostFollowed),
}

// unshared is the skip of an op of which no call could be repeated in another process.
var unshared = asserts.Skip{
	Code: asserts.NondeterministicResult, Count: 1,
	Reason: "no call was repeated in a process that has not run the op: none had default floating-point values and a " +
		"result that follows them alone",
}

// uncompared returns the skip on the device whose contents were judged, if there is one.
func uncompared(devices report.Devices) report.Devices {
	for _, on := range devices.Names() {
		if devices[on].Judged[asserts.UndeclaredWrite] > 0 {
			return report.Devices{on: {Skips: []asserts.Skip{unshared}}}
		}
	}
	return nil
}

// compareApart repeats calls of an op in a process that has not run it: the control's, or, where no op
// waits for this supervisor, the one that replaces its own, which saves the start of another.
func (s *supervisor) compareApart(ctx context.Context, o engine.Operator, res *report.OpResult) error {
	if s.waiting.Load() > 0 {
		return s.beside.compare(ctx, o, s.known.apart, res)
	}
	here := &control{supervisor: *s}
	here.renew()
	err := here.compare(ctx, o, s.known.apart, res)
	s.p, s.broken = here.p, here.broken
	return err
}

// compare repeats encoded calls in a process that has not run the op, and compares the results.
func (c *control) compare(ctx context.Context, o engine.Operator, calls []string, res *report.OpResult) error {
	c.Lock()
	defer c.Unlock()
	c.begin(o)
	var pairs []*work.Calls
	for _, text := range calls {
		pair, err := decode[work.Calls](text)
		if err != nil { //mutate:equivalent false: a worker encoded them
			return err
		}
		pairs = append(pairs, pair)
	}
	turned, others := work.Ordered(pairs)
	if found, err := c.each(ctx, turned, res); found || err != nil {
		return err
	}
	if len(turned) > 0 && len(others) > 0 {
		c.renew()
	}
	_, err := c.each(ctx, others, res)
	return err
}

// each repeats the last of each of some calls, and reports whether one has a finding.
func (c *control) each(ctx context.Context, pairs []*work.Calls, res *report.OpResult) (found bool, err error) {
	for tries := 0; len(pairs) > 0 && tries < mostFollowed; pairs = pairs[1:] {
		first, err := c.call(ctx, pairs[0], res, pairs[0].Made[1])
		if err == nil && differs(first) {
			tries++
			var cause *report.CaseResult
			cause, err = c.agreed(ctx, pairs[0], res, pairs[0].Made...)
			if cause == nil && err == nil {
				cause, err = c.agreed(ctx, pairs[0], res, pairs[0].Made[1])
			}
			switch found = cause != nil; {
			case found:
				first.Found, first.Waived = cause.Found, cause.Waived
			case err != nil:
				first.Found = nil
			default:
				unexplained(first.Found)
			}
			if !found && tries == mostFollowed {
				on := first.Devices.Names()[0]
				first.Devices.Add(report.Devices{on: {Skips: slices.Repeat([]asserts.Skip{unfollowed}, len(pairs)-1)}})
			}
		}
		if res.Add(first); err != nil || found {
			return true, err
		}
	}
	return false, nil
}

func differs(r *report.CaseResult) bool { return len(r.Found)+len(r.Waived) > 0 }

// agreed returns what calls show of which the last one returns something else than after itself, or nil.
func (c *control) agreed(ctx context.Context, made *work.Calls, res *report.OpResult,
	calls ...work.Call) (*report.CaseResult, error) {
	var shown *report.CaseResult
	last := made.Made[1]
	made.Last.Seen = nil
	for range agreeing {
		c.renew()
		if like, err := c.call(ctx, made, res, last, last); err != nil || differs(like) {
			return nil, err
		}
		c.renew()
		other, err := c.call(ctx, made, res, calls...)
		if err != nil || !differs(other) {
			return nil, err
		}
		shown = other
	}
	return shown, nil
}

// call makes calls and compares the last one with the earlier observation, if there is one; otherwise it becomes that.
func (c *control) call(ctx context.Context, made *work.Calls, res *report.OpResult,
	calls ...work.Call) (*report.CaseResult, error) {
	text, err := encode(work.Calls{Made: calls, Last: made.Last})
	if err != nil { //mutate:equivalent false: calls are encoded without an error
		return nil, err
	}
	like := calls[len(calls)-1].Case
	shown := &report.CaseResult{Idle: true}
	q := request{Op: like.Op, From: like.Number, To: like.Number + 1, Apart: text}
	c.known.apart = nil
	crash, err := c.askTwice(ctx, q, c.run.longest(), func(r *report.CaseResult) { shown = r })
	if err != nil {
		return shown, err
	}
	if crash != nil {
		res.Unfinish(fmt.Sprintf("it ended a process that had not run the op: %s", crash.Cause))
		return shown, nil
	}
	if made.Last.Seen == nil {
		answer, err := decode[work.Calls](c.known.apart[0])
		if err != nil {
			return shown, err
		}
		made.Last = answer.Last
	}
	return shown, nil
}
