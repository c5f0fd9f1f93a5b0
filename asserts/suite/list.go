package suite

import (
	"fmt"
	"os/exec"
	"strings"
)

// A Listed is the ops of an engine, and the worker that listed them, with which a run continues:
// loading libraries takes longer than running many ops.
type Listed struct {
	*Listing
	scratch *Scratch
	worker  chan *process // one, until a run takes it
}

// Close ends the worker, unless a run has taken it.
func (l *Listed) Close() {
	if p := l.take(); p != nil {
		p.stop()
	}
	l.scratch.Remove()
}

// take returns the worker to its first caller, nil to others.
func (l *Listed) take() *process {
	if l == nil {
		return nil
	}
	select {
	case p := <-l.worker:
		return p
	default:
		return nil
	}
}

// List asks a worker for the ops of its engine.
func List(worker func() *exec.Cmd) (*Listed, error) {
	scratch, err := NewScratch()
	if err != nil {
		return nil, err
	}
	l := &Listed{scratch: scratch, worker: make(chan *process, 1)}
	err = l.list(worker)
	if wasKilled(err) {
		err = l.list(worker)
	}
	if err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

func (l *Listed) list(worker func() *exec.Cmd) error {
	p, err := startProcess(worker, l.scratch.work(), new(workerSet), startup)
	if err != nil {
		return err
	}
	l.Listing, err = p.list()
	if err != nil || len(l.Unloaded) > 0 { // other workers are started without the libraries that can't be loaded
		p.stop()
		return err
	}
	l.worker <- p
	return nil
}

func (p *process) list() (*Listing, error) {
	p.op = "its list"
	p.send(request{List: true})
	for {
		line, ok := p.next(startup)
		switch word, rest, _ := strings.Cut(line, " "); {
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
