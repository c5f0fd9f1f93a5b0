package suite

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A Run is one run over many ops.
type Run struct {
	Operators []Operator
	From, To  int                  // case numbers
	Workers   int                  // processes
	Timeout   time.Duration        // of one case, in processor time
	Lint      bool                 // look at the schemas too (OA012)
	Worker    func() *exec.Cmd     // what starts a worker: a process that finds WorkerVariable set calls Serve
	Done      func(*OpResult)      // called after each op, one at a time; may be nil
	Known     map[string]*OpResult // results of an earlier, interrupted run
}

// maxCrashes is after how many crashes an op is given up.
const maxCrashes = 3

// glance is the part of its time that a case gets among others; one that takes
// more runs again, alone, with all of it. Most of those never end.
const glance = 3

// startup is how long a worker may take to start.
const startup = time.Minute

// Do runs every case of every op. When ctx ends it gives what is there, with
// the context's error.
func (r *Run) Do(ctx context.Context) ([]*OpResult, error) {
	folder, err := os.MkdirTemp("", "opassert-worker")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	queue := make(chan Operator)
	var mu sync.Mutex
	var results []*OpResult
	var failed error
	finish := func(res *OpResult, err error) {
		mu.Lock()
		defer mu.Unlock()
		if err != nil && failed == nil {
			failed = err
		}
		if res != nil {
			results = append(results, res)
			if r.Done != nil {
				r.Done(res)
			}
		}
	}
	var workers sync.WaitGroup
	for range r.Workers {
		workers.Go(func() {
			w := worker{run: r, folder: folder}
			defer w.stop()
			for o := range queue {
				finish(w.op(ctx, o))
			}
		})
	}
	r.feed(ctx, queue, finish)
	workers.Wait()
	slices.SortFunc(results, func(a, b *OpResult) int { return strings.Compare(a.Op, b.Op) })
	if ctx.Err() != nil {
		failed = ctx.Err() // what else went wrong comes of that
	}
	return results, failed
}

func (r *Run) feed(ctx context.Context, queue chan<- Operator, finish func(*OpResult, error)) {
	defer close(queue)
	for _, o := range r.Operators {
		if known := r.Known[o.Name()]; known != nil {
			finish(known, nil)
			continue
		}
		if o.Missing != "" {
			finish(newOpResult(o), nil)
			continue
		}
		select {
		case queue <- o:
		case <-ctx.Done():
			return
		}
	}
}

// A worker is one lane of a run: a process, and another when that ends.
type worker struct {
	run    *Run
	folder string // for what kernels write
	p      *process
}

// renew sees to it that the next request goes to a new process.
func (w *worker) renew() {
	if w.p != nil && !w.p.renew() {
		w.stop()
	}
}

func (w *worker) stop() {
	if w.p != nil {
		w.p.stop()
		w.p = nil
	}
}

// op runs the cases of an op. A verdict next to a crash is repeated alone.
func (w *worker) op(ctx context.Context, o Operator) (*OpResult, error) {
	res := newOpResult(o)
	begun := time.Now()
	defer func() {
		if w.run.Lint {
			res.Findings = append(res.Findings, lint(o)...)
		}
		res.settle()
		res.Took = time.Since(begun)
	}()
	for from := w.run.From; from < w.run.To && len(res.Crashes) < maxCrashes; {
		crash, err := w.ask(ctx, request{o.Name(), from, w.run.To, w.run.Timeout / glance}, res.add)
		if err != nil {
			return nil, err
		}
		if crash == nil {
			break
		}
		from = crash.Case + 1
		if err := w.crashed(ctx, res, crash); err != nil {
			return nil, err
		}
		if crash.Cause == hang && crash.Alone {
			break
		}
	}
	if len(res.Crashes) > 0 {
		return res, w.confirm(ctx, res)
	}
	return res, nil
}

