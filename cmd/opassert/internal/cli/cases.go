package cli

import (
	"fmt"
	"maps"
	"slices"

	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/asserts/suite"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/internal/slicesx"
	"github.com/opassert/opassert/internal/yamlfile"
	"github.com/opassert/opassert/schema"
)

// ownCases reads the user's cases.
func (f *checkFlags) ownCases() (*suite.Recipes, error) {
	if *f.casesFile == "" {
		return nil, nil
	}
	text, err := yamlfile.Read(*f.casesFile)
	if err != nil {
		return nil, fmt.Errorf("-cases: %w", err)
	}
	return suite.ParseRecipes(*f.casesFile, text)
}

// fit checks the user's cases against the ops of the engine. An op with such cases is
// tried even if no call of it can be generated.
func (c *checkup) fit() error {
	own, err := c.flags.ownCases()
	if own == nil || err != nil {
		return err
	}
	c.own = own
	ops := slicesx.Map(c.all, func(o engine.Operator) *schema.Op { return o.Schema })
	for _, p := range c.programs {
		if p.job != nil { // a Go kernel lacks nothing that cases could add
			continue
		}
		for i := range p.operators {
			if o := &p.operators[i]; own.For(o.Schema) {
				o.Missing, o.Cannot = "", ""
			}
		}
	}
	return own.Check(ops)
}

// printUnfit prints the user's cases that did not run unchanged, with the kernel's error.
func (c *checkup) printUnfit(inv *invocation, results []*report.OpResult) {
	if c.own == nil {
		return
	}
	for _, r := range results {
		i := slices.IndexFunc(c.operators, func(o engine.Operator) bool { return o.Name() == r.Op })
		for _, n := range slices.Sorted(maps.Keys(r.Unfit)) {
			if at, ok := c.own.At(c.operators[i].Schema, n); ok {
				fmt.Fprintf(inv.stderr, "%v: %s: %s\n", at, r.Op, r.Unfit[n])
			}
		}
	}
}
