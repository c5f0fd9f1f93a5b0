package cli

import (
	"cmp"
	"io"
	"path/filepath"

	"github.com/opassert/opassert/cmd/opassert/internal/trace"
)

func runTrace(inv *invocation) error {
	asJSON := newJSONFlag(inv.flags)
	torch := inv.flags.String("torch", "", "")
	file := newOutputFlag(inv.flags, "html")
	if err := inv.parse(1, 1); err != nil {
		return err
	}
	life, page := func(trace.Life) {}, trace.NewHTML(filepath.Base(inv.flags.Arg(0)))
	if *file != "" {
		life = page.Life
	}
	report, err := trace.Read(inv.flags.Arg(0), *torch, life)
	if err != nil {
		return err
	}
	write := report.WriteText
	if *asJSON {
		write = report.WriteJSON
	}
	err = cmp.Or(write(inv.stdout), toFile(*file, func(w io.Writer) error { return page.Write(w, report) }))
	if err == nil && len(report.Violations) > 0 {
		return errFindings
	}
	return err
}
