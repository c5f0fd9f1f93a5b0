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

func runTrace(inv *invocation) error {
	asJSON := newJSONFlag(inv.flags)
	torch := inv.flags.String("torch", "", "")
	page := newOutputFlag(inv.flags, "html")
	if err := inv.parse(1, 1); err != nil {
		return err
	}
	if *asJSON && *page != "" {
		return usagef("-json and -html can't be combined")
	}
	file := inv.flags.Arg(0)
	if *page != "" {
		return inv.tracePage(file, *torch, *page)
	}
	print := inv.printTrace
	if *asJSON {
		print = func(r trace.LogReport) error { return r.WriteJSON(inv.stdout) }
	}
	return traceTo(file, *torch, func(trace.Life) {}, print)
}

func (inv *invocation) printTrace(r trace.LogReport) error { return r.WriteText(inv.stdout) }

// traceTo follows a log, and returns errFindings if something broke. Lives are passed on as they end.
func traceTo(file, torch string, life func(trace.Life), ends ...func(trace.LogReport) error) error {
	report, err := trace.Read(file, torch, life)
	for _, end := range ends {
		if err == nil {
			err = end(report)
		}
	}
	if err == nil && len(report.Violations) > 0 {
		return errFindings
	}
	return err
}

// tracePage draws the page, and prints the violations.
func (inv *invocation) tracePage(file, torch, page string) error {
	var b bytes.Buffer
	h := trace.NewHTML(&b, filepath.Base(file))
	found := traceTo(file, torch, h.Life, h.End, inv.printTrace)
	if found != nil && !errors.Is(found, errFindings) {
		return found
	}
	if err := toFile(page, func(w io.Writer) error { _, err := b.WriteTo(w); return err }); err != nil {
		return err
	}
	return found
}
