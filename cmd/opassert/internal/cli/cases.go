package cli

import (
	"fmt"
	"maps"
	"slices"

	"github.com/opassert/opassert/asserts/suite"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/report"
	"github.com/opassert/opassert/internal/loop"
	"github.com/opassert/opassert/internal/yamlfile"
	"github.com/opassert/opassert/schema"
)

// ownCases reads the user's own cases.
func (f *checkFlags) ownCases() (*suite.Recipes, error) {
	if *f.casesFrom == "" {
		return nil, nil
	}
	text, err := yamlfile.Read(*f.casesFrom)
	if err != nil {
		return nil, fmt.Errorf("-cases-from: %w", err)
	}
	return suite.ParseRecipes(*f.casesFrom, text)
}

// fit holds the user's cases against the ops that there are. An op that they are
// for is tried, also where nothing but they can say how it is called.
func (c *checkup) fit() error {
	own, err := c.flags.ownCases()
	if own == nil || err != nil {
		return err
	}
	c.own = own
	ops := loop.Map(c.all, func(o engine.Operator) *schema.Op { return o.Schema })
	for _, p := range c.programs {
		if p.job != nil { // cases of Go kernels cannot lack anything
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

// printUnfit prints which of the user's cases did not run unchanged, with the
// kernel's error.
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
