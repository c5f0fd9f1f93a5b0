package cli

import (
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
	"github.com/opassert/opassert/internal/slicesx"
	embedded "github.com/opassert/opassert/internal/testbed/engine"
	"github.com/opassert/opassert/internal/testbed/gentest"
	"github.com/opassert/opassert/internal/testbed/gentest/faulty"
	"github.com/opassert/opassert/internal/testbed/kernels"
	"github.com/opassert/opassert/schema"
)

// A backend is an engine of check.
type backend struct {
	name string

	// prepare prepares the run, and returns the programs of its workers.
	prepare func(f *checkFlags, inv *invocation) ([]*kernelProgram, error)

	// open opens the engine in a worker that runs this command. Schemas of a file, if
	// given, override the engine's own.
	open func(f *checkFlags, file []*schema.Op) (engine.Engine, error)

	// frames turns the stack of a crash into the op's own functions.
	frames func(raw []string) []string

	// foreign returns the reason why a crash is not the op's, or "".
	foreign func(raw []string) string
}

var backends = []backend{
	{"go", prepareModule, nil, nil, nil},
	{"libtorch", prepareLibtorch, openLibtorch, torch.Frames, torch.Foreign},
	{"c10", prepareEmbedded, openEmbedded, nil, nil},
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

func engineNames() string {
	return slicesx.Join(backends, ", ", func(b backend) string { return b.name })
}

// backend returns the backend of the flags.
func (f *checkFlags) backend() (*backend, error) {
	for i := range backends {
		if backends[i].name == *f.engine {
			return &backends[i], nil
		}
	}
	return nil, usagef("unknown engine %q: the engines are %s", *f.engine, engineNames())
}

// chosen returns the default engine: go in a Go module, else libtorch.
func (f *checkFlags) chosen(inv *invocation) string {
	if isWorker() {
		return os.Getenv(engineVariable)
	}
	libtorch := inv.given("libtorch") || len(f.libs) > 0 || inv.given("schema") || f.hosted() || f.guard.on || *f.autograd || *f.device+*f.interpreter != ""
	if !libtorch && (f.findModule() != errNoModule || inForeignModule()) {
		return "go"
	}
	return "libtorch"
}

// inForeignModule reports whether the working folder is in a Go module, or a workspace with one,
// that is not opassert's own: without a generated package its author has missed a step.
func inForeignModule() bool {
	foreign := func(module string) bool { return !strings.HasPrefix(module, "github.com/opassert/opassert") }
	for _, place := range goPlaces() {
		modules, _ := listed(place.root, "-m") // none: check tells
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
		// A worker is short-lived: it needs no garbage collector and no spinning
		// threads, and reuses its memory. Writes of a kernel outside its memory are
		// noticed earlier without malloc's thread caches, whose marks are random too.
		// A kernel that sets variables writes 1, not 01.
		cmd.Env = append(append(os.Environ(), environment()...), "GOGC=off", "GOMEMLIMIT=512MiB", "OMP_NUM_THREADS=01", "MKL_NUM_THREADS=01",
			"MALLOC_MMAP_THRESHOLD_=33554432", "MALLOC_TRIM_THRESHOLD_=268435456",
			"GLIBC_TUNABLES=glibc.malloc.tcache_count=0")
		torch.Guard(cmd) // otherwise only the worker notices that the run has ended
		return cmd
	}
}

// itself is this command as a worker.
func (f *checkFlags) itself(environment ...string) []*kernelProgram {
	self, err := os.Executable()
	if err != nil {
		self = os.Args[0]
	}
	environment = append(environment, engineVariable+"="+*f.engine)
	return []*kernelProgram{{start: worker(self, os.Args[1:], func() []string { return append(environment, torch.Libraries(f.files)) })}}
}

// open opens the engine, in a worker.
func (f *checkFlags) open(inv *invocation) (engine.Engine, error) {
	b, err := f.backend()
	if err != nil {
		return nil, err
	}
	var file []*schema.Op
	if *f.schema != "" {
		if file, err = f.load(inv); err != nil {
			return nil, err
		}
	}
	return b.open(f, file)
}

func prepareLibtorch(f *checkFlags, inv *invocation) ([]*kernelProgram, error) {
	if f.hosted() {
		return f.prepareModules(inv)
	}
	if err := f.announce(inv); err != nil {
		return nil, err
	}
	environment, err := torch.Environment(f.found, f.files)
	return f.itself(environment...), err
}

func openLibtorch(f *checkFlags, file []*schema.Op) (engine.Engine, error) {
	l, err := torch.Open(file, suite.Loading)
	if err != nil {
		return nil, err
	}
	if *f.autograd {
		l.ThroughAutograd()
	}
	if *f.device != "" {
		err = l.On(*f.device)
	}
	if err == nil && f.watchesMemory() {
		err = l.WatchMemory()
	}
	return l, err
}

func prepareEmbedded(f *checkFlags, inv *invocation) ([]*kernelProgram, error) {
	return f.itself(), f.withoutLibtorch(inv)
}

// withoutLibtorch rejects flags of the engine libtorch for other engines.
func (f *checkFlags) withoutLibtorch(inv *invocation) error {
	inv.forget("libtorch")
	switch {
	case len(f.libs) > 0:
		return usagef("-lib is for the engine libtorch: %s loads no libraries", *f.engine)
	case len(f.moduleFlags.names.repeated) > 0:
		return usagef("-module is for the engine libtorch: %s imports no modules", *f.engine)
	case *f.interpreter != "":
		return usagef("-python is for the engine libtorch: %s does not run in Python", *f.engine)
	case *f.device != "":
		return usagef("-device is for the engine libtorch: %s only has the CPU", *f.engine)
	case f.guard.on:
		return usagef("-guard is for the engine libtorch: tensors of %s lie in Go's memory", *f.engine)
	case *f.autograd:
		return usagef("-autograd is for the engine libtorch: %s has no autograd", *f.engine)
	case len(*f.torchFlags.dirs) > 0:
		return usagef("-libtorch is for the engine libtorch")
	}
	return nil
}

// openEmbedded opens the embedded engine over its own kernels. They are called
// through their generated wrappers, which do not check: the suite does.
func openEmbedded(_ *checkFlags, file []*schema.Op) (engine.Engine, error) {
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

// watchesMemory reports whether tensors lie in watched memory.
func (f *checkFlags) watchesMemory() bool {
	if !f.guard.given {
		return len(f.adding()) > 0 && !*f.autograd && *f.level != asserts.Identity.String()
	}
	return f.guard.on
}
