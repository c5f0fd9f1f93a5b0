package cli

import (
	"context"
	"flag"
	"path/filepath"

	"github.com/opassert/opassert/asserts/suite/report"
	"github.com/opassert/opassert/asserts/suite/repro"
)

// A reproFlag names the folder of programs that show the findings.
type reproFlag struct{ folder *string }

func newReproFlag(f *flag.FlagSet) reproFlag {
	return reproFlag{newMadeFolderFlag(f, "repro", "write for each finding and crash a program that shows it without opassert, Python that\nimports torch and the library alone, to a `folder`, and run it")}
}

// ready makes the folder ready before anything runs, and returns it, or nil if no
// programs are asked for.
func (r reproFlag) ready(c *checkup) (*repro.Folder, error) {
	d, err := r.of(c, "")
	if d == nil || err != nil {
		return nil, err
	}
	return d, d.Clear()
}

// of returns the folder, or one below it, for the programs of a run.
func (r reproFlag) of(c *checkup, below string) (*repro.Folder, error) {
	f := c.flags
	switch {
	case *r.folder == "":
		return nil, nil
	case *f.engine != "libtorch":
		return nil, usagef("-repro writes Python: it goes with -engine libtorch, -lib and -module alone")
	}
	d := &repro.Folder{Path: filepath.Join(*r.folder, below), Source: repro.Source{Version: c.engine, Libraries: f.files, Modules: f.pythonModules()}}
	switch {
	case f.host != nil:
		d.Python = f.host.Path
	case f.found != nil:
		d.Python = f.found.Python()
	}
	return d, nil
}

// writePrograms writes the programs of a report, unless no folder is asked for.
func (c *checkup) writePrograms(d *repro.Folder, r *report.Report) error {
	if d == nil {
		return nil
	}
	ctx, stop := interruptible(context.Background())
	defer stop()
	return d.Write(ctx, r, *c.flags.workers)
}
