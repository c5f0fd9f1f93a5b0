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

func (c *Run) matched() error {
	if len(c.unmatched) > 0 {
		return fmt.Errorf("no op %q in the engine%s", c.unmatched[0], c.elsewhere())
	}
	if adding := c.adding(); len(c.Operators) == 0 && len(adding) > 0 && c.shard.Of == 0 {
		return fmt.Errorf("nothing to check: %s adds no ops%s", strings.Join(adding, ", "), c.hint())
	}
	return nil
}

// elsewhere returns a hint where an op may be.
func (o *Options) elsewhere() string {
	if o.Engine != "libtorch" || len(o.adding()) > 0 {
		return ""
	}
	return "; -lib adds ops of a library, -module those that Python registers"
}

// OnImport is added for modules without ops: a package may register them at their first use.
const OnImport = " while it is imported: -module names the module that registers them"

// hint returns where ops of a library may be.
func (o *Options) hint() string {
	if len(o.Libs) == 0 {
		return OnImport
	}
	return "; check -module PACKAGE runs those that a package registers in Python"
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
