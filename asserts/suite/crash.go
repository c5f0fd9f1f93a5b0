package suite

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
	"github.com/opassert/opassert/asserts/suite/internal/work"
)

// whyLeave returns why no more cases of an op are run after a crash, or "". slow counts its late costly cases.
func whyLeave(r *report.OpResult, last *report.Crash, slow int) string {
	repeated, own := 0, 0
	for _, c := range r.Crashes {
		if c.Foreign {
			continue
		}
		if own++; c.Alone {
			repeated++
		}
	}
	switch {
	case last.Cause == report.Hang && last.Alone:
		return "after a call that hangs"
	case repeated >= maxRepeated || own >= maxCrashes || len(r.Crashes) >= maxForeign:
		return fmt.Sprintf("after %d crashes", len(r.Crashes))
	case slow >= maxSlow:
		return fmt.Sprintf("after %d cases that took too long", slow)
	}
	return ""
}

// crashed records a case that ended its worker. The case runs again in a process of its own, as heap corruption shows
// later and elsewhere. If it does not crash then, it has the result of that run.
func (s *supervisor) crashed(ctx context.Context, o engine.Operator, res *report.OpResult, crash *ending) error {
	var alone []*report.CaseResult
	s.renew()
	q := request{Op: res.Op, From: crash.Case, To: crash.Case + 1, Show: true, Without: s.known.without}
	second, err := s.askTwice(ctx, q, s.run.longest(), func(c *report.CaseResult) { alone = append(alone, c) })
	if err != nil {
		return err
	}
	if second == nil {
		for _, c := range alone {
			res.Add(c)
		}
		if crash.Cause != report.Hang { // otherwise it was only slow
			res.Crashes = append(res.Crashes, *s.own(&crash.Crash))
		}
		return nil
	}
	if second.calling == "" && second.Cause == report.Hang && len(second.Frames) == 0 {
		if second.called != "" { // it makes many calls, each of which ends
			res.Leave(&second.Crash)
			return nil
		}
		return fmt.Errorf("case %d of %s never ends, although it makes no call\n%s", second.Case, res.Op, second.dump)
	}
	*crash = *second
	crash.Alone = true
	if err := s.shrink(ctx, res, crash); err != nil {
		return err
	}
	if s.run.Waived != nil {
		crash.Waived = s.run.Waived(o.Schema, crash.Cause)
	}
	if o.Added && s.run.Foreign != nil {
		why := s.run.Foreign(crash.Frames)
		crash.Foreign, crash.Waived = why != "", cmp.Or(why, crash.Waived)
	}
	if s.own(&crash.Crash).InPython() {
		crash.Waived = "it calls into Python, but a worker runs no interpreter"
	}
	s.known.without = except(s.known.without, res.AddCrash(&crash.Crash))
	if !crash.Twin { // otherwise the case runs again without that device
		res.Cases++
	}
	return nil
}

// own reduces a crash's stack to the op's own functions, and the line it wrote to the message.
func (s *supervisor) own(crash *report.Crash) *report.Crash {
	crash.Said = strings.TrimPrefix(crash.Said, what)
	if s.run.Frames != nil {
		crash.Frames = s.run.Frames(crash.Frames)
	}
	return crash
}

// Limits of the search for the smallest call that crashes: calls, and those that end a worker: another must start.
const (
	shrinkCalls   = 40
	shrinkCrashes = 6
)

// shrink searches for the smallest call that crashes like the case. A repeated cause, or one that
// may be the same fault, is reported with the call of its case, and so is a call that hangs or
// loses the device, since each attempt would take as long, or need another process with a driver.
func (s *supervisor) shrink(ctx context.Context, res *report.OpResult, crash *ending) error {
	c, err := decode[sample.Case](crash.called)
	if err != nil {
		return nil // it crashed before its first call
	}
	crash.Call, crash.Recipe = c.String(), c.Recipe()
	if crash.Cause == report.Hang || crash.Cause == report.DeviceLost {
		return nil
	}
	for _, other := range res.Crashes {
		if other.Alone && slices.Contains(report.SameCauses(crash.Cause), other.Cause) {
			return nil
		}
	}
	calls, ended := shrinkCalls, shrinkCrashes
	crashes := func(c *sample.Case) (*ending, *sample.Case, error) { // with the call that was made
		calls--
		got, err := s.attempt(ctx, c)
		if got != nil {
			ended--
		}
		if got == nil || got.Cause != crash.Cause {
			return nil, nil, err
		}
		if made, err := decode[sample.Case](got.called); err == nil {
			c = made
		}
		return got, c, err
	}
	smallest := work.Smallest(c, func(simpler *sample.Case) (made *sample.Case, enough bool) {
		if calls <= 0 || ended <= 0 {
			return nil, true
		}
		_, made, err = crashes(simpler)
		return made, err != nil
	})
	if smallest == c || err != nil {
		return err
	}
	s.renew() // the call must crash in a new process
	got, made, err := crashes(smallest)
	if got != nil {
		crash.Call, crash.Recipe, crash.Frames = made.String(), made.Recipe(), got.Frames
	}
	return err
}

func (s *supervisor) attempt(ctx context.Context, c *sample.Case) (*ending, error) {
	text, err := encode(c)
	if err != nil { //mutate:equivalent false: a case can be encoded
		return nil, err
	}
	q := request{Op: c.Op, From: c.Number, Case: text, Show: true, Without: s.known.without}
	return s.askTwice(ctx, q, max(s.run.Timeout/glance, time.Millisecond), func(*report.CaseResult) {})
}

func except(all, others []engine.Device) []engine.Device {
	return slices.DeleteFunc(slices.Clone(all), func(d engine.Device) bool { return slices.Contains(others, d) })
}
