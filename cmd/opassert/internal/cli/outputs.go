package cli

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"time"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite"
)

// outputs are the flags that say what a report is written to.
type outputs struct {
	json                                 *bool
	junit, sarif, html, table, unreached *string
}

func newOutputs(f *flag.FlagSet) *outputs {
	return &outputs{
		json:      f.Bool("json", false, "print a JSON array instead of text"),
		junit:     f.String("junit", "", "write the results as JUnit XML to a `file`"),
		sarif:     f.String("sarif", "", "write the findings as a SARIF log to a `file`"),
		html:      f.String("html", "", "write one self-contained HTML page to a `file`"),
		table:     f.String("table", "", "write the findings as a Markdown table to a `file`"),
		unreached: f.String("unreached", "", "write the ops that never ran, each with its reason, to a `file`"),
	}
}

func (o *outputs) write(inv *invocation, r *suite.Report) error {
	results := r.Results()
	print := r.WriteText
	if *o.json {
		print = func(w io.Writer) error { return asserts.WriteJSON(w, results) }
	}
	sarif := func(w io.Writer) error { return asserts.WriteSARIF(w, version(), "", badOnly(results)) }
	return errors.Join(
		print(inv.stdout),
		toFile(*o.junit, func(w io.Writer) error { return asserts.WriteJUnit(w, results) }),
		toFile(*o.sarif, sarif),
		toFile(*o.html, r.WriteHTML),
		toFile(*o.table, r.WriteTable),
		toFile(*o.unreached, r.WriteUnreached),
	)
}

// badOnly leaves out what a list of problems has no place for.
func badOnly(results []asserts.Result) []asserts.Result {
	return slices.DeleteFunc(slices.Clone(results), func(r asserts.Result) bool {
		return r.Status != asserts.Violated && r.Status != asserts.Crashed
	})
}

// version is the command's own.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

// toFile writes a file, if one is asked for.
func toFile(path string, write func(io.Writer) error) error {
	if path == "" {
		return nil
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := write(f); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

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

func newProgress(w io.Writer, all int) *progress {
	p := &progress{w: w, all: all, begun: time.Now()}
	if f, ok := w.(*os.File); ok {
		info, err := f.Stat()
		p.on = err == nil && info.Mode()&os.ModeCharDevice != 0 && os.Getenv("TERM") != "dumb"
	}
	return p
}

func (p *progress) done(r *suite.OpResult) {
	p.ops++
	p.cases += r.Cases
	p.findings += len(r.Findings) + len(r.Crashes)
	if now := time.Now(); p.on && now.Sub(p.shown) > 100*time.Millisecond {
		p.shown = now
		rate := float64(p.cases) / now.Sub(p.begun).Seconds()
		fmt.Fprintf(p.w, "\r\x1b[K%d of %d ops, %.0f cases/s, %d findings  %s", p.ops, p.all, rate, p.findings, r.Op)
	}
}

// end takes the line away.
func (p *progress) end() {
	if p.on {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
