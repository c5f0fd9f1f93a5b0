package cli

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"

	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/asserts/suite/engine"
)

// baselineFlags name the file with the known findings, which is read, and with -update written.
type baselineFlags struct {
	outputFlag
	update *bool
	known  *report.Baseline
}

func newBaselineFlags(f *flag.FlagSet) *baselineFlags {
	b := &baselineFlags{update: f.Bool("update", false, "")}
	f.Var(b, "baseline", "")
	return b
}

func (b *baselineFlags) writes() bool { return *b.update }

// read reads the file, before the run.
func (b *baselineFlags) read() (err error) {
	switch {
	case b.outputFlag == "" && *b.update:
		return usagef("-update wants -baseline FILE, which it writes")
	case b.outputFlag == "":
		return nil
	case *b.update:
		b.known, err = report.NewBaseline(b.String())
		return err
	}
	b.known, err = report.ReadBaseline(b.String())
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("baseline: %w; write one with -update", err)
	}
	return err
}

// printAbsent prints the ops in the baseline that the engine does not have.
func (b *baselineFlags) printAbsent(inv *invocation, all []engine.Operator) {
	if b.known == nil {
		return
	}
	for _, l := range b.known.Absent(all) {
		fmt.Fprintf(inv.stderr, "opassert: %s: unknown op in %q: remove the line if the op no longer exists\n", b.String(), l)
	}
}

// mark marks the known findings of an op.
func (b *baselineFlags) mark(r *report.OpResult) {
	if b.known != nil {
		b.known.Mark(&report.Report{Ops: []*report.OpResult{r}})
	}
}

// apply marks the known findings in the report, or with -update adds all to the
// baseline. An interrupted run, or one in which opassert failed, updates nothing.
func (b *baselineFlags) apply(inv *invocation, r *report.Report) error {
	if b.known == nil {
		return nil
	}
	b.known.Mark(r)
	if !*b.update {
		return nil
	}
	if len(r.Ops) < r.All || len(r.Faults())+len(r.LibraryFaults()) > 0 || r.Empty() != "" {
		fmt.Fprintf(inv.stderr, "opassert: %s is not changed\n", b.String())
		return nil
	}
	gone := r.Gone
	b.known.Update(r)
	b.known.Mark(r)
	r.Gone = gone
	return toFile(b.String(), b.known.Write)
}
