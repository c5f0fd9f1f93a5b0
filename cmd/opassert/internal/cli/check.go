package cli

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite"
	"github.com/opassert/opassert/gen/plan"
	"github.com/opassert/opassert/schema"
)

var checkCommand = command{
	name:    "check",
	summary: "run kernels and hold every call against its schema",
	about: `
Runs the ops of an engine on cases made from their schemas. libtorch runs the
ops of a stock libtorch, and with -lib those that the libraries add. Cases run
in worker processes, so a kernel that crashes or hangs is a result like another.
A run that was interrupted goes on where it stopped when it is started again.

  opassert check -engine libtorch -op aten::lu_unpack
  opassert check -engine libtorch -lib build/libmyops.so -level meta`,
	run: runCheck,
}

// checkFlags are the flags of every command that runs kernels.
type checkFlags struct {
	*planFlags
	*torchFlags
	engine, level *string
	ops           repeated
	seed          *uint64
	cases, only   *int
	workers       *int
	timeout       *time.Duration
	state         *string
}

func newCheckFlags(f *flag.FlagSet) *checkFlags {
	c := &checkFlags{planFlags: newPlanFlags(f), torchFlags: newTorchFlags(f)}
	c.engine = f.String("engine", "", "what runs the kernels: "+engineNames()+" (default: libtorch, or c10 where there is none)")
	c.level = f.String("level", "content", "how much is checked: identity, content or meta")
	f.Var(&c.ops, "op", "an op `name`, or a pattern such as aten::*conv*; may be given several times")
	c.seed = f.Uint64("seed", suite.DefaultSeed, "what the cases are made from")
	c.cases = f.Int("cases", 50, "how many cases an op gets")
	c.only = f.Int("case", -1, "run this case alone")
	c.workers = f.Int("workers", runtime.NumCPU(), "worker processes")
	c.timeout = f.Duration("timeout", 3*time.Second, "the longest that one case may take, in processor time")
	c.state = f.String("state", "", "the `file` that keeps what is done, so that an interrupted run can go on (default: in the cache folder)")
	return c
}

func runCheck(inv *invocation) error {
	flags := newCheckFlags(inv.flags)
	out := newOutputs(inv.flags)
	if err := inv.parse(0, 0); err != nil {
		return err
	}
	checked, err := flags.start(inv)
	if err != nil {
		return err
	}
	if isWorker() {
		return checked.serve()
	}
	report, err := checked.run(inv)
	if err != nil {
		return err
	}
	if err := out.write(inv, report); err != nil {
		return err
	}
	if report.Findings() > 0 {
		return errFindings
	}
	return nil
}

// A checkup is a run made ready.
type checkup struct {
	flags     *checkFlags
	engine    *engine
	operators []suite.Operator
	config    suite.Config
}

func (f *checkFlags) start(inv *invocation) (*checkup, error) {
	if *f.timeout <= 0 {
		return nil, usagef("-timeout %v leaves a case no time", *f.timeout)
	}
	c := &checkup{flags: f}
	level, err := parseLevel(*f.level)
	if err != nil {
		return nil, err
	}
	if c.engine, err = f.open(inv); err != nil {
		return nil, err
	}
	if *f.version == "" {
		*f.version = c.engine.version
	}
	var all []suite.Operator // a worker, which starts often, asks for one at a time
	if !isWorker() {
		if all, err = c.engine.Operators(); err != nil {
			return nil, err
		}
		if c.operators, err = f.choose(all, c.engine.added); err != nil {
			return nil, err
		}
	}
	planner, err := f.plannerFor(inv, all)
	c.config = suite.Config{Level: level, Seed: *f.seed, Plan: func(op *schema.Op) suite.Plan { return planned(planner.Plan(op), level) }}
	return c, err
}

// planned is a plan as the suite takes it.
func planned(p plan.Plan, level asserts.Level) suite.Plan {
	op := p.Asserts(level)
	waived := asserts.CodesOf(op.Waived...)
	op.Waived = nil // the suite judges them too, to know what they excuse
	return suite.Plan{Op: op, Waived: waived}
}

func (f *checkFlags) plannerFor(inv *invocation, all []suite.Operator) (*plan.Planner, error) {
	var schemas []*schema.Op
	for _, o := range all {
		schemas = append(schemas, o.Schema)
	}
	return f.planner(inv, schemas)
}

// isWorker reports whether this process is a worker of another one's run.
func isWorker() bool { return os.Getenv(suite.WorkerVariable) != "" }

func parseLevel(name string) (asserts.Level, error) {
	for l := asserts.Identity; l <= asserts.Meta; l++ {
		if l.String() == name {
			return l, nil
		}
	}
	return 0, usagef("no level %q; there are identity, content and meta", name)
}

