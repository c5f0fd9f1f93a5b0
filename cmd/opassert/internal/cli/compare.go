package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/asserts/suite/repro"
	"github.com/opassert/opassert/internal/locked"
)

// A comparisonRun is a run over several versions of libtorch, under way.
type comparisonRun struct {
	flags     *checkFlags
	out       *outputs
	programs  reproFlag
	found     report.Comparison
	folders   []*repro.ProgramFolder // of the programs of each report, or nil
	unmatched []string               // patterns that match no op of any version
}

// compare runs the ops of each libtorch in turn, and reports the differences.
func (f *checkFlags) compare(inv *invocation, out *outputs, programs reproFlag) error {
	if out.formats.given() {
		return usagef("%s need a single -libtorch; comparisons are text, -json or -html", formatNames())
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
		if err := (&repro.ProgramFolder{Path: *programs.folder}).Clear(); err != nil {
			return err
		}
	}
	ctx, stop := interruptible(context.Background())
	defer stop()
	c := &comparisonRun{flags: f, out: out, programs: programs, unmatched: f.ops}
	if err := c.from(ctx, inv, 0); err != nil {
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

// from runs the ops of libtorch number i and the next ones, and then writes the
// differences. The state of each run is kept until then.
func (c *comparisonRun) from(ctx context.Context, inv *invocation, i int) error {
	if i == len(*c.flags.torchFlags.dirs) {
		return errors.Join(c.confirm(ctx, inv), c.out.writeComparison(inv, &c.found))
	}
	checked, err := c.flags.alone(i).start(inv)
	defer checked.close()
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
		c.add(checked.report(nil), nil)
		return c.from(ctx, inv, i+1)
	}
	folder, err := c.programs.of(checked, fmt.Sprintf("%d-%s", i+1, strings.TrimPrefix(checked.engine, "libtorch ")))
	if err != nil {
		return err
	}
	empty := false
	err = checked.run(ctx, inv, func(r *report.Report) error {
		if len(r.Ops) < r.All {
			return nil // it was interrupted
		}
		c.add(r, folder)
		err := errors.Join(checked.writePrograms(folder, r), c.from(ctx, inv, i+1))
		empty = err == nil && r.Empty() != ""
		return err
	})
	if empty || errors.Is(err, errFindings) { // the comparison reports the findings of one run
		return nil
	}
	return err
}

func (c *comparisonRun) add(r *report.Report, programs *repro.ProgramFolder) {
	c.found.Reports, c.folders = append(c.found.Reports, r), append(c.folders, programs)
}

// confirm makes, with each libtorch, the calls that show findings with another one,
// and all cases of their ops, so that no difference is due to different calls.
func (c *comparisonRun) confirm(ctx context.Context, inv *invocation) error {
	folder, err := locked.NewFolder(os.TempDir(), "opassert-confirm-")
	if err != nil {
		return err
	}
	defer folder.Remove()
	untried := c.found.Untried()
	for i, calls := range untried {
		c.found.Reports[i].Await(calls)
	}
	for i, calls := range untried {
		if len(calls) == 0 {
			continue
		}
		if err := c.confirmed(ctx, inv, i, calls, filepath.Join(folder.Path, fmt.Sprint(i))); err != nil {
			return err
		}
	}
	return nil
}

// confirmed makes calls with libtorch number i, and adds their findings to its report.
func (c *comparisonRun) confirmed(ctx context.Context, inv *invocation, i int, calls map[string][]string, path string) error {
	one := c.flags.alone(i)
	cases, every := path+".yaml", -1
	*one.state, one.casesFile, one.number, one.only, one.part = path, &cases, new(int), &every, new(string)
	one.ops = slices.Sorted(maps.Keys(calls))
	if err := toFile(cases, func(w io.Writer) error { return report.WriteCases(w, calls) }); err != nil {
		return err
	}
	checked, err := one.start(inv)
	defer checked.close()
	if err != nil {
		return err
	}
	empty := false
	err = checked.run(ctx, inv, func(r *report.Report) error {
		if len(r.Ops) < r.All {
			return errors.New("interrupted before all findings were confirmed; the same command continues after the runs")
		}
		empty = r.Empty() != ""
		return checked.writePrograms(c.folders[i], c.found.Reports[i].Adopt(r, calls))
	})
	if empty || errors.Is(err, errFindings) {
		return nil
	}
	return err
}

// alone returns the flags for one libtorch.
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

// stateOf returns the state file of libtorch number i, from 1 on.
func stateOf(state string, i int) string { return fmt.Sprintf("%s.%d", state, i+1) }
