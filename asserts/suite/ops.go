package suite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/asserts/suite/engine"
)

// op runs the cases of an op. A finding in a case with a crash is confirmed alone.
func (s *supervisor) op(ctx context.Context, o engine.Operator) *report.OpResult {
	res := s.begin(o)
	begun := time.Now()
	if err := cmp.Or(s.cases(ctx, o, res), s.apart(ctx, o, res)); err != nil {
		res.Fault, res.Library = err.Error(), errors.As(err, new(*engine.LibraryFault))
		s.stop()
	}
	// That no call writes says something after all cases alone, and PyTorch's own are declared so intentionally.
	if res.Later == 0 && (o.Added || o.Schema.Pos.Filename != "") {
		res.Findings = report.AddNew(res.Findings, s.known.writes.notes(o)) // unless a call showed the reason
	}
	if s.run.Lint != nil {
		res.Lint(o, s.run.Lint(o.Schema))
	}
	res.Settle()
	res.Bound()
	res.Took = time.Since(begun)
	return res
}

// apart repeats calls of the op in a process that has not run it, or counts that none can be repeated.
func (s *supervisor) apart(ctx context.Context, o engine.Operator, res *report.OpResult) error {
	switch {
	case len(s.known.apart) > 0:
		return s.compareApart(ctx, o, res)
	case o.Own(): // PyTorch's keep no values
		res.Devices.Add(uncompared(res.Devices))
	}
	return nil
}

func (s *supervisor) cases(ctx context.Context, o engine.Operator, res *report.OpResult) error {
	slow, disturbed, patience := 0, false, s.run.Timeout/glance
	add := func(c *report.CaseResult) {
		res.Add(c)
		if s.run.Found != nil {
			s.run.Found(res.Op, c.Found)
		}
	}
	again := func() int {
		s.renew()
		*res, slow = *s.begin(o), 0
		return s.run.From
	}
	for from := s.run.From; from < s.run.To && res.Left == ""; {
		crash, err := s.ask(ctx, request{Op: o.Name(), From: from, To: s.run.To, Without: s.known.without}, patience, add)
		if err != nil {
			return err
		}
		if crash == nil {
			break
		}
		// Once more, so that the result of an op depends neither on earlier ones nor on other programs that end processes.
		if first := crash.outside && !disturbed; first || crash.mixed && crash.Cause != report.Hang {
			disturbed = first
			from = again()
			continue
		}
		from = crash.Case + 1
		if crash.expected() {
			res.Leave(&crash.Crash)
			if crash.Cause == report.Hang {
				slow++
			}
		} else if err := s.crashed(ctx, o, res, crash); err != nil {
			return err
			// it was only slow: now all cases get their full time
		} else if crash.Cause == report.Hang && !crash.Alone && patience < s.run.longest() {
			patience, from = s.run.longest(), again()
			continue
		} else if crash.Twin {
			from, s.known.without = crash.Case, append(s.known.without, crash.Device)
			s.known.deadly = slices.DeleteFunc(s.known.deadly, func(n int) bool { return n == from })
			continue
		}
		res.Left = whyLeave(res, &crash.Crash, slow)
	}
	if len(res.Crashes) > 0 {
		err := s.confirm(ctx, res)
		s.renew() // the next op must not inherit the state that this one broke
		return err
	}
	if slices.ContainsFunc(res.Findings, func(f *report.Finding) bool { return f.Violation.Subject == asserts.Process }) {
		s.renew() // the next op may also make a change that a process makes only once
	}
	return nil
}

// confirm runs the findings of an op that crashed again, each in a process of its own, and keeps
// those that are confirmed; it counts those whose call ends the process.
func (s *supervisor) confirm(ctx context.Context, res *report.OpResult) error {
	findings := res.Findings
	res.Findings = nil
	for _, f := range findings {
		s.renew()
		keep := func(c *report.CaseResult) {
			if slices.ContainsFunc(c.Found, f.Repeats) {
				res.Findings = append(res.Findings, f)
			}
		}
		q := request{Op: res.Op, From: f.Case, To: f.Case + 1, Without: except(s.known.without, f.Devices)}
		crash, err := s.askTwice(ctx, q, s.run.longest(), keep)
		if err != nil {
			return err
		}
		if crash != nil {
			res.Unfinish(fmt.Sprintf("it shows %v, but the repeated call ended its process: %s", f.Violation.Code, crash.Cause))
		}
	}
	return nil
}

// folder returns the workers' folder, that of a worker already started, and a function that removes it.
func (r *Run) folder() (string, func(), error) {
	if r.Listed != nil {
		return r.Listed.scratch.work(), func() {}, nil
	}
	scratch, err := NewScratch()
	if err != nil {
		return "", nil, err
	}
	return scratch.work(), scratch.Remove, nil
}

// Do runs every case of every op. When ctx ends it returns the results so far, with the context's error. Faults of
// opassert itself, such as a worker that does not start, are reported in the results of the ops that they affect.
func (r *Run) Do(ctx context.Context) ([]*report.OpResult, error) {
	folder, remove, err := r.folder()
	if err != nil {
		return nil, err
	}
	defer remove()
	queue, workers, waiting := make(chan engine.Operator), new(workerSet), new(atomic.Int64)
	waiting.Store(int64(len(r.Operators)))
	beside := &control{supervisor: supervisor{run: r, folder: folder, workers: workers}}
	defer beside.stop()
	var mu sync.Mutex
	var results []*report.OpResult
	finish := func(res *report.OpResult) {
		mu.Lock()
		defer mu.Unlock()
		results = append(results, res)
		res.BlameOp()
		if r.Done != nil {
			r.Done(res)
		}
	}
	var supervisors sync.WaitGroup
	for range r.Workers {
		supervisors.Go(func() {
			s := supervisor{run: r, folder: folder, workers: workers, waiting: waiting, beside: beside}
			defer s.stop()
			for o := range queue {
				waiting.Add(-1)
				if r.Started != nil {
					r.Started(o.Name())
				}
				if res := s.op(ctx, o); ctx.Err() == nil {
					finish(res)
				}
			}
		})
	}
	r.feed(ctx, queue, func(res *report.OpResult) { waiting.Add(-1); finish(res) })
	supervisors.Wait()
	slices.SortFunc(results, func(a, b *report.OpResult) int { return strings.Compare(a.Op, b.Op) })
	return results, ctx.Err()
}
