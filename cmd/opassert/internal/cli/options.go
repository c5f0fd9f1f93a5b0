package cli

import (
	"cmp"
	"errors"
	"flag"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/asserts/suite"
	"github.com/opassert/opassert/asserts/suite/compare"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/cmd/opassert/internal/checkup"
	"github.com/opassert/opassert/gen/plan"
	"github.com/opassert/opassert/internal/installed"
	"github.com/opassert/opassert/internal/tensor"
	"github.com/opassert/opassert/schema"
)

// checkFlags are the flags of check: most are its options themselves.
type checkFlags struct {
	*planFlags
	*moduleFlags
	o     *checkup.Options
	level *string
	guard optionalBool
}

func newCheckFlags(f *flag.FlagSet) *checkFlags {
	full := "full"
	plans := &planFlags{schemaFlags: newEngineSchemaFlags(f), preset: &full}
	f.Var(&plans.allow, "allow", "")
	o := &checkup.Options{Libraries: new(checkup.Libraries), Case: -1}
	c := &checkFlags{planFlags: plans, moduleFlags: newModuleFlags(f), o: o}
	f.Var((*repeated)(&o.Libs), "lib", "")
	f.StringVar(&o.Engine, "engine", "", "")
	c.level = f.String("level", "", "")
	f.Var((*repeated)(&o.Ops), "op", "")
	f.Uint64Var(&o.Seed, "seed", report.DefaultSeed, "")
	f.Func("n", "", func(s string) error { return setCases(&o.Cases, s) })
	f.StringVar(&o.CasesFile, "cases", "", "")
	f.Func("case", "", func(s string) error {
		if o.Case = number(s); o.Case < 0 {
			return errors.New("want a number, from 0 on")
		}
		return nil
	})
	f.IntVar(&o.Workers, "workers", usualWorkers(), "")
	f.DurationVar(&o.Timeout, "timeout", 2*time.Second, "")
	f.Var(&stateFlag{(*outputFlag)(&o.State)}, "state", "")
	f.Func("shard", "", func(s string) error { return setShard(&o.Shard, s) })
	f.StringVar(&o.Device, "device", "", "")
	f.Float64Var(&o.Tolerance, "tolerance", compare.Tolerance, "")
	f.BoolVar(&o.Autograd, "autograd", false, "")
	f.Var(&c.guard, "guard", "")
	return c
}

// newState is the value of -state that runs all ops again.
const newState = "new"

// A stateFlag names a file that is read and updated, unless it is newState; its errors are reported later.
type stateFlag struct{ *outputFlag }

func (s *stateFlag) writes() bool { return *s.outputFlag != newState }
func (*stateFlag) check() error   { return nil }

// setShard reads a part of the ops; the zero Shard is all of them.
func setShard(s *report.Shard, text string) error {
	index, of, _ := strings.Cut(text, "/")
	if s.Index, s.Of = number(index), number(of); !s.Valid() {
		return errors.New("want a part such as 2/8, from 1/8 to 8/8")
	}
	return nil
}

// setCases reads the number of cases of an op: 0 stands for the usual ones.
func setCases(n *int, text string) error {
	if *n = number(text); text == "all" {
		*n = suite.AllCases
	} else if *n < 0 {
		return errors.New("want a number of cases, or all")
	}
	return nil
}

// usualWorkers returns the number of processors that this process may use, and a quarter more, since a processor would
// wait while the worker on it ends by a crash, or starts. One to three have no more: each worker imports torch.
func usualWorkers() int {
	n := runtime.GOMAXPROCS(0)
	return min(n+n/4, mostWorkers)
}

// mostWorkers is more than any machine can run.
const mostWorkers = 1024

func (f *checkFlags) options(inv *invocation) (o *checkup.Options, err error) {
	o = f.o
	f.on = cmp.Or(o.Device, string(engine.CPU))
	o.Guard, o.Guarded = f.guard.on, f.guard.given
	o.Modules, o.Interpreter = f.pythonModules(), *f.interpreter
	o.Version, o.Settings, o.Replaced, o.Messages = version(), inv.settings, inv.replaced, inv.stderr
	if f.on == string(engine.CPU) {
		o.Device = ""
	}
	if o.State == newState {
		o.State, o.Rerun = "", true
	}
	if o.Level, err = parseLevel(cmp.Or(*f.level, o.UsualLevel().String())); err != nil {
		return nil, err
	}
	switch {
	case o.Engine != "":
	case inv.given("libtorch") || inv.given("schema"):
		o.Engine = "libtorch"
	default:
		o.Engine = o.UsualEngine()
	}
	if o.Engine != "libtorch" {
		inv.forget("libtorch")
	}
	if o.Engine == "go" {
		inv.forget("schema")
	}
	o.TorchFolder, o.Schema, o.Allow = f.dirs.one(), *f.schema, f.allow
	o.Schemas = func() ([]*schema.Op, error) { return f.load(inv) }
	o.Planner = func(version string, ops []*schema.Op) (*plan.Planner, error) {
		*f.version = version
		return f.planner(inv, ops)
	}
	return o, validate(o)
}