// crashed takes in a case that ended its worker. The first of an op runs once
// more in a process of its own, as heap corruption surfaces late and elsewhere;
// after that the process has run this op alone.
func (w *worker) crashed(ctx context.Context, res *OpResult, crash *Crash) error {
	crash.Alone = true
	if len(res.Crashes) == 0 || crash.Cause == hang {
		over, err := w.again(ctx, res, crash)
		if over || err != nil {
			return err
		}
	}
	res.Cases++
	res.Crashes = append(res.Crashes, *crash)
	return nil
}

// again runs a case alone. It tells whether that was all: a hang that was none.
func (w *worker) again(ctx context.Context, res *OpResult, crash *Crash) (over bool, err error) {
	var alone []*caseResult
	w.renew()
	q := request{res.Op, crash.Case, crash.Case + 1, w.run.Timeout}
	second, err := w.ask(ctx, q, func(c *caseResult) { alone = append(alone, c) })
	if err != nil {
		return false, err
	}
	crash.Alone = second != nil
	if crash.Cause != hang || crash.Alone {
		return false, nil
	}
	for _, c := range alone {
		res.add(c)
	}
	return true, nil
}

const hang = "hang"

// A request is for some cases of an op.
type request struct {
	op       string
	from, to int
	timeout  time.Duration // of each, in the worker's own time
}

// ask sends one request and takes the answers in; it gives the crash that
// ended the worker, if one did.
func (w *worker) ask(ctx context.Context, q request, add func(*caseResult)) (*Crash, error) {
	if w.p == nil {
		p, err := startProcess(w.run.Worker(), w.folder, startup)
		if err != nil {
			return nil, err
		}
		w.p = p
	}
	w.p.stderr.reset()
	if _, err := fmt.Fprintln(w.p.in, q.op, q.from, q.to); err != nil {
		return nil, fmt.Errorf("ask a worker: %w", err)
	}
	at := q.from
	for {
		line, ok := w.p.next(q.timeout)
		word, rest, _ := strings.Cut(line, " ")
		switch {
		case ctx.Err() != nil:
			w.stop()
			return nil, ctx.Err()
		case !ok:
			return w.ended(at), nil
		case word == lineStart:
			at, _ = strconv.Atoi(rest)
		case word == lineEnd:
			c := new(caseResult)
			if err := json.Unmarshal([]byte(rest), c); err != nil {
				return nil, fmt.Errorf("a worker's answer: %w", err)
			}
			add(c)
		case word == lineDone:
			return nil, nil
		case word == lineDied:
			return w.died(at, rest), nil
		}
	}
}

// ended tells of a worker that is gone, or that answers no more.
func (w *worker) ended(at int) *Crash {
	select {
	case _, open := <-w.p.lines:
		if open {
			break
		}
		state := ""
		w.p.cmd.Wait()
		if s := w.p.cmd.ProcessState; s != nil {
			state = s.String()
		}
		cause := w.p.cause(state)
		w.stop()
		return &Crash{Case: at, Cause: cause}
	default:
	}
	w.renew()
	return &Crash{Case: at, Cause: hang}
}

// died tells of a worker whose watcher has another one ready.
func (w *worker) died(at int, status string) *Crash {
	crash := &Crash{Case: at, Cause: w.p.cause(status)}
	if !w.p.ready(startup) {
		w.stop()
	}
	return crash
}

// confirm runs the findings of an op that crashed again, each in a process of
// its own, and keeps those that show there too.
func (w *worker) confirm(ctx context.Context, res *OpResult) error {
	findings := res.Findings
	res.Findings = nil
	for _, f := range findings {
		w.renew()
		keep := func(c *caseResult) {
			if slices.ContainsFunc(c.Found, f.same) {
				res.Findings = append(res.Findings, f)
			}
		}
		if _, err := w.ask(ctx, request{res.Op, f.Case, f.Case + 1, w.run.Timeout}, keep); err != nil {
			return err
		}
	}
	return nil
}
