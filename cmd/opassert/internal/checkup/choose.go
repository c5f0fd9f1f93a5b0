package checkup

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/opassert/opassert/asserts/suite/engine"
)

// choose returns the ops that the patterns match, and the patterns that match none;
// without patterns the ops that libraries and modules added, or without these all.
func (o *Options) choose(all []engine.Operator) (chosen []engine.Operator, unmatched []string) {
	matched := make(map[string]bool)
	for _, op := range all {
		take := len(o.Ops) == 0 && o.chooses(op)
		for _, pattern := range o.Ops {
			if Matches(pattern, op.Name()) || Matches(pattern, engine.Operator{Schema: unqualified(op.Schema)}.Name()) {
				take, matched[pattern] = true, true
			}
		}
		if take {
			chosen = append(chosen, op)
		}
	}
	return chosen, slices.DeleteFunc(slices.Clone(o.Ops), func(pattern string) bool { return matched[pattern] })
}

// chooses reports whether an op is run without a pattern.
func (o *Options) chooses(op engine.Operator) bool {
	if o.Device != "" {
		return op.Kernel == engine.OwnKernel
	}
	return op.Added || len(o.adding()) == 0
}

// OnImport is added for modules without ops: a package may register them at their first use.
const OnImport = " while it is imported: -module names the module that registers them"

// matched returns an error, with a hint where ops may be, for a pattern that matches none, and where there are none.
func (c *Run) matched() error {
	adding, hint := c.adding(), ""
	switch {
	case len(c.unmatched) > 0:
		if c.Engine == "libtorch" && len(adding) == 0 {
			hint = "; -lib adds ops of a library, -module those that Python registers"
		}
		return fmt.Errorf("no op %q in the engine%s", c.unmatched[0], hint)
	case len(c.Operators) == 0 && len(adding) > 0 && c.shard.Of == 0:
		if hint = OnImport; len(c.Libs) > 0 {
			hint = "; check -module PACKAGE runs those that a package registers in Python"
		}
		return fmt.Errorf("nothing to check: %s adds no ops%s", strings.Join(adding, ", "), hint)
	}
	return nil
}

// Matches reports whether a pattern matches an op, with or without its namespace and overload.
func Matches(pattern, op string) bool {
	namespace, name, _ := strings.Cut(op, "::")
	base, _, _ := strings.Cut(name, ".")
	return slices.ContainsFunc([]string{op, name, base, namespace + "::" + base}, func(name string) bool {
		ok, _ := path.Match(pattern, name)
		return ok
	})
}
