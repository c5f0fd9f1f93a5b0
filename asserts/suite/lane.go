package suite

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/internal/design"
	"github.com/opassert/opassert/asserts/suite/internal/work"
	"github.com/opassert/opassert/asserts/suite/report"
)

// A lane is one of the workers of a run: a process, and another when that ends.
type lane struct {
	run     *Run
	folder  string               // for what kernels write
	deadly  []int                // cases of the op that end a worker
	taught  string               // what the openings of the op teach, once they are over
	places  map[int]design.Place // of the value classes of the op that a call ran with
	last    int                  // the last case of the op that ended
	without []engine.Device      // where a call of the op ended its worker: no more of them
	asItIs  bool                 // a worker ended over a smaller call that shows what the op does
	p       *process
	broken  error // workers do not start
}

// renew makes the next request go to a new process.
func (l *lane) renew() {
	if l.p != nil && !l.p.renew() {
		l.stop()
	}
}

func (l *lane) stop() {
	if l.p != nil {
		l.p.stop()
		l.p = nil
	}
}

// op runs the cases of an op. A verdict next to a crash is repeated alone.
func (l *lane) op(ctx context.Context, o engine.Operator) *report.OpResult {
	res := l.begin(o)
	begun := time.Now()
	if err := l.cases(ctx, o, res); err != nil {
		res.Fault, res.Library = err.Error(), errors.As(err, new(*engine.LibraryFault))
		l.stop()
	}
	if l.run.Lint {
		res.Findings = append(res.Findings, report.Lint(o)...)
	}
	res.Settle()
	res.Bound()
	res.Took = time.Since(begun)
	return res
}

// begin forgets what is known of an op.
func (l *lane) begin(o engine.Operator) *report.OpResult {
	l.deadly, l.taught, l.places, l.last, l.without, l.asItIs = nil, "", make(map[int]design.Place), -1, nil, false
	return report.NewOpResult(o)
}

func (l *lane) cases(ctx context.Context, o engine.Operator, res *report.OpResult) error {
	slow, disturbed, patience := 0, false, l.run.Timeout/glance
	again := func() int {
		l.renew()
		*res, slow = *l.begin(o), 0
		return l.run.From
	}
	for from := l.run.From; from < l.run.To && res.Left == ""; {
		crash, err := l.ask(ctx, request{Op: o.Name(), From: from, To: l.run.To, Without: l.without}, patience, res.Add)
		if err != nil {
			return err
		}
		if crash == nil {
			break
		}
		// Once more, so that what an op shows does not depend on those before it, nor
		// on who else ends processes.
		if first := crash.outside && !disturbed; first || crash.mixed && crash.Cause != report.Hang {
			disturbed = disturbed || first
			from = again()
			continue
		}
		from = crash.Case + 1
		if crash.expected() {
			res.Leave(&crash.Crash)
			if crash.Cause == report.Hang {
				slow++
			}
		} else if err := l.crashed(ctx, o, res, crash); err != nil {
			return err
		} else if crash.Cause == report.Hang && !crash.Alone && patience < l.run.Timeout { // it was only slow: now all get their time
			patience, from = l.run.Timeout, again()
			continue
		} else if crash.Twin {
			from, l.without = crash.Case, append(l.without, crash.Device)
			l.deadly = slices.DeleteFunc(l.deadly, func(n int) bool { return n == from })
			continue
		}
		res.Left = whyLeave(res, &crash.Crash, slow)
	}
	if len(res.Crashes) == 0 {
		return nil
	}
	err := l.confirm(ctx, res)
	l.renew() // as the next op is not to inherit what this one broke
	return err
}

// ask sends one request and takes the answers in; it returns the crash that
// ended the worker, if one did. When that is a case before those asked for, the
// request is sent again without it; and when it is a smaller call than that of a
// case that ran, that case stands, and the request is sent for those after it.
func (l *lane) ask(ctx context.Context, q request, patience time.Duration, add func(*report.Case)) (*ending, error) {
	for {
		q.Skip, q.Learned, q.Places, q.AsItIs = l.deadly, l.taught, l.places, l.asItIs
		crash, err := l.once(ctx, q, patience, add)
		if err == nil && crash != nil && crash.outside {
			return crash, nil
		}
		if err == nil && crash != nil && crash.shown != nil {
			l.asItIs = true
			l.ran(crash.shown, add)
			if q.From = crash.Case + 1; q.From >= q.To {
				return nil, nil
			}
			continue
		}
		if crash != nil {
			l.deadly = append(l.deadly, crash.Case)
		}
		if err != nil || crash == nil || crash.Case >= q.From {
			return crash, err
		}
		if l.last >= q.From {
			q.From = l.last + 1
		}
	}
}

