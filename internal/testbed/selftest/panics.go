package selftest

import (
	"fmt"
	"strings"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/internal/testbed/c10"
	"github.com/opassert/opassert/internal/testbed/faults"
	"github.com/opassert/opassert/internal/testbed/gentest/faulty"
)

// Panics runs every kernel that panics: the wrapper passes the panic on, nothing is
// reported, and the checks hold no reference.
func Panics() Calls {
	var all Calls
	for _, p := range faults.AllPanics() {
		all.add(runPanic(p), "panicking %s", p.Op)
	}
	return all
}

func runPanic(p faults.Panic) error {
	wrapper, err := lookup(faulty.Wrappers, p.Op)
	if err != nil {
		return err
	}
	args := p.Args()
	before := uses(args)
	outcome := call(asserts.Content, wrapper, args)
	switch after := uses(args); {
	case !strings.Contains(fmt.Sprint(outcome.Panic), p.Says):
		return fmt.Errorf("the panic was passed on as %v, want %q in it", outcome.Panic, p.Says)
	case len(outcome.Violations) > 0:
		return fmt.Errorf("reported as %s", titles(outcome.Violations))
	case before != after:
		return fmt.Errorf("use counts went from %s to %s", before, after)
	}
	return nil
}

func uses(args []any) string {
	var b strings.Builder
	for _, a := range args {
		switch a := a.(type) {
		case *c10.Tensor:
			o := asserts.Observe(a, asserts.Identity)
			fmt.Fprintf(&b, "%d/%d ", o.ImplUses, o.StorageUses)
		case []*c10.Tensor:
			for _, t := range a {
				b.WriteString(uses([]any{t}))
			}
		}
	}
	return b.String()
}
