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

// A HealthyResult is the outcome of one call of a healthy kernel.
type HealthyResult struct {
	Sample samples.Sample
	Mode   string
	Level  asserts.Level
	Wrong  string // "" when nothing was reported
	Ran    CallOutcome
}

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

// Healthy runs every sample of every kernel, and the harmless calls of the faulty
// kernels, at every level and under every mode.
func Healthy() []HealthyResult {
	var results []HealthyResult
	for _, level := range levels {
		for _, mode := range Modes() {
			results = append(results, healthyUnder(mode, level)...)
		}
	}
	return results
}

func healthyUnder(mode asserts.Mode, level asserts.Level) []HealthyResult {
	if mode.Name != "no mode" {
		defer asserts.EnterMode(mode)()
	}
	silent := slicesx.Map(faults.AllSilent(), func(s faults.Silent) samples.Sample { return samples.Sample{Op: s.Op, Name: s.Why, Args: s.Args} })
	return append(runAll(gentest.Wrappers, samples.All(), mode, level), runAll(faulty.Wrappers, silent, mode, level)...)
}

func runAll(wrappers map[string]any, calls []samples.Sample, mode asserts.Mode, level asserts.Level) []HealthyResult {
	var results []HealthyResult
	for _, s := range calls {
		r := HealthyResult{Sample: s, Mode: mode.Name, Level: level}
		wrapper, err := lookup(wrappers, s.Op)
		if err == nil {
			r.Ran = call(level, wrapper, s.Args())
			err = healthy(r.Ran, strings.HasPrefix(s.Name, "refused/"))
		}
		if err != nil {
			r.Wrong = err.Error()
		}
		results = append(results, r)
	}
	return results
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
