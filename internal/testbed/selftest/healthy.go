package selftest

import (
	"errors"
	"fmt"
	"strings"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/internal/slicesx"
	"github.com/opassert/opassert/internal/testbed/faults"
	"github.com/opassert/opassert/internal/testbed/gentest"
	"github.com/opassert/opassert/internal/testbed/gentest/faulty"
	"github.com/opassert/opassert/internal/testbed/samples"
)

// Modes are the kinds of dispatch mode that the healthy kernels run under: none, one
// that only observes, one that keeps tensors, and one that replaces kernels.
func Modes() []asserts.Mode {
	return []asserts.Mode{
		{Name: "no mode"},
		{Name: "looking on"},
		{Name: "logging", Invalidates: asserts.CodesOf(asserts.FreshImpl, asserts.FreshStorage)},
		{Name: "replacing", Invalidates: asserts.AllCodes},
	}
}

// Healthy runs every sample of every kernel, and faulty kernels' harmless calls, at every level and under every mode.
func Healthy() Calls {
	var all Calls
	silent := slicesx.Map(faults.AllSilent(),
		func(s faults.Silent) samples.Sample { return samples.Sample{Op: s.Op, Name: s.Why, Args: s.Args} })
	for _, level := range levels {
		for _, mode := range Modes() {
			all.healthy(gentest.Wrappers, samples.All(), mode, level)
			all.healthy(faulty.Wrappers, silent, mode, level)
		}
	}
	return all
}

func (c *Calls) healthy(wrappers map[string]any, calls []samples.Sample, mode asserts.Mode, level asserts.Level) {
	if mode.Name != "no mode" {
		defer asserts.EnterMode(mode)()
	}
	for _, s := range calls {
		wrapper, err := lookup(wrappers, s.Op)
		if err == nil {
			err = healthy(call(level, wrapper, s.Args()), strings.HasPrefix(s.Name, "refused/"))
		}
		c.add(err, "healthy %s, %s, under %s at the level %v", s.Op, s.Name, mode.Name, level)
	}
}

// healthy returns the faults of a call. Kernels must reject some samples with an error.
func healthy(ran CallOutcome, refused bool) error {
	switch {
	case ran.Panic != nil:
		return fmt.Errorf("the kernel panicked: %v", ran.Panic)
	case ran.Err != nil && !refused:
		return fmt.Errorf("the kernel failed: %w", ran.Err)
	case ran.Err == nil && refused:
		return errors.New("the kernel accepted arguments that it should reject")
	case len(ran.Violations) > 0:
		return fmt.Errorf("a false alarm: %s", titles(ran.Violations))
	}
	return nil
}
