package cli

import (
	"bytes"
	"errors"
	"io"
	"path/filepath"

	"github.com/opassert/opassert/cmd/opassert/internal/trace"
)

var traceCommand = command{
	name:    "trace",
	args:    "FILE",
	summary: "find the line of a PyTorch log where an object was not preserved",
	run:     runTrace,
}

// A tracePrinter gets lives as they end, and the report at the end.
type tracePrinter interface {
	Life(trace.Life)
	End(trace.LogReport) error
}

func runTrace(inv *invocation) error {
	asJSON := newJSONFlag(inv.flags)
	lives := inv.flags.Bool("lives", false, "")
	torch := inv.flags.String("torch", "", "")
	page := newOutputFlag(inv.flags, "html")
	if err := inv.parse(1, 1); err != nil {
		return err
	}
	if *asJSON && *page != "" {
		return usagef("-json and -html can't be combined")
	}
	file := inv.flags.Arg(0)
	switch {
	case *page != "":
		return inv.tracePage(file, *torch, *page, *lives)
	case *asJSON:
		return traceTo(file, *torch, trace.NewJSON(inv.stdout, *lives))
	}
	return traceTo(file, *torch, trace.NewText(inv.stdout, *lives))
}

// traceTo follows a log, and returns errFindings if something broke.
func traceTo(file, torch string, to ...tracePrinter) error {
	report, err := trace.Read(file, torch, func(l trace.Life) {
		to[0].Life(l) // any other prints the violations alone
	})
	if err != nil {
		return err
	}
	for _, p := range to {
		if err := p.End(report); err != nil {
			return err
		}
	}
	if len(report.Violations) > 0 {
		return errFindings
	}
	return nil
}

// tracePage draws the page, and prints the violations.
func (inv *invocation) tracePage(file, torch, page string, lives bool) error {
	var b bytes.Buffer
	found := traceTo(file, torch, trace.NewHTML(&b, filepath.Base(file), lives), trace.NewText(inv.stdout, false))
	if found != nil && !errors.Is(found, errFindings) {
		return found
	}
	if err := toFile(page, func(w io.Writer) error { _, err := b.WriteTo(w); return err }); err != nil {
		return err
	}
	return found
}
