package cli

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/opassert/opassert/allowlist"
	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/asserts/suite"
	"github.com/opassert/opassert/asserts/suite/compare"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/gen/plan"
	"github.com/opassert/opassert/internal/installed"
	"github.com/opassert/opassert/internal/printable"
	"github.com/opassert/opassert/internal/tensor"
	"github.com/opassert/opassert/schema"
)

var checkCommand = command{
	name:    "check",
	summary: "run kernels and check every call against its schema",
	groups:  checkRows,
	run:     runCheck,
}

// checkFlags are the flags of check.
type checkFlags struct {
	*planFlags
	*torchFlags
	engine, level *string
	depth         asserts.Level // that level
	ops           repeated
	seed          *uint64
	number, only  *int // of cases
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
	host     *installed.Python // of the modules, once it is found
	replaced map[string]bool   // flags that opassert.yaml sets for other commands

	module goModule
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
	c.number = f.Int("n", 0, "")
	c.casesFile = f.String("cases", "", "")
	c.only = newNumberFlag(f, "case", "")
	c.workers = f.Int("workers", usualWorkers(), "")
	c.timeout = f.Duration("timeout", 2*time.Second, "")
	c.state = newStateFlag(f, "")
	c.rerun = f.Bool("rerun", false, "")
	c.part = newShardFlag(f)
	c.moduleFlags = newModuleFlags(f)
	c.device = f.String("device", "", "")
	c.tolerance = f.Float64("tolerance", compare.Tolerance, "")
	c.autograd = f.Bool("autograd", false, "")
	f.Var(&c.guard, "guard", "")
	return c
}

// usualWorkers returns the number of processors that this process may use, and a quarter more, since
// a processor would wait while the worker on it ends by a crash, or starts.
func usualWorkers() int {
	n := runtime.GOMAXPROCS(0)
	return min(n+(n+3)/4, mostWorkers)
}

// mostWorkers is more than any machine can run.
const mostWorkers = 1024

// validate rejects impossible values.
func (f *checkFlags) validate() error {
	switch {
	case *f.timeout < time.Millisecond:
		return usagef("-timeout %v leaves a case no time: want 1ms at least", *f.timeout)
	case *f.number > suite.AllCases:
		return usagef("-n %d: an op gets %d at most", *f.number, suite.AllCases)
	case *f.workers > mostWorkers:
		return usagef("-workers %d: want %d at most", *f.workers, mostWorkers)
	case *f.number < 0:
		return usagef("-n %d: an op needs at least one case; 0 is all that its values need", *f.number)
	case *f.workers < 1:
		return usagef("-workers %d runs nothing: at least one is needed", *f.workers)
	case f.guard.on && *f.autograd:
		return usagef("-guard is for calls that begin at the backend: with -autograd OA014 alone is checked")
	case *f.device != "" && tensor.CheckDevice(*f.device) != nil:
		return usagef("-device: %v", tensor.CheckDevice(*f.device))
	case !(*f.tolerance >= 0):
		return usagef("-tolerance %v: want a number above 0, such as 1e-4, or 0", *f.tolerance)
	case *f.tolerance > 0 && *f.tolerance != compare.Tolerance && (*f.device == "" || *f.level == asserts.Identity.String() || *f.level == asserts.Content.String()):
		return usagef("-tolerance compares values of a -device with those of the CPU, at -level meta")
	case f.guard.on && *f.level == asserts.Identity.String():
		return usagef("-guard needs more than -level identity observes")
	case *f.autograd && *f.level == asserts.Identity.String():
		return usagef("-autograd needs more than -level identity observes")
	}
	for _, pattern := range f.ops {
		if _, err := path.Match(pattern, ""); err != nil {
			return usagef("-op %s: %v", pattern, err)
		}
	}
	return nil
}

