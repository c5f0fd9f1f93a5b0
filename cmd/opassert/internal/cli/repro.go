package cli

import (
	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/asserts/suite/repro"
	"github.com/opassert/opassert/cmd/opassert/internal/checkup"
)

// programsOf prepares the folder of programs that show the findings before the run, and returns it, or nil for "".
func programsOf(run *checkup.Run, folder string) (*repro.ProgramFolder, error) {
	switch {
	case folder == "":
		return nil, nil
	case run.Engine == "c10":
		return nil, usagef("-repro writes programs for libtorch and for Go kernels: the kernels of c10 are opassert's own")
	}
	return run.Programs(folder)
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
