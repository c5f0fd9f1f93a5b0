package suite

import (
	"errors"
	"fmt"
	"os/exec"
	"strings"
)

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
	p, err := startProcess(worker, folder, new(crew), startup)
	if err != nil {
		return nil, err
	}
	defer p.stop()
	p.send(request{List: true})
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
			wrote := p.wrote()
			for i, library := range p.loads {
				if text := wrote.after(i, len(p.loads)); text != "" && library != "" {
					l.Wrote = append(l.Wrote, library+" writes while it is loaded"+text)
				}
			}
			return l, err
		}
	}
}
