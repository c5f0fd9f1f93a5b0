package suite

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/internal/work"
)

// A supervisor runs ops in a worker: one process, and another one when that ends.
type supervisor struct {
	run     *Run
	folder  string        // for files that kernels write
	workers *workerSet    // of its workers
	waiting *atomic.Int64 // the ops that no supervisor has begun
	beside  *control
	p       *process
	broken  error   // why workers do not start
	known   opFacts // about the op that runs
}

// opFacts holds the facts about an op from the answers of workers so far.
type opFacts struct {
	deadly  []int                 // cases that end a worker
	learned string                // from the openings, once they are over
	origins map[int]report.Origin // of the value classes that a call ran with
	last    int                   // the last finished case
	without []engine.Device       // where a call ended its worker: no more calls there
	asItIs  bool                  // a worker ended in the search for a smaller call
	writes  writes
	apart   []string // calls to repeat in another process
}

func (s *supervisor) begin(o engine.Operator) *report.OpResult {
	s.known = opFacts{origins: make(map[int]report.Origin), last: -1, writes: make(writes)}
	return report.NewOpResult(o)
}

// renew makes the next request go to a new process.
func (s *supervisor) renew() {
	if s.p != nil && !s.p.renew() {
		s.stop()
	}
}

func (s *supervisor) stop() {
	if s.p != nil {
		s.p.stop()
		s.p = nil
	}
}

// ask sends one request and reads the answers; it returns the crash that ended the worker, if any.
// If that is in a case before the requested ones, the request is sent again without it; if it is in
// a smaller call for a case that ran, that case counts, and the request is sent for those after it.
func (s *supervisor) ask(ctx context.Context, q request, patience time.Duration,
	add func(*report.CaseResult)) (*ending, error) {
	for {
		q.Skip, q.Learned, q.Origins, q.AsItIs = s.known.deadly, s.known.learned, s.known.origins, s.known.asItIs
		crash, err := s.once(ctx, q, patience, add)
		if err != nil || crash == nil || crash.outside {
			return crash, err
		}
		if crash.shown != nil {
			s.known.asItIs = true
			s.record(crash.shown, add)
			if q.From = crash.Case + 1; q.From >= q.To {
				return nil, nil
			}
			continue
		}
		s.known.deadly = append(s.known.deadly, crash.Case)
		if crash.Case >= q.From {
			return crash, nil
		}
		if s.known.last >= q.From {
			q.From = s.known.last + 1
		}
	}
}

// askTwice is ask for a request of one case. It is sent again if the worker was killed or stopped meanwhile.
func (s *supervisor) askTwice(ctx context.Context, q request, patience time.Duration,
	add func(*report.CaseResult)) (*ending, error) {
	crash, err := s.ask(ctx, q, patience, add)
	if crash != nil && crash.outside {
		crash, err = s.ask(ctx, q, patience, add)
	}
	return crash, err
}

func (s *supervisor) once(ctx context.Context, q request, patience time.Duration,
	add func(*report.CaseResult)) (*ending, error) {
	if err := s.start(); err != nil {
		return nil, err
	}
	defer context.AfterFunc(ctx, s.p.kill)()
	s.p.stderr.reset()
	crash := &ending{Crash: report.Crash{Case: q.From}, mixed: s.p.op != "" && s.p.op != q.Op} // if any
	s.p.op = q.Op
	s.p.send(q)
	var received tallies
	for {
		line, ok := s.p.next(grace(crash.cost, patience))
		switch word, rest, _ := strings.Cut(line, " "); {
		case ctx.Err() != nil:
			s.stop()
			return nil, ctx.Err()
		case !ok:
			return crash, s.ended(crash)
		case word == lineStart:
			number, cost, _ := strings.Cut(rest, " ")
			crash.Case, _ = strconv.Atoi(number)
			crash.cost, crash.Frames, crash.Said, crash.shown = cost, nil, "", nil
		case word == lineCall:
			if crash.calling = rest; rest != "" {
				crash.called, crash.Device, crash.Twin = rest, "", false
			}
		case word == lineDevice || word == lineTwin:
			crash.Device, crash.Twin = engine.Device(rest), word == lineTwin
		case word == lineLearned:
			s.known.learned = rest
		case word == lineApart:
			s.known.apart = append(s.known.apart, rest)
		case word == lineFrame:
			if line, ok := strings.CutPrefix(rest, "said "); ok {
				crash.Said = said(crash.Said, line)
			} else {
				crash.Frames = append(crash.Frames, rest)
			}
		case word == lineShown || word == lineEnd:
			r := reply{CaseResult: new(report.CaseResult)}
			if err := json.Unmarshal([]byte(rest), &r); err != nil {
				return nil, fmt.Errorf("a worker's answer: %w", err)
			}
			if crash.shown = r.CaseResult; word == lineEnd {
				if !received.restore(r) {
					return nil, fmt.Errorf("a worker's answer refers to tallies that it did not send: %s", rest)
				}
				crash.shown = nil
				s.record(r.CaseResult, add)
			}
		case word == lineDone:
			return nil, nil
		case word == lineFault:
			s.stop()
			return nil, ownFault(rest)
		case word == lineLibrary:
			s.stop()
			return nil, &engine.LibraryFault{Message: ownFault(rest).Error()}
		case word == lineLost:
			s.stop()
			crash.Cause, crash.Said = report.DeviceLost, ownFault(rest).Error()
			return crash, nil
		case word == lineDied:
			err := s.p.explain(crash, rest)
			if !s.p.awaitReplacement() {
				s.stop()
			}
			return crash, err
		default:
			s.stop()
			return nil, foreign(rest)
		}
	}
}

// grace returns the part of its time limit that a case with this cost gets.
func grace(cost string, patience time.Duration) time.Duration {
	if cost == work.WordCostly {
		return patience / costly
	}
	return patience
}

func (s *supervisor) record(c *report.CaseResult, add func(*report.CaseResult)) {
	if s.known.last = c.Case; c.Origin != nil {
		s.known.origins[c.Case] = *c.Origin
	}
	s.known.writes.add(c.Writes)
	add(c)
}

// start starts a worker unless there is one. After one that did not start, no other is tried.
func (s *supervisor) start() error {
	if s.p != nil || s.broken != nil {
		return s.broken
	}
	if s.p = s.run.Listed.take(); s.p != nil {
		s.p.workers = s.workers
		s.renew()
	}
	if s.p == nil {
		s.p, s.broken = startProcess(s.run.Worker, s.folder, s.workers, startup)
	}
	return s.broken
}

// ended handles a worker that has ended or does not answer: it fills in the crash, or returns opassert's own fault.
func (s *supervisor) ended(crash *ending) error {
	if !s.p.over() {
		crash.outside = slices.ContainsFunc(s.p.pids(), pid.stopped)
		if crash.Cause = report.Hang; crash.onDevice() && s.p.childEnded() {
			crash.Cause, crash.Said = report.DeviceLost, "a process of the device has ended"
			if last := strings.TrimSpace(s.p.stderr.String()); last != "" {
				crash.Said += ": " + last[strings.LastIndexByte(last, '\n')+1:]
			}
		}
		crash.Frames = s.p.interrupt()
		crash.dump = s.p.stderr.String()
		s.renew()
		return nil
	}
	err := s.p.explain(crash, s.p.status())
	s.stop()
	return err
}
