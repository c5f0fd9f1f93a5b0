package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/internal/printable"
)

// A progress writes the progress of a run: on a terminal in a line that is updated,
// below the findings; elsewhere in a line each half minute.
type progress struct {
	show func(line string)
	add  func(title string) // of a finding, before the report has it
	stop chan struct{}      // received by the goroutine that writes

	mu              sync.Mutex
	begun           time.Time
	all, done       int                          // ops
	runs, ran       int                          // ops without a result before the run
	running         []string                     // running ops, the first started one first
	shown           map[string][]*report.Finding // of these
	cases, findings int
}

// startProgress starts writing the progress of a run over ops, of which some have
// results of an earlier run. It writes nothing if messages are discarded.
func startProgress(inv *invocation, ops []engine.Operator, known map[string]*report.OpResult) *progress {
	p := &progress{begun: time.Now(), all: len(ops), stop: make(chan struct{}), shown: make(map[string][]*report.Finding)}
	for _, o := range ops {
		if o.Missing == "" && known[o.Name()] == nil {
			p.runs++
		}
	}
	each := 30 * time.Second
	p.add = func(string) {}
	p.show = func(line string) {
		if line != "" {
			fmt.Fprintln(inv.stderr, "opassert:", line)
		}
	}
	if terminal := inv.own.stderr; inv.shows() {
		each = 200 * time.Millisecond
		p.show = func(line string) { fmt.Fprintf(terminal, "\r\x1b[K\x1b[?7l%s\x1b[?7h", line) } // cut to its width
		p.add = func(title string) { fmt.Fprintf(terminal, "\r\x1b[K%s\n", title) }
		p.show(p.line())
	}
	go p.each(each)
	return p
}

// shows reports whether messages go to a terminal.
func (inv *invocation) shows() bool { return terminal(inv.own.stderr) && inv.stderr != io.Discard }

// terminal reports whether a stream is a terminal that updates lines and has colours.
func terminal(w io.Writer) bool {
	f, _ := w.(*os.File) // or nil, which is not a terminal
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && os.Getenv("TERM") != "dumb"
}

// levels matches the level and the code of a finding in a report.
var levels = regexp.MustCompile(`(?m)^  (?:error|note ) \S+`)

// coloured writes a report on standard output, with colours on a terminal.
func (inv *invocation) coloured(write func(io.Writer) error) error {
	if !terminal(inv.own.stdout) || os.Getenv("NO_COLOR") != "" {
		return buffered(inv.stdout, write)
	}
	var text bytes.Buffer
	err := buffered(&text, write)
	_, unwritten := inv.own.stdout.Write(paint(text.Bytes()))
	return errors.Join(err, unwritten)
}

// paint colours a report: errors are red, notes are blue.
func paint(text []byte) []byte {
	return levels.ReplaceAllFunc(text, func(found []byte) []byte {
		colour := 34
		if bytes.HasPrefix(found, []byte("  error")) {
			colour = 31
		}
		return fmt.Appendf(nil, "\x1b[1;%dm%s\x1b[0m", colour, found)
	})
}

func (p *progress) each(interval time.Duration) {
	ticks := time.NewTicker(interval)
	defer ticks.Stop()
	for {
		select {
		case <-ticks.C:
			p.show(p.line())
		case p.stop <- struct{}{}:
			return
		}
	}
}

// end stops writing, and removes the line from a terminal.
func (p *progress) end() {
	<-p.stop
	p.show("")
}

func (p *progress) opStarted(op string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.running = append(p.running, op)
}

// found shows what a case of an op shows, before the op is done.
func (p *progress) found(op string, findings []*report.Finding) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.addNew(op, findings)
}

// addNew shows the findings that were not shown before.
func (p *progress) addNew(op string, findings []*report.Finding) {
	for _, f := range findings {
		if f.Counts() && !slices.ContainsFunc(p.shown[op], f.SameFault) {
			p.shown[op] = append(p.shown[op], f)
			p.add(printable.Line(f.Violation.Symptom.Of(f.Violation.Code) + "  " + op + "  " + f.Violation.Sentence()))
		}
	}
}

func (p *progress) opDone(r *report.OpResult) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done++
	p.cases += r.Cases
	p.findings += r.Against()
	p.addNew(r.Op, r.Findings)
	delete(p.shown, r.Op)
	for _, c := range r.Crashes {
		if c.Counts() {
			p.add(printable.Line("crash  " + r.Op + "  " + c.Cause))
		}
	}
	if i := slices.Index(p.running, r.Op); i >= 0 {
		p.running = slices.Delete(p.running, i, i+1)
		p.ran++
	}
}

// line is the current progress. The remaining time is estimated from that of the ops that ran.
func (p *progress) line() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	elapsed := time.Since(p.begun)
	line := fmt.Sprintf("%d of %d ops in %v, %d cases, %d findings",
		p.done, p.all, elapsed.Round(time.Second), p.cases, p.findings)
	if p.ran > 0 {
		left := elapsed / time.Duration(p.ran) * time.Duration(p.runs-p.ran)
		line += fmt.Sprintf(", about %v left", left.Round(time.Second))
	}
	if len(p.running) > 0 {
		line += ": " + printable.Line(p.running[0])
	}
	return line
}

// interruptible returns a context that ends with a signal that ends a command.
func interruptible() (context.Context, context.CancelFunc) {
	return signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
}
