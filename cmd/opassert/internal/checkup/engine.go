package checkup

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/optest"
	"github.com/opassert/opassert/asserts/suite"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/cmd/opassert/internal/torch"
	"github.com/opassert/opassert/gen"
	"github.com/opassert/opassert/gen/plan"
	"github.com/opassert/opassert/internal/slicesx"
	embedded "github.com/opassert/opassert/internal/testbed/engine"
	"github.com/opassert/opassert/internal/testbed/gentest"
	"github.com/opassert/opassert/internal/testbed/gentest/faulty"
	"github.com/opassert/opassert/internal/testbed/kernels"
	"github.com/opassert/opassert/schema"
)

type backend struct {
	name string

	// prepare prepares the run, and returns the programs of its workers.
	prepare func(*Run) ([]*kernelProgram, error)

	// open opens the engine in a worker that runs this command. Schemas of a file, if given, override the engine's own.
	open func(o *Options, file []*schema.Op) (engine.Engine, error)

	// frames turns the stack of a crash into the op's own functions.
	frames func(raw []string) []string

	// foreign returns the reason why a crash is not the op's, or "".
	foreign func(raw []string) string
}

var backends = []backend{
	{"go", prepareModule, nil, nil, nil},
	{"libtorch", prepareLibtorch, openLibtorch, torch.Frames, torch.Foreign},
	{"c10", func(c *Run) ([]*kernelProgram, error) { return c.itself(), nil }, openEmbedded, nil, nil},
}

// A kernelProgram is run by workers, for some of the ops.
type kernelProgram struct {
	start     func() *exec.Cmd
	binary    string      // that was built for the kernels, unless it is this command
	suite     *gen.Suite  // the owner of its kernels, unless it is this command
	job       *optest.Job // the job of its workers
	space     string      // the namespace of its ops
	listed    *suite.Listed
	operators []engine.Operator
}

// engineVariable names the run's engine for a worker.
const engineVariable = "OPASSERT_ENGINE"

// Engines returns the names of the engines.
func Engines() []string { return slicesx.Map(backends, func(b backend) string { return b.name }) }

func (o *Options) backend() (*backend, error) {
	i := slices.IndexFunc(backends, func(b backend) bool { return b.name == o.Engine })
	if i < 0 {
		return nil, fmt.Errorf("unknown engine %q", o.Engine)
	}
	return &backends[i], nil
}

// inForeignModule reports whether the working folder is in a Go module, or a workspace with one,
// that is not opassert's own: without a generated package its author has missed a step.
func inForeignModule() bool {
	foreign := func(module string) bool { return !strings.HasPrefix(module, "github.com/opassert/opassert") }
	for _, place := range GoPlaces() {
		modules, _ := GoList(place.Root, "-m") // none: check tells
		if slices.ContainsFunc(modules, foreign) {
			return true
		}
	}
	return false
}

// worker returns the function that starts a program as a worker.
func worker(path string, args []string, environment func() []string) func() *exec.Cmd {
	return func() *exec.Cmd {
		cmd := exec.Command(path, args...)
		// A worker is short-lived: it needs no spinning threads, and reuses its memory, in one arena of malloc, as each
		// one reserves addresses. Writes of a kernel outside its memory are noticed earlier without malloc's thread
		// caches, whose marks are random too. A kernel that sets variables writes 1, not 01.
		cmd.Env = append(append(os.Environ(), environment()...), "OMP_NUM_THREADS=01", "MKL_NUM_THREADS=01",
			"MALLOC_ARENA_MAX=1", "MALLOC_MMAP_THRESHOLD_=33554432", "MALLOC_TRIM_THRESHOLD_=268435456",
			"GLIBC_TUNABLES=glibc.malloc.tcache_count=0")
		torch.Guard(cmd) // otherwise only the worker notices that the run has ended
		return cmd
	}
}

func itself() string {
	if self, err := os.Executable(); err == nil {
		return self
	}
	return os.Args[0]
}

// itself is this command as a worker.
func (o *Options) itself(environment ...string) []*kernelProgram {
	variables := func() []string { return append(environment, engineVariable+"="+o.Engine, torch.Libraries(o.Files)) }
	return []*kernelProgram{{start: worker(itself(), os.Args[1:], variables)}}
}

// open opens the engine, in a worker.
func (o *Options) open() (engine.Engine, error) {
	b, err := o.backend()
	if err != nil {
		return nil, err
	}
	var file []*schema.Op
	if o.Schema != "" {
		if file, err = o.Schemas(); err != nil {
			return nil, err
		}
	}
	return b.open(o, file)
}

func prepareLibtorch(c *Run) ([]*kernelProgram, error) {
	if c.Host != nil {
		environment, err := torch.HostEnvironment(c.Host, c.Modules)
		return c.itself(environment...), err
	}
	environment, err := torch.Environment(c.Torch, c.Files)
	return c.itself(environment...), err
}

func openLibtorch(o *Options, file []*schema.Op) (engine.Engine, error) {
	l, err := torch.Open(file, suite.Loading)
	if err != nil {
		return nil, err
	}
	if o.Autograd {
		l.ThroughAutograd()
	}
	if o.Device != "" {
		err = l.On(o.Device)
	}
	if err == nil && o.watchesMemory() {
		err = l.WatchMemory()
	}
	return l, err
}

// openEmbedded opens the embedded engine over its own kernels. They are called
// through their generated wrappers, which do not check: the suite does.
func openEmbedded(_ *Options, file []*schema.Op) (engine.Engine, error) {
	if file == nil {
		own, err := schema.Parse("github.com/opassert/opassert/internal/testbed/kernels/ops.yaml", kernels.Schemas, nil)
		if err != nil {
			return nil, err
		}
		file = own.Ops
	}
	asserts.SetLevel(asserts.Off)
	all := maps.Clone(gentest.Wrappers)
	maps.Copy(all, faulty.Wrappers) // of the ops in a -schema file
	return embedded.Open(all, file)
}

// Serve runs a worker. An error that keeps it from starting is reported to the run.
func Serve(o *Options) error {
	e, config, err := o.serve()
	if err != nil {
		suite.Refuse(err)
		return err
	}
	return suite.Serve(e, config)
}

// serve opens the engine, and returns the plans for its calls.
func (o *Options) serve() (engine.Engine, suite.Config, error) {
	config := suite.Config{Level: o.Level, Seed: o.Seed, Tolerance: o.Tolerance}
	var err error
	if config.Cases, err = o.OwnCases(); err != nil {
		return nil, config, err
	}
	e, err := o.open()
	if err != nil {
		return nil, config, err
	}
	planner, err := o.Planner(libraryVersion(e.Version()), nil)
	elsewhere := func(c asserts.Check) bool { return !c.Code.Through(o.Autograd) } // not judged where calls begin
	config.Plan = func(op *schema.Op) engine.Checks {
		all := Planned(planner.Plan(op), o.Level)
		all.Op.Checks = slices.DeleteFunc(all.Op.Checks, elsewhere)
		return all
	}
	return e, config, err
}

// Planned is a plan for the suite.
func Planned(p plan.Plan, level asserts.Level) engine.Checks {
	op := p.Asserts(level)
	op.Waived = nil // the suite judges them too, to count the excused findings
	return engine.Checks{Op: op, Waived: p.Waivers()}
}
