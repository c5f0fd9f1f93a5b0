package checkup

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

// OwnCases reads the user's cases.
func (o *Options) OwnCases() (*suite.Recipes, error) {
	if o.CasesFile == "" {
		return nil, nil
	}
	text, err := yamlfile.Read(o.CasesFile)
	if err != nil {
		return nil, fmt.Errorf("-cases: %w", err)
	}
	return suite.ParseRecipes(o.CasesFile, text)
}

// fit checks the user's cases against the ops of the engine. An op with such cases is
// tried even if no call of it can be generated.
func (c *Run) fit() error {
	own, err := c.OwnCases()
	if own == nil || err != nil {
		return err
	}
	c.own = own
	ops := slicesx.Map(c.All, func(o engine.Operator) *schema.Op { return o.Schema })
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

// Unfit returns a line for each of the user's cases that did not run unchanged, with the kernel's error.
func (c *Run) Unfit(results []*report.OpResult) (lines []string) {
	if c.own == nil {
		return nil
	}
	for _, r := range results {
		i := slices.IndexFunc(c.Operators, func(o engine.Operator) bool { return o.Name() == r.Op })
		for _, n := range slices.Sorted(maps.Keys(r.Unfit)) {
			if at, ok := c.own.At(c.Operators[i].Schema, n); ok {
				lines = append(lines, fmt.Sprintf("%v: %s: %s", at, r.Op, r.Unfit[n]))
			}
		}
	}
	return lines
}
