package cli

import (
	"flag"
	"go/types"
	"strconv"

	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/repro"
	"github.com/opassert/opassert/internal/compile"
)

// A reproFlag names the folder of programs that show the findings.
type reproFlag struct{ folder *string }

func newReproFlag(f *flag.FlagSet) reproFlag {
	return reproFlag{newMadeFolderFlag(f, "repro", "write for each finding and crash a program that shows it without opassert, to a `folder`, and\nrun it: Python that imports only torch and the library, C++ if Python can't call the\nop, Go for Go kernels")}
}

// ready prepares the folder before the run, and returns it, or nil without the flag.
func (r reproFlag) ready(c *checkup) (*repro.ProgramFolder, error) {
	f := c.flags
	if *r.folder == "" {
		return nil, nil
	}
	d := &repro.ProgramFolder{Path: *r.folder, Source: repro.Source{Version: c.engine, Libraries: f.files, Modules: f.pythonModules(), Device: *f.device}}
	switch {
	case *f.engine == "go":
		d.Go = c.library()
	case *f.engine != "libtorch":
		return nil, usagef("-repro writes programs for libtorch and for Go kernels: the kernels of %s are opassert's own", *f.engine)
	case f.host != nil:
		d.Python = f.host.Path
	case f.found != nil:
		d.Python = f.found.Python()
		if cxx, err := compile.Program(f.found); err == nil {
			d.Build = cxx
		}
	}
	return d, d.Clear()
}

// library returns the Go library for programs.
func (c *checkup) library() *repro.Module {
	l := &repro.Module{Root: c.flags.module.root, Packages: make(map[string]*repro.TensorFunctions)}
	for _, p := range c.programs {
		one := &repro.TensorFunctions{Maker: quotedName(p.suite.Maker), Observe: quotedName(p.suite.Observer), Options: quotedName(p.suite.Options)}
		for _, o := range p.operators {
			l.Packages[o.Name()] = one
		}
	}
	l.Kernels = make(map[string]*engine.GoFunction)
	for _, o := range c.operators {
		l.Kernels[o.Name()] = o.Function
	}
	return l
}

// quotedName returns the name of a function in programs, or "".
func quotedName(f *types.Func) string {
	if f == nil {
		return ""
	}
	return strconv.Quote(f.Pkg().Path()) + "." + f.Name()
}

// writePrograms writes the programs of a report, if there is a folder for them.
func (c *checkup) writePrograms(d *repro.ProgramFolder, r *report.Report) error {
	if d == nil {
		return nil
	}
	ctx, stop := interruptible()
	defer stop()
	return d.Write(ctx, r, *c.flags.workers)
}