func parseLevel(name string) (asserts.Level, error) {
	for l := asserts.Identity; l <= asserts.Meta; l++ {
		if l.String() == name {
			return l, nil
		}
	}
	return 0, usagef("unknown level %q: the levels are identity, content and meta", name)
}

func validate(o *checkup.Options) error {
	switch {
	case o.Timeout < time.Millisecond:
		return usagef("-timeout %v leaves a case no time: want 1ms at least", o.Timeout)
	case o.Cases > suite.AllCases:
		return usagef("-n %d: an op gets %d at most", o.Cases, suite.AllCases)
	case o.Workers > mostWorkers:
		return usagef("-workers %d: want %d at most", o.Workers, mostWorkers)
	case o.Workers < 1:
		return usagef("-workers %d runs nothing: at least one is needed", o.Workers)
	case o.Guard && o.Autograd:
		return usagef("-guard is for calls that begin at the backend: with -autograd OA014 alone is checked")
	case !slices.Contains(checkup.Engines(), o.Engine):
		return usagef("unknown engine %q: the engines are %s", o.Engine, strings.Join(checkup.Engines(), ", "))
	case o.Device != "" && tensor.CheckDevice(o.Device) != nil:
		return usagef("-device: %v", tensor.CheckDevice(o.Device))
	case !(o.Tolerance >= 0):
		return usagef("-tolerance %v: want a number above 0, such as 1e-4, or 0", o.Tolerance)
	case o.Tolerance > 0 && o.Tolerance != compare.Tolerance && (o.Device == "" || o.Level < asserts.Meta):
		return usagef("-tolerance compares values of a -device with those of the CPU, at -level meta")
	case o.Guard && o.Level == asserts.Identity:
		return usagef("-guard needs more than -level identity observes")
	case o.Autograd && o.Level == asserts.Identity:
		return usagef("-autograd needs more than -level identity observes")
	}
	for _, pattern := range o.Ops {
		if _, err := path.Match(pattern, ""); err != nil {
			return usagef("-op %s: %v", pattern, err)
		}
	}
	return nil
}

// prepare rejects flags of other engines, and finds the libtorch and the Python that run the kernels.
func (f *checkFlags) prepare(inv *invocation, o *checkup.Options) error {
	if o.Engine != "libtorch" {
		if err := withoutLibtorch(o); err != nil || o.Engine != "go" {
			return err
		}
		return inv.forGo(o)
	}
	if o.Hosted() {
		if err := f.findHost(inv, o); err != nil {
			return err
		}
	}
	return f.announce(inv)
}

// withoutLibtorch rejects flags of the engine libtorch for other engines.
func withoutLibtorch(o *checkup.Options) error {
	switch {
	case len(o.Libs) > 0:
		return usagef("-lib is for the engine libtorch: %s loads no libraries", o.Engine)
	case len(o.Modules) > 0:
		return usagef("-module is for the engine libtorch: %s imports no modules", o.Engine)
	case o.Interpreter != "":
		return usagef("-python is for the engine libtorch: %s does not run in Python", o.Engine)
	case o.Device != "":
		return usagef("-device is for the engine libtorch: %s only has the CPU", o.Engine)
	case o.Guard:
		return usagef("-guard is for the engine libtorch: tensors of %s lie in Go's memory", o.Engine)
	case o.Autograd:
		return usagef("-autograd is for the engine libtorch: %s has no autograd", o.Engine)
	case o.TorchFolder != "":
		return usagef("-libtorch is for the engine libtorch")
	}
	return nil
}

// forGo rejects flags that make no sense for the engine go.
func (inv *invocation) forGo(o *checkup.Options) error {
	if o.Schema != "" {
		return usagef("-schema is for other engines: a generated package has its ops' schemas")
	}
	for _, u := range inv.uses {
		if u.writes && u.file != nil && slices.Contains([]string{".go", ".mod", ".sum", ".work"}, filepath.Ext(u.path)) {
			return usagef("%s would replace %s, which the module has", u.by, u.path)
		}
	}
	return nil
}

// findHost finds the Python that runs the kernels, and its PyTorch.
func (f *checkFlags) findHost(inv *invocation, o *checkup.Options) (err error) {
	switch {
	case len(o.Libs) > 0:
		return usagef("-lib can't be combined with -module: a module loads its libraries itself")
	case o.TorchFolder != "":
		return usagef("-libtorch can't be combined with -module or -python: the PyTorch is the one that -python imports")
	}
	if o.Host, err = installed.FindPython(o.Interpreter); err != nil {
		return err
	}
	for _, module := range o.Modules {
		if err := inv.claimRead("-module", o.Host.Source(module)); err != nil {
			return err
		}
	}
	o.Torch = o.Host.Torch
	return nil
}
