package suite

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/schema"
)

// A Config is what a run and its workers agree on.
type Config struct {
	Level asserts.Level
	Seed  uint64
	Plan  func(*schema.Op) Plan // called by workers alone
}

// The conversation with a worker is in lines. It says "ready PID" when it has
// started. A request is "OP FROM TO", to run those cases; the answer is
// "start N" before each case, "end JSON" after it, and "done".
const (
	lineReady = "ready"
	lineStart = "start"
	lineEnd   = "end"
	lineDone  = "done"
	lineDied  = "died" // from what watches the worker: "died STATUS"
)

// memoryLimit is how many bytes of address space a worker gets besides what it
// starts with, so that a kernel that asks for too much fails at once, and
// neither fills the machine nor takes the time that filling takes.
const memoryLimit = 2 << 30

// Serve is the life of a worker: it runs what it is asked to until in ends.
func Serve(engine Engine, cfg Config, in io.Reader, out io.Writer) error {
	if err := limitMemory(memoryLimit); err != nil {
		return err
	}
	if err := os.Chdir(os.Getenv(WorkerVariable)); err != nil {
		return fmt.Errorf("go to the worker's folder: %w", err)
	}
	book, err := shipped()
	if err != nil {
		return err
	}
	s := &server{
		runner: runner{engine: engine, level: cfg.Level, policy: asserts.Aware(), seed: cfg.Seed},
		cfg:    cfg, book: book, out: out,
	}
	fmt.Fprintln(out, lineReady, os.Getpid())
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		if err := s.answer(lines.Text()); err != nil {
			return err
		}
	}
	return lines.Err()
}

// giveUp is after how many cases an op is left alone when the errors of all of
// them were of the sort that no arguments mend, such as a missing kernel.
const giveUp = 10

type server struct {
	runner
	cfg  Config
	book *recipeBook
	out  io.Writer
}

func (s *server) answer(request string) error {
	var name string
	var from, to int
	if _, err := fmt.Sscanf(request, "%s %d %d", &name, &from, &to); err != nil {
		return fmt.Errorf("bad request %q: %w", request, err)
	}
	operator, err := s.engine.Operator(name)
	if err != nil {
		return err
	}
	t := newTarget(s.engine, operator, s.cfg.Plan(operator.Schema), s.book)
	hopeless := 0 // cases from the first one on that nothing would mend
	for n := from; n < to && hopeless < giveUp; n++ {
		fmt.Fprintln(s.out, lineStart, n)
		result := s.run(t, n)
		if result.lost && hopeless == n-from {
			hopeless++
		}
		text, err := json.Marshal(result)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(s.out, "%s %s\n", lineEnd, text); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintln(s.out, lineDone)
	return err
}
