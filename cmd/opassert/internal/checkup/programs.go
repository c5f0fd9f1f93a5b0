package checkup

import (
	"go/types"
	"strconv"

	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/repro"
	"github.com/opassert/opassert/internal/compile"
)

// Programs returns a folder for programs that show the run's findings, empty.
func (c *Run) Programs(folder string) (*repro.ProgramFolder, error) {
	d := &repro.ProgramFolder{Path: folder}
	d.Source = repro.Source{Version: c.engine, Libraries: c.Files, Modules: c.Modules, Device: c.Device}
	switch {
	case c.Engine == "go":
		d.Go = c.goLibrary()
	case c.Host != nil:
		d.Python = c.Host.Path
	case c.Torch != nil:
		d.Python = c.Torch.Python()
		if cxx, err := compile.Program(c.Torch); err == nil {
			d.Build = cxx
		}
	}
	return d, d.Clear()
}

// goLibrary returns the Go library for programs.
func (c *Run) goLibrary() *repro.Module {
	l := &repro.Module{Root: c.module.root, Packages: make(map[string]*repro.TensorFunctions)}
	for _, p := range c.programs {
		one := &repro.TensorFunctions{Maker: quotedName(p.suite.Maker), Observe: quotedName(p.suite.Observer),
			Options: quotedName(p.suite.Options)}
		for _, o := range p.operators {
			l.Packages[o.Name()] = one
		}
	}
	l.Kernels = make(map[string]*engine.GoFunction)
	for _, o := range c.Operators {
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