// askTwice is ask for a request of one case. It is sent again where the worker was
// killed or stopped over it.
func (l *lane) askTwice(ctx context.Context, q request, patience time.Duration, add func(*report.Case)) (*ending, error) {
	crash, err := l.ask(ctx, q, patience, add)
	if err == nil && crash != nil && crash.outside {
		crash, err = l.ask(ctx, q, patience, add)
	}
	return crash, err
}

func (l *lane) once(ctx context.Context, q request, patience time.Duration, add func(*report.Case)) (*ending, error) {
	if err := l.start(); err != nil {
		return nil, err
	}
	defer context.AfterFunc(ctx, l.p.kill)()
	l.p.stderr.reset()
	l.p.mixed = l.p.mixed || l.p.op != "" && l.p.op != q.Op
	l.p.op = q.Op
	crash := &ending{Crash: report.Crash{Case: q.From}, mixed: l.p.mixed} // where there is one
	if l.p.send(q) != nil {
		return crash, l.ended(crash)
	}
	grace := patience
	for {
		line, ok := l.p.next(grace)
		word, rest, _ := strings.Cut(line, " ")
		switch {
		case ctx.Err() != nil:
			l.stop()
			return nil, ctx.Err()
		case !ok:
			return crash, l.ended(crash)
		case word == lineStart:
			number, cost, _ := strings.Cut(rest, " ")
			crash.Case, _ = strconv.Atoi(number)
			crash.cost, crash.Frames, crash.shown = cost, nil, nil
			if cost == work.WordCostly {
				grace = patience / costly
			} else {
				grace = patience
			}
		case word == lineCall:
			if crash.calling = rest; rest != "" {
				crash.called, crash.Device, crash.Twin = rest, "", false
			}
		case word == lineDevice || word == lineTwin:
			crash.Device, crash.Twin = engine.Device(rest), word == lineTwin
		case word == lineTaught:
			l.taught = rest
		case word == lineFrame:
			crash.Frames = append(crash.Frames, rest)
		case word == lineShown || word == lineEnd:
			c := new(report.Case)
			if err := json.Unmarshal([]byte(rest), c); err != nil {
				return nil, fmt.Errorf("a worker's answer: %w", err)
			}
			if crash.shown = c; word == lineEnd {
				crash.shown = nil
				l.ran(c, add)
			}
		case word == lineDone:
			return nil, nil
		case word == lineFault:
			l.stop()
			return nil, ownFault(rest)
		case word == lineLibrary:
			l.stop()
			return nil, &engine.LibraryFault{Message: ownFault(rest).Error()}
		case word == lineDied:
			err := l.p.tell(crash, rest)
			if !l.p.again() {
				l.stop()
			}
			return crash, err
		default:
			l.stop()
			return nil, foreign(rest)
		}
	}
}

// ran records the result of a case.
func (l *lane) ran(c *report.Case, add func(*report.Case)) {
	if l.last = c.Case; c.Place != nil {
		l.places[c.Case] = *c.Place
	}
	add(c)
}

// start sees to it that there is a worker. After one that did not start, no
// other is tried.
func (l *lane) start() error {
	if l.p != nil || l.broken != nil {
		return l.broken
	}
	l.p, l.broken = startProcess(l.run.Worker, l.folder, startup)
	return l.broken
}

// foreign is the error for a line of a worker that is not its own.
func foreign(text string) error {
	return fmt.Errorf("a worker answered %q: the kernel may write to file %d, which is the worker's", text, ReplyFile)
}

// ownFault is the error for a panic of opassert's, as a worker wrote it down.
func ownFault(quoted string) error {
	text, err := strconv.Unquote(quoted)
	if err != nil {
		text = quoted
	}
	return errors.New(text)
}

// ended deals with a worker that is gone, or that does not answer any more: it
// fills in the crash, or returns a fault of opassert's own.
func (l *lane) ended(crash *ending) error {
	if !l.p.over() {
		crash.outside = l.p.stopped()
		crash.Cause, crash.Frames = report.Hang, l.p.interrupt()
		crash.dump = l.p.stderr.String()
		l.renew()
		return nil
	}
	err := l.p.tell(crash, l.p.status())
	l.stop()
	return err
}

// confirm runs the findings of an op that crashed again, each in a process of
// its own, and keeps those that show there too.
func (l *lane) confirm(ctx context.Context, res *report.OpResult) error {
	findings := res.Findings
	res.Findings = nil
	for _, f := range findings {
		l.renew()
		keep := func(c *report.Case) {
			if slices.ContainsFunc(c.Found, f.Same) {
				res.Findings = append(res.Findings, f)
			}
		}
		q := request{Op: res.Op, From: f.Case, To: f.Case + 1, Without: except(l.without, f.Devices)}
		if _, err := l.askTwice(ctx, q, l.run.Timeout, keep); err != nil {
			return err
		}
	}
	return nil
}

// except returns the devices that others are not.
func except(all, others []engine.Device) []engine.Device {
	return slices.DeleteFunc(slices.Clone(all), func(d engine.Device) bool { return slices.Contains(others, d) })
}