// choose gives the ops that the patterns match; without patterns those that
// the libraries added, and without libraries all.
func (f *checkFlags) choose(all []suite.Operator, loaded func(string) bool) ([]suite.Operator, error) {
	if len(f.ops) == 0 {
		return slices.DeleteFunc(slices.Clone(all), func(o suite.Operator) bool { return len(f.libs) > 0 && !loaded(o.Name()) }), nil
	}
	chosen := make([]bool, len(all))
	for _, pattern := range f.ops {
		found := false
		for i, o := range all {
			if matches(pattern, o) {
				chosen[i], found = true, true
			}
		}
		if !found {
			return nil, fmt.Errorf("no op %q in the engine", pattern)
		}
	}
	var out []suite.Operator
	for i, o := range all {
		if chosen[i] {
			out = append(out, o)
		}
	}
	return out, nil
}

// matches takes a name with or without namespace and overload, or a pattern.
func matches(pattern string, o suite.Operator) bool {
	base := o.Schema.Func.Name
	base.Overload = ""
	for _, name := range []string{
		o.Name(), o.Schema.Func.Name.String(), base.String(), o.Schema.Namespace + "::" + base.String(),
	} {
		if ok, _ := path.Match(pattern, name); ok {
			return true
		}
	}
	return false
}

func (c *checkup) serve() error {
	return suite.Serve(c.engine.Engine, c.config, os.Stdin, os.NewFile(suite.ReplyFile, "replies"))
}

func (c *checkup) run(inv *invocation) (*suite.Report, error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	state, err := suite.OpenState(*c.flags.state, strings.Join(inv.raw, "\x00"), c.engine.Version()+c.flags.stamps())
	if err != nil {
		return nil, err
	}
	progress := newProgress(inv.stderr, len(c.operators))
	run := suite.Run{
		Operators: c.operators, Lint: len(c.flags.libs) > 0, To: *c.flags.cases, Workers: max(1, *c.flags.workers), Timeout: *c.flags.timeout,
		Worker: c.worker, Known: state.Known,
		Done: func(r *suite.OpResult) {
			state.Keep(r)
			progress.done(r)
		},
	}
	if *c.flags.only >= 0 {
		run.From, run.To = *c.flags.only, *c.flags.only+1
	}
	begun := time.Now()
	results, err := run.Do(ctx)
	progress.end()
	if err != nil {
		state.Close()
		if errors.Is(err, context.Canceled) {
			return nil, fmt.Errorf("interrupted after %d of %d ops; what is done is kept in %s, and the same command goes on from there",
				len(results), len(c.operators), state.Path)
		}
		return nil, err
	}
	return &suite.Report{
		Engine: c.engine.Version(), Level: c.config.Level, Seed: c.config.Seed, Cases: run.To - run.From,
		Command: c.flags.again(), Ops: results, Took: time.Since(begun),
	}, state.Remove()
}

// stamps tells one build of the command, of libtorch and of the libraries from
// another: a run does not go on with the results of other code.
func (f *checkFlags) stamps() string {
	self, _ := os.Executable()
	files := append([]string{self}, f.libs...)
	if f.found != nil {
		files = append(files, f.found.Link()...)
	}
	var b strings.Builder
	for _, file := range files {
		if info, err := os.Stat(file); err == nil {
			fmt.Fprintf(&b, " %s %d %v", file, info.Size(), info.ModTime().UnixNano())
		}
	}
	return b.String()
}

// again gives the command that a repro line begins with: what decides how a
// case comes out, and nothing else.
func (f *checkFlags) again() string {
	words := []string{"opassert check -engine", *f.engine}
	for _, lib := range f.libs {
		words = append(words, "-lib", lib)
	}
	if f.found != nil {
		words = append(words, "-libtorch", cmp.Or(*f.dir, f.found.Root))
	}
	if *f.schema != "" {
		words = append(words, "-schema", *f.schema)
	}
	if *f.level != asserts.Content.String() {
		words = append(words, "-level", *f.level)
	}
	return strings.Join(words, " ")
}

// worker starts the same command as a worker.
func (c *checkup) worker() *exec.Cmd {
	self, err := os.Executable()
	if err != nil {
		self = os.Args[0]
	}
	cmd := exec.Command(self, os.Args[1:]...)
	// A worker lives shortly: collecting garbage is not worth it, nor are
	// threads that spin.
	cmd.Env = append(os.Environ(), "GOGC=off", "GOMEMLIMIT=512MiB", "OMP_NUM_THREADS=1", "MKL_NUM_THREADS=1", engineVariable+"="+*c.flags.engine)
	cmd.Env = append(cmd.Env, c.engine.environment...)
	return cmd
}
