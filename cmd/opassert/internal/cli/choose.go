package cli

import (
	"errors"
	"flag"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/asserts/suite/engine"
)

// adding returns the libraries and the modules that add ops.
func (f *checkFlags) adding() []string { return slices.Concat(f.libs, f.pythonModules()) }

// choose returns the ops that the patterns match, and the patterns that match none;
// without patterns the ops that libraries and modules added, or without these all.
func (f *checkFlags) choose(all []engine.Operator) (chosen []engine.Operator, unmatched []string) {
	matched := make(map[string]bool)
	for _, o := range all {
		take := len(f.ops) == 0 && f.chooses(o)
		for _, pattern := range f.ops {
			if matches(pattern, o.Name()) || matches(pattern, engine.Operator{Schema: unqualified(o.Schema)}.Name()) {
				take, matched[pattern] = true, true
			}
		}
		if take {
			chosen = append(chosen, o)
		}
	}
	return chosen, slices.DeleteFunc(slices.Clone(f.ops), func(pattern string) bool { return matched[pattern] })
}

// chooses reports whether an op is run without a pattern.
func (f *checkFlags) chooses(o engine.Operator) bool {
	if *f.device != "" {
		return o.Kernel == engine.OwnKernel
	}
	return o.Added || len(f.adding()) == 0
}

// matched returns an error if patterns match nothing.
func (c *checkup) matched() error {
	if len(c.unmatched) > 0 {
		return fmt.Errorf("no op %q in the engine%s", c.unmatched[0], c.flags.elsewhere())
	}
	if adding := c.flags.adding(); len(c.operators) == 0 && len(adding) > 0 && c.shard.Of == 0 {
		return fmt.Errorf("nothing to check: %s adds no ops%s", strings.Join(adding, ", "), c.flags.hint())
	}
	return nil
}

// elsewhere returns a hint where an op may be.
func (f *checkFlags) elsewhere() string {
	if *f.engine != "libtorch" || len(f.adding()) > 0 {
		return ""
	}
	return "; -lib adds ops of a library, -module those that Python registers"
}

// hint returns where ops of a library may be.
func (f *checkFlags) hint() string {
	if len(f.libs) == 0 {
		return onImport
	}
	return "; check -module PACKAGE runs those that a package registers in Python"
}

// matches reports whether a pattern matches an op, with or without its namespace and
// overload.
func matches(pattern, op string) bool {
	namespace, name, _ := strings.Cut(op, "::")
	base, _, _ := strings.Cut(name, ".")
	return slices.ContainsFunc([]string{op, name, base, namespace + "::" + base}, func(name string) bool {
		ok, _ := path.Match(pattern, name)
		return ok
	})
}

// newShardFlag is a flag for a part of the ops; the zero Shard is all of them.
func newShardFlag(f *flag.FlagSet) *report.Shard {
	s := new(report.Shard)
	f.Func("shard", "", func(text string) error {
		index, of, _ := strings.Cut(text, "/")
		if s.Index, s.Of = number(index), number(of); !s.Valid() {
			return errors.New("want a part such as 2/8, from 1/8 to 8/8")
		}
		return nil
	})
	return s
}
