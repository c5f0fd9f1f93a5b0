package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/opassert/opassert/asserts/suite/report"
	"github.com/opassert/opassert/asserts/suite/repro"
)

// A comparison is a run over several versions of libtorch in the making.
type comparison struct {
	flags     *checkFlags
	out       *outputs
	programs  reproFlag
	found     report.Comparison
	unmatched []string // patterns that match no op of any version
}

// compare runs the ops of each libtorch in turn, and reports what differs.
func (f *checkFlags) compare(inv *invocation, out *outputs, programs reproFlag) error {
	if out.formats.given() || *out.unreached != "" {
		return usagef("%s and -unreached are for one -libtorch; several are compared in text, -json, -html and -table", formatNames())
	}
	for i := range (*f.torchFlags.dirs)[1:] {
		if *f.state == "" {
			break
		}
		if err := inv.claim(use{by: "-state of a further libtorch", path: stateOf(*f.state, i+1), writes: true}); err != nil {
			return err
		}
	}
	if *programs.folder != "" {
		if err := (&repro.Folder{Path: *programs.folder}).Clear(); err != nil {
			return err
		}
	}
	c := &comparison{flags: f, out: out, programs: programs, unmatched: f.ops}
	if err := c.from(inv, 0); err != nil {
		return err
	}
	if c.found.Findings() > 0 {
		return errFindings
	}
	ran := func(r *report.Report) bool { return r.Empty() == "" }
	if !slices.ContainsFunc(c.found.Reports, ran) {
		return fmt.Errorf("nothing was checked: %s", c.found.Reports[0].Empty())
	}
	return nil
}

// from runs the ops of libtorch number i and of those after it, and then writes
// what differs. The state of each run is kept until all is written.
func (c *comparison) from(inv *invocation, i int) error {
	if i == len(*c.flags.torchFlags.dirs) {
		return c.out.writeComparison(inv, &c.found)
	}
	checked, err := c.flags.alone(i).start(inv)
	if err != nil {
		return err
	}
	c.unmatched = slices.DeleteFunc(slices.Clone(c.unmatched), func(p string) bool { return !slices.Contains(checked.unmatched, p) })
	if i == len(*c.flags.torchFlags.dirs)-1 {
		if err := checked.matched(c.unmatched); err != nil {
			return err
		}
	}
	if len(checked.operators) == 0 {
		c.found.Reports = append(c.found.Reports, checked.report(nil))
		return c.from(inv, i+1)
	}
	folder, err := c.programs.of(checked, fmt.Sprintf("%d-%s", i+1, strings.TrimPrefix(checked.engine, "libtorch ")))
	if err != nil {
		return err
	}
	empty := false
	err = checked.run(inv, func(r *report.Report) error {
		if len(r.Ops) < r.All {
			return nil // it was interrupted
		}
		c.found.Reports = append(c.found.Reports, r)
		err := errors.Join(checked.writePrograms(folder, r), c.from(inv, i+1))
		empty = err == nil && r.Empty() != ""
		return err
	})
	if empty || errors.Is(err, errFindings) { // what one run shows is for the comparison to report
		return nil
	}
	return err
}

// alone returns the flags as they were with one libtorch alone.
func (f *checkFlags) alone(i int) *checkFlags {
	one, plans, version, state, engine := *f, *f.planFlags, *f.version, *f.state, *f.engine
	one.planFlags, plans.version, one.state, one.engine = &plans, &version, &state, &engine
	dir := (*f.torchFlags.dirs)[i : i+1]
	one.torchFlags, plans.dirs = &torchFlags{dirs: &dir, libs: f.libs}, &dir
	if state != "" && i > 0 {
		state = stateOf(state, i)
	}
	return &one
}

// stateOf returns the file of the state of libtorch number i, from 1 on.
func stateOf(state string, i int) string { return fmt.Sprintf("%s.%d", state, i+1) }
