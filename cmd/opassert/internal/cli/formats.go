package cli

import (
	"errors"
	"flag"
	"io"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/internal/slicesx"
)

// A format is an output format of opassert check and opassert run.
type format struct {
	name  string // of its flag
	write func(io.Writer, []asserts.Result) error
}

var formats = []format{
	{"junit", report.WriteJUnit},
	{"sarif", func(w io.Writer, results []asserts.Result) error {
		return report.WriteSARIF(w, version(), "", badOnly(results))
	}},
}

// formatFlags are the output files, "" for none, in the order of formats.
type formatFlags []*string

func newFormatFlags(f *flag.FlagSet) formatFlags {
	return slicesx.Map(formats, func(of format) *string { return newOutputFlag(f, of.name) })
}

// write writes each requested file, the others also if one fails.
func (files formatFlags) write(results []asserts.Result) error {
	var errs []error
	for i, path := range files {
		errs = append(errs, toFile(*path, func(w io.Writer) error { return formats[i].write(w, results) }))
	}
	return errors.Join(errs...)
}
