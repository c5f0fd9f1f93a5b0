package cli

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/opassert/opassert/asserts/suite/report"
	"github.com/opassert/opassert/internal/printable"
)

// A progress shows on a terminal how far a run is.
type progress struct {
	w        io.Writer
	on       bool
	all      int
	ops      int
	cases    int
	findings int
	begun    time.Time
	shown    time.Time
}

func newProgress(inv *invocation, all int) *progress {
	p := &progress{w: inv.own.stderr, all: all, begun: time.Now()}
	if f, ok := p.w.(*os.File); ok {
		info, err := f.Stat()
		p.on = err == nil && info.Mode()&os.ModeCharDevice != 0 && os.Getenv("TERM") != "dumb"
	}
	return p
}

func (p *progress) done(r *report.OpResult) {
	p.ops++
	p.cases += r.Cases
	p.findings += r.Against()
	if now := time.Now(); p.on && now.Sub(p.shown) > 100*time.Millisecond {
		p.shown = now
		rate := float64(p.cases) / now.Sub(p.begun).Seconds()
		fmt.Fprintf(p.w, "\r\x1b[K%d of %d ops, %.0f cases/s, %d findings  %s", p.ops, p.all, rate, p.findings, printable.Line(r.Op))
	}
}

// end takes the line away.
func (p *progress) end() {
	if p.on {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}

// hush discards messages to standard error that are not errors; the function that
// it returns ends that, as errors are printed last.
func (inv *invocation) hush() (restore func()) {
	was := inv.stderr
	inv.stderr = io.Discard
	return func() { inv.stderr = was }
}
