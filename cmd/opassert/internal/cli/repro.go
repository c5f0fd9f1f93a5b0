package cli

import (
	"flag"

	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/asserts/suite/repro"
	"github.com/opassert/opassert/cmd/opassert/internal/checkup"
)

// A reproFlag names the folder of programs that show the findings.
type reproFlag struct{ folder *string }

func newReproFlag(f *flag.FlagSet) reproFlag { return reproFlag{newOutputFlag(f, "repro")} }

// ready prepares the folder before the run, and returns it, or nil without the flag.
func (r reproFlag) ready(run *checkup.Run) (*repro.ProgramFolder, error) {
	switch {
	case *r.folder == "":
		return nil, nil
	case run.Engine == "c10":
		return nil, usagef("-repro writes programs for libtorch and for Go kernels: the kernels of c10 are opassert's own")
	}
	return run.Programs(*r.folder)
}

// writePrograms writes the programs of a report, if there is a folder for them.
func writePrograms(d *repro.ProgramFolder, r *report.Report, workers int) error {
	if d == nil {
		return nil
	}
	ctx, stop := interruptible()
	defer stop()
	return d.Write(ctx, r, workers)
}
