package cli

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/opassert/opassert/asserts"
	embedded "github.com/opassert/opassert/asserts/c10/engine"
	"github.com/opassert/opassert/asserts/c10/kernels"
	torch "github.com/opassert/opassert/asserts/libtorch/engine"
	"github.com/opassert/opassert/asserts/libtorch/installed"
	"github.com/opassert/opassert/asserts/suite"
	"github.com/opassert/opassert/gen/gentest"
	"github.com/opassert/opassert/schema"
)

// An engine is one of the suite's, with what the command asks of it besides.
type engine struct {
	suite.Engine
	version     string               // of the library, for allowlist entries
	added       func(op string) bool // reports whether an op came with a library of -lib
	environment []string             // of workers, besides the process's own
}

// engineVariable names, for a worker, the engine that the run has chosen.
const engineVariable = "OPASSERT_ENGINE"

// engines are those that check knows, by name.
var engines = []struct {
	name string
	open func(f *checkFlags, inv *invocation, file []*schema.Op) (*engine, error)
}{
	{"libtorch", openLibtorch},
	{"c10", openEmbedded},
}

func engineNames() string {
	var names []string
	for _, e := range engines {
		names = append(names, e.name)
	}
	return strings.Join(names, " and ")
}

// open opens the engine that the flags ask for.
func (f *checkFlags) open(inv *invocation) (*engine, error) {
	if *f.engine == "" {
		*f.engine = f.chosen(inv)
	}
	var file []*schema.Op
	for _, e := range engines {
		if e.name != *f.engine {
			continue
		}
		if *f.schema != "" {
			var err error
			if file, err = f.load(inv); err != nil {
				return nil, err
			}
		}
		return e.open(f, inv, file)
	}
	return nil, usagef("unknown engine %q: the engines are %s", *f.engine, engineNames())
}

// chosen returns the engine where the flags name none: libtorch, unless there is
// no libtorch and nobody asked for one.
func (f *checkFlags) chosen(inv *invocation) string {
	if isWorker() {
		return os.Getenv(engineVariable)
	}
	if err := f.find(); !errors.Is(err, installed.ErrNotFound) || f.named() {
		return "libtorch"
	}
	fmt.Fprintf(inv.stderr, "opassert: checking the embedded engine, c10: %v\n", installed.ErrNotFound)
	return "c10"
}

func openLibtorch(f *checkFlags, inv *invocation, file []*schema.Op) (*engine, error) {
	if !isWorker() {
		if err := f.use(inv); err != nil {
			return nil, err
		}
	}
	l, err := torch.Open(f.libs, file)
	if err != nil {
		return nil, err
	}
	environment, err := torch.Environment()
	return &engine{Engine: l, version: l.Number(), added: l.Loaded, environment: environment}, err
}

// openEmbedded opens the embedded engine over its own kernels. They are called
// through their generated wrappers, which do not check: the suite does.
func openEmbedded(f *checkFlags, _ *invocation, file []*schema.Op) (*engine, error) {
	if len(f.libs) > 0 {
		return nil, usagef("-lib is for the engine libtorch: c10 loads no libraries")
	}
	if *f.dir != "" {
		return nil, usagef("-libtorch is for the engine libtorch")
	}
	if file == nil {
		own, err := schema.Parse("ops.yaml", kernels.Schemas, nil)
		if err != nil {
			return nil, err
		}
		file = own.Ops
	}
	asserts.SetLevel(asserts.Off)
	e, err := embedded.Open(gentest.Wrappers, file)
	if err != nil {
		return nil, err
	}
	return &engine{Engine: e, added: func(string) bool { return false }}, nil
}
