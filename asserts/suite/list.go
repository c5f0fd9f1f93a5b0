package suite

import (
	"errors"
	"fmt"
	"os/exec"
	"strings"

	"github.com/opassert/opassert/asserts/suite/engine"
)

// A Listing is the ops of an engine, as a worker reports them. The process that runs
// the suite loads no library itself: one that crashes or exits while it is
// loaded takes a worker with it, and nothing else.
type Listing struct {
	Version   string // the engine's
	Operators []engine.Operator
	Unloaded  []*LoadError // libraries that could not be loaded
	Wrote     []string     // output of libraries while they were loaded
}

// A loader is an engine that has loaded libraries.
type loader interface{ Unloaded() []*LoadError }

// List asks a worker for the ops of its engine.
func List(worker func() *exec.Cmd) (*Listing, error) {
	scratch, err := NewScratch()
	if err != nil {
		return nil, err
	}
	defer scratch.Remove()
	l, err := list(worker, scratch.work())
	if errors.Is(err, errKilled) {
		l, err = list(worker, scratch.work())
	}
	return l, err
}

func list(worker func() *exec.Cmd, folder string) (*Listing, error) {
	p, err := startProcess(worker, folder, startup)
	if err != nil {
		return nil, err
	}
	defer p.stop()
	if err := p.send(request{List: true}); err != nil {
		return nil, err
	}
	for {
		line, ok := p.next(startup)
		word, rest, _ := strings.Cut(line, " ")
		switch {
		case !ok || word == lineDied:
			return nil, fmt.Errorf("a worker did not list its ops: %w", p.silent())
		case word == lineFault:
			return nil, ownFault(rest)
		case word == lineForeign:
			return nil, foreign(rest)
		case word == lineList:
			l, err := decode[Listing](rest)
			if err == nil {
				wrote := p.wrote()
				for i, library := range p.loads {
					if text := wrote.after(i, len(p.loads)); text != "" && library != "" {
						l.Wrote = append(l.Wrote, library+" writes while it is loaded"+text)
					}
				}
			}
			return l, err
		}
	}
}
