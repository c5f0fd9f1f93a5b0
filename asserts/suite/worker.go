package suite

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"runtime/debug"
	"slices"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/internal/design"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
	"github.com/opassert/opassert/asserts/suite/internal/work"
	"github.com/opassert/opassert/schema"
)

// A Config is the settings that a run and its workers share.
type Config struct {
	Level     asserts.Level
	Seed      uint64
	Tolerance float64                        // see work.Runner
	Cases     *design.Recipes                // a user's, used before those of the package; may be nil
	Plan      func(*schema.Op) engine.Checks // called by workers only
}

func (c Config) runner(e engine.Engine) work.Runner {
	return work.Runner{Engine: e, Level: c.Level, Policy: asserts.Aware(), Seed: c.Seed, Tolerance: c.Tolerance}
}

// memoryLimit is the address space in bytes that a worker may add after it started, so that a kernel that allocates too
// much fails at once, and does not exhaust the machine. Go's heap has a quarter.
const memoryLimit = 256 << 20

// Serve runs a worker: it answers requests until the run ends it.
func Serve(e engine.Engine, cfg Config) error {
	c, err := connected()
	if err != nil {
		return err
	}
	if err := limitMemory(memoryLimit); err != nil {
		return err
	}
	if err := os.Chdir(os.Getenv(WorkerVariable)); err != nil {
		return fmt.Errorf("go to the worker's folder: %w", err)
	}
	if r, ok := e.(engine.StateSaver); ok {
		if err := r.SaveState(); err != nil {
			return err
		}
	}
	debug.SetMemoryLimit(memoryLimit / 4)
	os.Unsetenv(WorkerVariable) // processes that kernels start are not workers
	s := &server{
		Runner: cfg.runner(e), connection: c, cfg: cfg,
	}
	s.greeted = kernels(e)
	s.say(lineReady, speaking(s.greeted))
	for q := range c.requests() {
		if err := s.answer(q); err != nil {
			return err
		}
	}
	return nil
}

// kernels returns the process in which kernels run: this one, or one that the engine names.
func kernels(e engine.Engine) int {
	if r, ok := e.(engine.Hosted); ok && r.Server() != 0 {
		return r.Server()
	}
	return os.Getpid()
}

type server struct {
	work.Runner
	*connection // the end of a case is sent with the next line
	cfg         Config
	greeted     int // the process that it named to the run
	sent        tallies
}

// book returns the recipes for a request: a call that is made unchanged needs none.
func (s *server) book(q request) (*design.Recipes, error) {
	if q.Case != "" || q.Apart != "" {
		return new(design.Recipes), nil
	}
	book, err := design.Shipped()
	if err == nil && s.cfg.Cases != nil {
		book = new(slices.Concat(*s.cfg.Cases, *book))
	}
	return book, err
}

func (s *server) answer(text string) (err error) {
	var q request
	if json.Unmarshal([]byte(text), &q) != nil || q.Worker != s.greeted {
		return nil // it was for the worker before
	}
	defer func() {
		switch p := recover().(type) {
		case nil:
		case *engine.LibraryFault:
			err = p
		case *engine.Lost:
			err = p
		default:
			err = fmt.Errorf("panic: %v\n\n%s", p, debug.Stack())
		}
		if err != nil {
			Refuse(err)
		}
	}()
	if q.List {
		return s.list()
	}
	operator, err := s.Engine.Operator(q.Op)
	if err != nil {
		return err
	}
	book, err := s.book(q)
	if err != nil {
		return err
	}
	t := work.NewTarget(s.Engine, operator, s.cfg.Plan(operator.Schema), book)
	if q.Learned != "" {
		l, err := decode[design.Learned](q.Learned)
		if err != nil {
			return err
		}
		maps.Copy(t.Offered, l.Offered) // gob omits an empty map
		maps.Copy(t.Origins, l.Origins)
		t.Ran, t.Recipes = l.Ran, l.Recipes
		maps.Copy(t.Origins, q.Origins)
	} else {
		t.OnLearned = func(l *design.Learned) { s.send(lineLearned, l) }
	}
	s.Forget()
	s.sent = nil
	t.AsItIs, t.Without = q.AsItIs, q.Without
	t.Found = s.shown
	if q.Show {
		t.Trying = s.show
		t.Calling = func(on engine.Device) { s.say(lineDevice, on) }
		t.Twinning = func(on engine.Device) { s.say(lineTwin, on) }
	}
	t.Single = q.To == q.From+1 && !q.Show
	t.Apart = func(calls *work.Calls) { s.send(lineApart, calls) }
	switch {
	case q.Apart != "":
		err = s.callApart(t, q)
	case q.Case != "":
		err = s.attempt(t, q)
	default:
		span := work.Span{From: q.From, To: q.To, Skip: q.Skip, Resumed: q.Learned != ""}
		err = s.Cases(t, span, func(n int) { s.say(lineStart, n, t.Cost(n)) }, s.end)
	}
	if err != nil {
		return err
	}
	return s.say(lineDone)
}

func (s *server) show(c *sample.Case) {
	text := ""
	if c != nil {
		text, _ = encode(c)
	}
	s.say(lineCall, text)
}

func (s *server) attempt(t *work.Target, q request) error {
	c, err := decode[sample.Case](q.Case)
	if err != nil {
		return err
	}
	s.say(lineStart, q.From)
	result := report.CaseResult{Case: q.From}
	_, err = s.Try(t, c)
	s.Fail(&result, t.Gen.Name, err)
	return s.end(&result)
}

func (s *server) callApart(t *work.Target, q request) error {
	calls, err := decode[work.Calls](q.Apart)
	if err != nil {
		return err
	}
	s.say(lineStart, q.From)
	result := report.CaseResult{Case: q.From, Idle: true}
	s.CallApart(t, calls, &result)
	s.send(lineApart, calls)
	return s.end(&result)
}

// send reports a value to the run.
func (s *server) send(line string, value any) {
	text, _ := encode(value)
	s.say(line, text)
}

// shown reports the findings of a case before its end: its tallies still change.
func (s *server) shown(result *report.CaseResult) {
	s.result(lineShown, reply{CaseResult: result})
	s.out.Flush()
}

// end reports the result of a case, at once if a user waits for it.
func (s *server) end(result *report.CaseResult) error {
	err := s.result(lineEnd, s.sent.reply(result))
	if len(result.Found) > 0 {
		err = cmp.Or(err, s.out.Flush())
	}
	return err
}

func (s *server) result(line string, r reply) error {
	text, err := json.Marshal(r)
	if err == nil {
		err = s.put(line, string(text))
	}
	return err
}

func (s *server) list() error {
	operators, err := s.Engine.Operators()
	if err != nil {
		return err
	}
	l := Listing{Version: s.Engine.Version(), Operators: operators}
	if e, ok := s.Engine.(engine.Loader); ok {
		l.Unloaded, l.Files = e.Unloaded(), e.Files()
	}
	text, err := encode(l)
	if err != nil {
		return err
	}
	return s.say(lineList, text)
}
