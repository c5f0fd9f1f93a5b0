package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/asserts/suite"
	"github.com/opassert/opassert/cmd/opassert/internal/checkup"
	"github.com/opassert/opassert/internal/installed"
)

func runCheck(inv *invocation) error {
	flags := newCheckFlags(inv.flags)
	out := newOutputs(inv.flags)
	explain := inv.flags.Bool("explain", false, "")
	base := newBaselineFlags(inv.flags)
	programs := newOutputFlag(inv.flags, "repro")
	if err := inv.parse(0, 0); err != nil {
		return err
	}
	o, err := flags.options(inv)
	if err != nil {
		return err
	}
	if isWorker() {
		return checkup.Serve(o)
	}
	if err := base.read(); err != nil {
		return err
	}
	if _, err := o.OwnCases(); err != nil {
		return err
	}
	if *explain && (*out.json || *out.quiet) {
		return usagef("-explain prints a file of cases: it can't be combined with -json or -q")
	}
	if *out.quiet {
		defer func(w io.Writer) { inv.stderr = w }(inv.stderr) // for the errors at the end
		inv.stderr, o.Messages = io.Discard, io.Discard
	}
	if err := flags.prepare(inv, o); err != nil {
		return err
	}
	alone := !*explain && *programs == "" && base.known == nil // no other file is written or read
	if r := o.Earlier(); alone && r != nil && (!*out.json || r.Of != nil) {
		fmt.Fprintln(inv.own.stderr, "opassert check: no op was called: nothing has changed since this report was made; "+
			"-state new calls them again")
		return cmp.Or(out.write(inv, r), verdict(inv, r, *flags.strict))
	}
	run, err := checkup.Start(o)
	if err != nil {
		return err
	}
	defer run.Close()
	folder, err := programsOf(run, *programs)
	if err != nil {
		return err
	}
	if *out.json {
		if err := run.Digest(); err != nil {
			return err
		}
	}
	base.printAbsent(inv, run.All)
	if *explain {
		out.explain = func(r *report.Report, w io.Writer) error { return suite.WriteExplained(w, r, run.All) }
	}
	r, err := checked(inv, run, base, func(r *report.Report) error {
		return errors.Join(base.apply(inv, r), writePrograms(folder, r, o.Workers), out.write(inv, r))
	})
	if err != nil {
		return err
	}
	for _, lib := range o.Libs {
		if file, err := installed.LibraryFile(lib); err == nil && !slices.Contains(o.Files, file) {
			return fmt.Errorf("%s could not be loaded", lib)
		}
	}
	if alone {
		if err := run.Keep(r); err != nil {
			fmt.Fprintf(inv.stderr, "opassert check: warning: the next run can't show this report: %v\n", err)
		}
	}
	return verdict(inv, r, *flags.strict)
}

// checked runs the ops and writes the report, also that of an interrupted run. The state
// is removed only after that.
func checked(
	inv *invocation, run *checkup.Run, base *baselineFlags, write func(*report.Report) error,
) (*report.Report, error) {
	signal.Ignore(syscall.SIGPIPE) // an error of writing one report does not affect the others
	ctx, stop := interruptible()
	defer stop()
	if err := run.OpenState(); err != nil {
		return nil, err
	}
	progress := startProgress(inv, run.Operators, run.Known())
	begun := time.Now()
	found := func(op string, findings []*report.Finding) {
		base.mark(&report.OpResult{Op: op, Findings: findings})
		progress.found(op, findings)
	}
	results, err := run.Do(ctx, progress.opStarted, found, func(r *report.OpResult) {
		base.mark(r)
		progress.opDone(r)
	})
	progress.end()
	interrupted := ctx.Err() != nil
	if err != nil && !interrupted {
		return nil, err
	}
	fmt.Fprintf(inv.stderr, "opassert: %d ops in %v\n", len(results), time.Since(begun).Round(10*time.Millisecond))
	for _, line := range run.Unfit(results) {
		fmt.Fprintln(inv.stderr, line)
	}
	r := run.Report(results)
	err = write(r)
	run.CloseState(err == nil && !interrupted)
	if err == nil && interrupted {
		err = fmt.Errorf("interrupted after %d of %d ops%s", len(r.Ops), r.All, run.Stored())
	}
	return r, err
}
