package checkup

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/asserts/suite"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/schema"
)

// Do runs the ops, and returns the results, also those of an interrupted run. It calls started before
// each op that runs and found with what a case shows, both concurrently, and done after each op.
func (c *Run) Do(
	ctx context.Context, started func(op string), found func(string, []*report.Finding), done func(*report.OpResult),
) ([]*report.OpResult, error) {
	run := suite.Run{
		Timeout: c.Timeout, Waived: c.waived, Frames: c.backend.frames, Foreign: c.backend.foreign,
		Started: started, Found: found, Known: c.Known(),
	}
	if len(c.adding()) > 0 && !c.Autograd {
		run.Lint = func(op *schema.Op) []asserts.Excuse {
			waived := c.planner.Plan(op).Waivers()
			if c.Level < asserts.Meta {
				waived = append(waived, asserts.Excuse{Code: asserts.MetaAlias})
			}
			return waived
		}
	}
	if len(c.Modules) > 0 {
		run.Compiling = 15 * run.Timeout // of a case that compiles its kernel in its own process, as numba and Warp do
	}
	run.Done = func(r *report.OpResult) {
		if c.state != nil {
			c.state.Keep(r)
		}
		done(r)
	}
	if run.From, run.To = 0, cmp.Or(c.Cases, suite.UsualCases); c.Case >= 0 {
		run.From, run.To = c.Case, c.Case+1
	}
	return c.do(ctx, run)
}

// do runs the ops of one program after the other.
func (c *Run) do(ctx context.Context, run suite.Run) (results []*report.OpResult, err error) {
	chosen := make(map[string]bool)
	for _, o := range c.Operators {
		chosen[o.Name()] = true
	}
	for _, p := range c.programs {
		run.Worker, run.Listed, run.Operators = p.start, p.listed, slices.DeleteFunc(slices.Clone(p.operators),
			func(o engine.Operator) bool { return !chosen[o.Name()] })
		run.Workers = min(c.Workers, max(1, len(run.Operators)))
		done, err := run.Do(ctx)
		if results = append(results, done...); err != nil {
			return results, err
		}
	}
	slices.SortFunc(results, func(a, b *report.OpResult) int { return strings.Compare(a.Op, b.Op) })
	return results, nil
}

// waived returns the reason why an allowlist waives such a crash of an op, or "".
func (c *Run) waived(op *schema.Op, cause string) string {
	for _, same := range report.SameCauses(cause) {
		if e := cmp.Or(c.planner.WaivedCrash(op, same), c.planner.WaivedCrash(unqualified(op), same)); e != nil {
			return e.Reason
		}
	}
	return ""
}

// Report returns the report on the results.
func (c *Run) Report(results []*report.OpResult) *report.Report {
	if here, err := os.Getwd(); err == nil {
		nameFrom(here, results)
	}
	r := &report.Report{
		Engine: c.engine, Level: c.Level, Seed: c.Seed, Cases: c.Cases, Command: c.again(), All: len(c.Operators),
		Ops: results, Shard: c.shard, Of: c.of, Left: c.Left, Excuses: c.excuses(results),
	}
	if c.Autograd {
		r.Through = "autograd"
	}
	for _, o := range c.unrun {
		r.Leave(o)
	}
	return r
}

// nameFrom makes the paths of files in a folder relative to it, as for a Go module: a
// report does not depend on where the folder is.
func nameFrom(folder string, results []*report.OpResult) {
	shorten := func(s *asserts.Site) {
		if rel, _ := filepath.Rel(folder, s.File); filepath.IsAbs(s.File) && filepath.IsLocal(rel) {
			s.File = rel
		}
	}
	for _, op := range results {
		shorten(&op.Site)
		for _, f := range op.Findings {
			shorten(&f.Violation.Site)
		}
	}
}
