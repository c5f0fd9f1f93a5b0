// Package checkup does what opassert check is asked for: it lists the ops of an engine, chooses some,
// runs them in workers, stores results for the next run, and finds what allowlists excuse. Package cli makes its
// Options of flags and settings.
package checkup

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/asserts/suite"
	"github.com/opassert/opassert/asserts/suite/compare"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/gen/plan"
	"github.com/opassert/opassert/internal/installed"
	"github.com/opassert/opassert/internal/printable"
	"github.com/opassert/opassert/schema"
)

// Options are what a run is asked for.
type Options struct {
	Engine    string        // one of Engines
	Level     asserts.Level // or asserts.Off for the usual one
	Device    string        // of the tensors, "" for the CPU
	Autograd  bool          // calls begin there
	Guard     bool          // the memory of tensors
	Guarded   bool          // Guard was asked for, or its contrary; else it is as usual
	Tolerance float64

	Ops       []string // patterns; without any, those that libraries and modules add, or all
	Shard     report.Shard
	Cases     int // of an op, 0 for the usual ones
	Case      int // the only one, -1 for all
	CasesFile string
	Seed      uint64

	Libs        []string // as the user named them
	Modules     []string // of Python
	Interpreter string
	Host        *installed.Python // that imports the modules, or nil
	TorchFolder string            // as the user named it, or ""
	Torch       *installed.Torch  // the one found, or nil
	*Libraries

	Schema  string // the file, or ""
	Schemas func() ([]*schema.Op, error)
	Allow   []string
	Planner func(version string, ops []*schema.Op) (*plan.Planner, error) // for a version of the library

	Workers int
	Timeout time.Duration
	State   string // the file, "" for one in the user's cache
	Rerun   bool

	Version  string          // of opassert
	Settings string          // the opassert.yaml that was read, or ""
	Replaced map[string]bool // the flags that the command line and opassert.yaml set
	Messages io.Writer

	module goModule
}

// Libraries are the files of libraries with ops.
type Libraries struct {
	Files []string
	Left  []string // those that could not be loaded, with the reason
}

// Leave leaves out a library that can't be loaded.
func (l *Libraries) Leave(w io.Writer, e *engine.LoadError) {
	fmt.Fprintf(w, "opassert: left out: %v\n", e)
	l.Left = append(l.Left, e.Library+": "+e.Why)
	l.Files = slices.DeleteFunc(l.Files, func(file string) bool { return file == e.Library })
}

// UsualLevel is the default level.
func (o *Options) UsualLevel() asserts.Level {
	if o.Hosted() || o.Device != "" || len(o.Libs) > 0 && !o.Autograd {
		return asserts.Meta
	}
	return asserts.Content
}

// Hosted reports whether kernels run in a Python: if one is named, for modules, and
// for a device, unless a library has it.
func (o *Options) Hosted() bool {
	return len(o.Modules) > 0 || len(o.Libs) == 0 && (o.Device != "" || o.Interpreter != "")
}

// UsualEngine is the default engine: go in a Go module, else libtorch; in a worker that of its run.
func (o *Options) UsualEngine() string {
	if os.Getenv(suite.WorkerVariable) != "" {
		return os.Getenv(engineVariable)
	}
	libtorch := len(o.Libs) > 0 || o.Hosted() || o.Guard || o.Autograd
	if !libtorch && (o.module.find() != errNoModule || inForeignModule()) {
		return "go"
	}
	return "libtorch"
}

func (o *Options) adding() []string { return slices.Concat(o.Libs, o.Modules) }

// watchesMemory reports whether tensors lie in watched memory.
func (o *Options) watchesMemory() bool {
	if !o.Guarded {
		return len(o.adding()) > 0 && !o.Autograd && o.Level != asserts.Identity
	}
	return o.Guard
}

// again returns the start of a repro line: the command with the flags that decide the result of a case.
func (o *Options) again() string {
	words := []string{"opassert", "check"}
	if o.Engine != o.UsualEngine() {
		words = append(words, "-engine", o.Engine)
	}
	for _, lib := range o.Libs {
		words = append(words, "-lib", lib)
	}
	if len(o.Modules) > 0 {
		words = append(words, "-module", strings.Join(o.Modules, ","))
	}
	for _, flag := range []struct {
		name  string
		value any
		given bool
	}{
		{"-python", o.Interpreter, o.Interpreter != ""},
		{"-libtorch", o.TorchFolder, o.TorchFolder != ""},
		{"-device", o.Device, o.Device != ""},
		{"-tolerance", o.Tolerance, o.Tolerance != compare.Tolerance},
		{"-schema", o.Schema, o.Schema != ""},
		{"-level", o.Level, o.Level != o.UsualLevel() || o.Replaced["level"]},
		{"-seed", o.Seed, o.Seed == report.DefaultSeed && o.Replaced["seed"]}, // others follow the case
		{"-cases", o.CasesFile, o.CasesFile != ""},
		{"-autograd", o.Autograd, o.Autograd || o.Replaced["autograd"]},
		{"-guard", o.Guard, o.Guarded},
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