func runCheck(inv *invocation) error {
	flags := newCheckFlags(inv.flags)
	out := newOutputs(inv.flags)
	explain := inv.flags.Bool("explain", false, "")
	base := newBaselineFlags(inv.flags)
	programs := newReproFlag(inv.flags)
	describe(inv.flags, checkRows)
	if err := inv.parse(0, 0); err != nil {
		return err
	}
	if isWorker() {
		return flags.serve(inv)
	}
	if err := base.read(); err != nil {
		return err
	}
	if _, err := flags.ownCases(); err != nil {
		return err
	}
	if *explain && (*out.json || *out.quiet) {
		return usagef("-explain prints a file of cases: it can't be combined with -json or -q")
	}
	if *out.quiet {
		defer inv.hush()()
	}
	defer flags.module.remove()
	checked, err := flags.start(inv)
	defer checked.close()
	if err == nil {
		err = errors.Join(checked.matched(), checked.fit())
	}
	if err != nil {
		return err
	}
	folder, err := programs.ready(checked)
	if err != nil {
		return err
	}
	if *out.json {
		if checked.of, err = checked.digests(); err != nil {
			return err
		}
	}
	base.printAbsent(inv, checked.all)
	checked.known = base.known
	if *explain {
		out.text = func(r *report.Report, w io.Writer) error { return suite.WriteExplained(w, r, checked.all) }
	}
	return checked.run(inv, func(r *report.Report) error {
		return errors.Join(base.apply(inv, r), checked.writePrograms(folder, r), out.write(inv, r))
	})
}

// A checkup is a prepared run.
type checkup struct {
	flags     *checkFlags
	backend   *backend
	programs  []*kernelProgram
	engine    string            // the engine's name in reports
	all       []engine.Operator // the ops of the engine
	operators []engine.Operator // the ops to run
	unrun     []engine.Operator // the ops that -device leaves out
	unmatched []string          // patterns that match no op
	shard     report.Shard
	planner   *plan.Planner
	allowed   []*allowlist.List // of -allow
	own       *suite.Recipes    // the user's cases, or nil
	known     *report.Baseline
	of        map[string]string // the report's
}

// start finds the ops to run. It loads no op library: a worker does.
func (f *checkFlags) start(inv *invocation) (*checkup, error) {
	if err := f.known(); err != nil {
		return nil, err
	}
	c := &checkup{flags: f}
	f.replaced = inv.replaced
	if *f.engine == "" {
		*f.engine = f.chosen(inv)
	}
	c.shard = *f.part
	var err error
	if c.backend, err = f.backend(); err != nil {
		return nil, err
	}
	if c.programs, err = c.backend.prepare(f, inv); err != nil {
		return nil, err
	}
	if c.all, err = c.list(inv); err != nil {
		return nil, err
	}
	c.operators, c.unmatched = f.choose(c.all)
	if c.shard.Of > 0 {
		c.shard.Ops = len(c.operators)
	}
	c.operators = c.shard.Take(c.operators)
	if *f.device != "" && len(f.ops) == 0 {
		c.unrun = c.shard.Take(slices.DeleteFunc(slices.Clone(c.all), f.chooses))
	}
	var schemas []*schema.Op
	for _, o := range c.all {
		schemas = append(schemas, o.Schema)
		if plain := unqualified(o.Schema); plain != o.Schema {
			schemas = append(schemas, plain)
		}
	}
	f.inferVersion(c.engine)
	if c.planner, err = f.planner(inv, schemas); err != nil {
		return c, err
	}
	c.waive()
	for _, path := range f.allow {
		list, err := allowlist.Open(path, nil)
		if err != nil {
			return c, err
		}
		c.allowed = append(c.allowed, list)
	}
	return c, nil
}

