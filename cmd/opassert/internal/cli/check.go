package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/asserts/suite"
	"github.com/opassert/opassert/asserts/suite/compare"
	"github.com/opassert/opassert/cmd/opassert/internal/checkup"
)

var checkCommand = command{
	name:    "check",
	summary: "run kernels and check every call against its schema",
	run:     runCheck,
}

// checkFlags are the flags of check.
type checkFlags struct {
	*planFlags
	*torchFlags
	engine, level *string
	ops           repeated
	seed          *uint64
	number        caseNumber
	only          *int // of cases
	workers       *int
	timeout       *time.Duration
	state         *string
	rerun         *bool
	casesFile     *string
	part          *report.Shard
	autograd      *bool
	device        *string // of the tensors
	tolerance     *float64
	guard         optionalBool
	*moduleFlags
}

func newCheckFlags(f *flag.FlagSet) *checkFlags {
	full := "full"
	plans := &planFlags{schemaFlags: newEngineSchemaFlags(f), preset: &full}
	f.Var(&plans.allow, "allow", "")
	c := &checkFlags{planFlags: plans, torchFlags: newTorchFlags(f, plans.dirs)}
	c.engine = f.String("engine", "", "")
	c.level = f.String("level", "", "")
	f.Var(&c.ops, "op", "")
	c.seed = f.Uint64("seed", report.DefaultSeed, "")
	f.Var(&c.number, "n", "")
	c.casesFile = f.String("cases", "", "")
	c.only = newNumberFlag(f, "case")
	c.workers = f.Int("workers", usualWorkers(), "")
	c.timeout = f.Duration("timeout", 2*time.Second, "")
	c.state = newStateFlag(f)
	c.rerun = f.Bool("rerun", false, "")
	c.part = newShardFlag(f)
	c.moduleFlags = newModuleFlags(f)
	c.device = f.String("device", "", "")
	c.tolerance = f.Float64("tolerance", compare.Tolerance, "")
	c.autograd = f.Bool("autograd", false, "")
	f.Var(&c.guard, "guard", "")
	return c
}

// A stateFlag names a file that is read and updated; its errors are reported later.
type stateFlag struct{ outputFlag }

func newStateFlag(f *flag.FlagSet) *string {
	s := new(stateFlag)
	f.Var(s, "state", "")
	return (*string)(&s.outputFlag)
}

func (*stateFlag) check() error { return nil }

// newShardFlag is a flag for a part of the ops; the zero Shard is all of them.
func newShardFlag(f *flag.FlagSet) *report.Shard {
	s := new(report.Shard)
	f.Func("shard", "", func(text string) error {
		index, of, _ := strings.Cut(text, "/")
		if s.Index, s.Of = number(index), number(of); !s.Valid() {
			return errors.New("want a part such as 2/8, from 1/8 to 8/8")
		}
		return nil
	})
	return s
}

// A caseNumber is the number of cases of an op: 0 stands for the usual ones.
type caseNumber int

func (n *caseNumber) String() string { return strconv.Itoa(int(*n)) }

func (n *caseNumber) Set(s string) error {
	if *n = caseNumber(number(s)); s == "all" {
		*n = suite.AllCases
	} else if *n < 0 {
		return errors.New("want a number, or all")
	}
	return nil
}

// usualWorkers returns the number of processors that this process may use, and a quarter more, since
// a processor would wait while the worker on it ends by a crash, or starts.
func usualWorkers() int {
	n := runtime.GOMAXPROCS(0)
	return min(n+(n+3)/4, mostWorkers)
}

// mostWorkers is more than any machine can run.
const mostWorkers = 1024

func runCheck(inv *invocation) error {
	flags := newCheckFlags(inv.flags)
	out := newOutputs(inv.flags)
	explain := inv.flags.Bool("explain", false, "")
	base := newBaselineFlags(inv.flags)
	programs := newReproFlag(inv.flags)
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
		defer inv.discardMessages()()
		o.Messages = inv.stderr
	}
	if err := flags.prepare(inv, o); err != nil {
		return err
	}
	run, err := checkup.Start(o)
	defer run.Close()
	if err != nil {
		return err
	}
	folder, err := programs.ready(run)
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
	if err := flags.unloaded(); err != nil {
		return err
	}
	return verdict(inv, r, *flags.strict)
}

// checked runs the ops and writes the report, also that of an interrupted run. The state
// is removed only after that.
func checked(inv *invocation, run *checkup.Run, base *baselineFlags, write func(*report.Report) error) (*report.Report, error) {
	signal.Ignore(syscall.SIGPIPE) // an error of writing one report does not affect the others
	ctx, stop := interruptible()
	defer stop()
	if err := run.OpenState(); err != nil {
		return nil, err
	}
	progress := startProgress(inv, run.Operators, run.Known())
	begun := time.Now()
	results, err := run.Do(ctx, progress.opStarted, func(r *report.OpResult) {
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

// interruptible returns a context that ends with a signal that ends a command.
func interruptible() (context.Context, context.CancelFunc) {
	return signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
}
