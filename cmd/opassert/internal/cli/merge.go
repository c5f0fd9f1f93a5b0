package cli

import (
	"fmt"
	"os"
	"strings"

	"github.com/opassert/opassert/asserts/report"
)

func runMerge(inv *invocation) error {
	out := newOutputs(inv.flags)
	base := newBaselineFlags(inv.flags)
	strict := inv.flags.Bool("strict", false, "")
	if err := inv.parse(1, 1<<20); err != nil {
		return err
	}
	if err := base.read(); err != nil {
		return err
	}
	var reports []*report.Report
	for _, name := range inv.flags.Args() {
		r, err := readReport(name)
		if err != nil {
			return err
		}
		reports = append(reports, r)
	}
	merged, missing := report.Merge(inv.flags.Args(), reports)
	if merged == nil {
		return missing
	}
	if err := base.apply(inv, merged); err != nil {
		return err
	}
	if err := out.write(inv, merged); err != nil {
		return err
	}
	if missing != nil {
		return missing
	}
	return verdict(inv, merged, *strict)
}

func readReport(name string) (*report.Report, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, err := report.ReadReport(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return r, nil
}

// verdict returns how a command ends after its report was written.
func verdict(inv *invocation, r *report.Report, strict bool) error {
	own, library := r.Faults(), r.LibraryFaults()
	switch {
	case len(own) > 0:
		return fmt.Errorf("opassert itself failed, not the ops; please report this:\n%s", strings.Join(own, "\n"))
	case len(library) > 0:
		return fmt.Errorf("the library failed, not the ops:\n%s", strings.Join(library, "\n"))
	case len(r.Ops) < r.All:
		return fmt.Errorf("interrupted after %d of %d ops", len(r.Ops), r.All)
	case len(r.Ops) == 0 && r.Shard.Of > 0:
		fmt.Fprintf(inv.stderr, "opassert %s: no op is in shard %d/%d\n", inv.name, r.Shard.Index, r.Shard.Of)
		return nil
	case r.Empty() != "":
		return fmt.Errorf("nothing was checked: %s", r.Empty())
	case strict && len(r.Unreached()) > 0:
		return &findingsError{"never ran, an error with -strict: " + strings.Join(r.Unreached(), " ")}
	case r.Findings() > 0 || strict && r.Totals().Notes > 0:
		return errFindings
	}
	return nil
}