// list asks every program for its ops.
func (c *checkup) list(inv *invocation) (all []engine.Operator, err error) {
	var engines []string
	for _, p := range c.programs {
		listing, err := c.flags.listing(inv, p.start)
		if err != nil {
			return nil, err
		}
		engines, p.operators = append(engines, listing.Version), listing.Operators
		if p.job == nil {
			p.listed = listing
		} else { // which the worker has unresolved
			listing.Close()
		}
	}
	qualify(c.programs)
	for _, p := range c.programs {
		all = append(all, p.operators...)
	}
	slices.SortFunc(all, func(a, b engine.Operator) int { return strings.Compare(a.Name(), b.Name()) })
	c.engine = strings.Join(engines, ", ")
	return all, nil
}

// close ends the workers that listed ops, unless a run uses them.
func (c *checkup) close() {
	if c == nil {
		return
	}
	for _, p := range c.programs {
		if p.listed != nil {
			p.listed.Close()
		}
	}
}

// listing asks a worker for its ops, without the libraries that can't be loaded,
// unless none can.
func (f *checkFlags) listing(inv *invocation, start func() *exec.Cmd) (*suite.Listed, error) {
	for {
		listing, err := suite.List(start)
		var failed *engine.LoadError
		if errors.As(err, &failed) && len(f.files) > 1 {
			f.leave(inv, failed)
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, failed := range listing.Unloaded {
			if len(f.files) == 1 {
				listing.Close()
				return nil, failed
			}
			f.leave(inv, failed)
		}
		for _, line := range listing.Wrote {
			fmt.Fprintln(inv.stderr, "opassert:", line)
		}
		return listing, nil
	}
}

// known checks the flags that can be checked before an engine is opened, and reads the level.
func (f *checkFlags) known() (err error) {
	f.on = cmp.Or(*f.device, string(engine.CPU))
	if f.on == string(engine.CPU) {
		*f.device = ""
	}
	*f.level = cmp.Or(*f.level, f.usualLevel().String())
	if err := f.validate(); err != nil {
		return err
	}
	f.depth, err = parseLevel(*f.level)
	return err
}

// usualLevel is the default level.
func (f *checkFlags) usualLevel() asserts.Level {
	if f.hosted() || *f.device != "" || len(f.libs) > 0 && !*f.autograd {
		return asserts.Meta
	}
	return asserts.Content
}

// inferVersion sets the library's version from the engine's: the number in "libtorch
// 2.6.0+cu124".
func (f *checkFlags) inferVersion(engine string) {
	if name, version, ok := strings.Cut(engine, " "); ok && name == "libtorch" && *f.version == "" {
		version, _, _ = strings.Cut(version, " ")
		*f.version, _, _ = strings.Cut(version, "+")
	}
}

func parseLevel(name string) (asserts.Level, error) {
	for l := asserts.Identity; l <= asserts.Meta; l++ {
		if l.String() == name {
			return l, nil
		}
	}
	return 0, usagef("unknown level %q: the levels are identity, content and meta", name)
}

// serve runs a worker. An error that keeps it from starting is reported to the run.
func (f *checkFlags) serve(inv *invocation) error {
	e, config, err := f.prepare(inv)
	if err != nil {
		suite.Refuse(err)
		return err
	}
	return suite.Serve(e, config)
}

// prepare opens the engine, and returns the plans for its calls.
func (f *checkFlags) prepare(inv *invocation) (engine.Engine, suite.Config, error) {
	err := f.known()
	config := suite.Config{Level: f.depth, Seed: *f.seed, Tolerance: *f.tolerance}
	if err != nil {
		return nil, config, err
	}
	if *f.engine == "" {
		*f.engine = f.chosen(inv)
	}
	if config.Cases, err = f.ownCases(); err != nil {
		return nil, config, err
	}
	e, err := f.open(inv)
	if err != nil {
		return nil, config, err
	}
	f.inferVersion(e.Version())
	planner, err := f.planner(inv, nil)
	config.Plan = func(op *schema.Op) engine.Checks { return f.planned(planner.Plan(op), config.Level) }
	return e, config, err
}

// planned is a plan for the suite, with the checks that are judged where calls begin.
func (f *checkFlags) planned(p plan.Plan, level asserts.Level) engine.Checks {
	all := planned(p, level)
	all.Op.Checks = slices.DeleteFunc(all.Op.Checks, func(c asserts.Check) bool { return !c.Code.Through(*f.autograd) })
	return all
}

// planned is a plan for the suite.
func planned(p plan.Plan, level asserts.Level) engine.Checks {
	op := p.Asserts(level)
	op.Waived = nil // the suite judges them too, to count the excused findings
	return engine.Checks{Op: op, Waived: p.Waivers()}
}

// compiling is the factor of time for a case that compiles its kernel in its own
// process, as numba and Warp do.
const compiling = 15

// interruptible returns a context that ends with a signal that ends a command.
func interruptible() (context.Context, context.CancelFunc) {
	return signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
}

// run runs the ops and writes the report, also that of an interrupted run. The state
// is removed only after that.
func (c *checkup) run(inv *invocation, write func(*report.Report) error) error {
	signal.Ignore(syscall.SIGPIPE) // an error of writing one report does not affect the others
	ctx, stop := interruptible()
	defer stop()
	state, err := c.openState(inv)
	if err != nil {
		return err
	}
	run := suite.Run{
		Lint: len(c.flags.adding()) > 0 && !*c.flags.autograd, Timeout: *c.flags.timeout, Waived: c.waived, Frames: c.backend.frames, Foreign: c.backend.foreign,
	}
	if len(c.flags.pythonModules()) > 0 {
		run.Compiling = compiling * run.Timeout
	}
	if state.file != nil {
		run.Known = state.file.Known
	}
	progress := startProgress(inv, c.operators, run.Known)
	run.Started = progress.opStarted
	run.Done = func(r *report.OpResult) {
		state.keep(r)
		if c.known != nil {
			c.known.Mark(&report.Report{Ops: []*report.OpResult{r}})
		}
		progress.opDone(r)
	}
	run.From, run.To = c.cases()
	begun := time.Now()
	results, err := c.do(ctx, run)
	progress.end()
	interrupted := ctx.Err() != nil
	if err != nil && !interrupted {
		return err
	}
	fmt.Fprintf(inv.stderr, "opassert: %d ops in %v\n", len(results), time.Since(begun).Round(10*time.Millisecond))
	c.printUnfit(inv, results)
	report := c.report(results)
	return c.conclude(inv, report, state, write(report), interrupted)
}

// do runs the ops of one program after the other.
func (c *checkup) do(ctx context.Context, run suite.Run) (results []*report.OpResult, err error) {
	chosen := make(map[string]bool)
	for _, o := range c.operators {
		chosen[o.Name()] = true
	}
	for _, p := range c.programs {
		run.Worker, run.Listed, run.Operators = p.start, p.listed, slices.DeleteFunc(slices.Clone(p.operators), func(o engine.Operator) bool { return !chosen[o.Name()] })
		run.Workers = min(*c.flags.workers, max(1, len(run.Operators)))
		done, err := run.Do(ctx)
		if results = append(results, done...); err != nil {
			return results, err
		}
	}
	slices.SortFunc(results, func(a, b *report.OpResult) int { return strings.Compare(a.Op, b.Op) })
	return results, nil
}

// cases returns the numbers of the cases to run.
func (c *checkup) cases() (from, to int) {
	if *c.flags.only >= 0 {
		return *c.flags.only, *c.flags.only + 1
	}
	if *c.flags.number == 0 {
		return 0, suite.AllCases
	}
	return 0, *c.flags.number
}

func (c *checkup) report(results []*report.OpResult) *report.Report {
	if here, err := os.Getwd(); err == nil {
		nameFrom(here, results)
	}
	if c.flags.found != nil {
		printPython(results, c.flags.found.PythonMeta())
	}
	r := &report.Report{
		Engine: c.engine, Level: c.flags.depth, Seed: *c.flags.seed, Cases: *c.flags.number,
		Command: c.flags.again(), All: len(c.operators), Ops: results, Shard: c.shard, Of: c.of, Left: c.flags.left, Excuses: c.excuses(results),
	}
	if *c.flags.autograd {
		r.Through = "autograd"
	}
	for _, o := range c.unrun {
		r.Leave(o)
	}
	return r
}

// nameFrom makes the paths of files in a folder relative to it, as for a Go module: a
// report does not depend on where the folder is.
func nameFrom(folder string, results []*report.OpResult) {
	shorten := func(s *asserts.Site) {
		if rel, _ := filepath.Rel(folder, s.File); filepath.IsAbs(s.File) && filepath.IsLocal(rel) {
			s.File = rel
		}
	}
	for _, op := range results {
		shorten(&op.Site)
		for _, f := range op.Findings {
			shorten(&f.Violation.Site)
		}
	}
}

// printPython prints for findings on meta that Python has another meta function than
// the one that ran.
func printPython(results []*report.OpResult, meta installed.PythonMeta) {
	for _, op := range results {
		at := meta.Of(op.Op)
		for _, f := range op.Findings {
			if at != "" && f.Violation.Code == asserts.MetaAlias && slices.Contains(f.Devices, engine.Meta) && !strings.HasSuffix(f.Violation.Saw, at) {
				f.Violation.Saw += "; if meta is the wrong one only C++ callers see it: Python has a meta function of its own, " + at
			}
		}
	}
}

// waived returns the reason why an allowlist waives such a crash of an op, or "".
func (c *checkup) waived(op *schema.Op, cause string) string {
	for _, same := range report.SameCauses(cause) {
		if e := cmp.Or(c.planner.WaivedCrash(op, same), c.planner.WaivedCrash(unqualified(op), same)); e != nil {
			return e.Reason
		}
	}
	return ""
}

// conclude returns how the run ended, once its report is written.
func (c *checkup) conclude(inv *invocation, r *report.Report, state *runState, unwritten error, interrupted bool) error {
	state.close(inv, unwritten == nil && !interrupted)
	switch {
	case unwritten != nil:
		return unwritten
	case interrupted:
		return fmt.Errorf("interrupted after %d of %d ops%s", len(r.Ops), r.All, state.goesOn())
	}
	if err := c.flags.unloaded(); err != nil {
		return err
	}
	return verdict(inv, r, *c.flags.strict)
}

// again returns the start of a repro line: the command with the flags that decide the
// result of a case.
func (f *checkFlags) again() string {
	words := []string{"opassert", "check", "-engine", *f.engine}
	for _, lib := range f.libs {
		words = append(words, "-lib", lib)
	}
	if modules := f.pythonModules(); len(modules) > 0 {
		words = append(words, "-module", strings.Join(modules, ","))
	}
	if f.host != nil {
		words = append(words, "-python", f.host.Path)
	} else if f.found != nil {
		words = append(words, "-libtorch", cmp.Or(f.torchFlags.dirs.one(), f.found.Root))
	}
	for _, flag := range []struct {
		name  string
		value any
		given bool
	}{
		{"-device", *f.device, *f.device != ""},
		{"-tolerance", *f.tolerance, *f.tolerance != compare.Tolerance},
		{"-schema", *f.schema, *f.schema != ""},
		{"-level", *f.level, *f.level != f.usualLevel().String() || f.replaced["level"]},
		{"-seed", *f.seed, *f.seed == report.DefaultSeed && f.replaced["seed"]}, // others follow the case
		{"-cases", *f.casesFile, *f.casesFile != ""},
		{"-autograd", *f.autograd, *f.autograd || f.replaced["autograd"]},
		{"-guard", f.guard.on, f.guard.given},
	} {
		switch {
		case !flag.given:
		case flag.value == true:
			words = append(words, flag.name)
		case flag.value == false:
			words = append(words, flag.name+"=false")
		default:
			words = append(words, flag.name, fmt.Sprint(flag.value))
		}
	}
	return printable.Shell(words...)
}
