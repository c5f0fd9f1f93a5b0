package selftest

import (
	"errors"
	"fmt"
	"strings"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/c10/samples"
	"github.com/opassert/opassert/gen/gentest"
)

// A HealthyResult is what came of one call of a healthy kernel.
type HealthyResult struct {
	Sample samples.Sample
	Mode   string
	Wrong  string // "" when nothing was reported
	Ran    Ran
}

// Modes are the kinds of dispatch mode that the healthy kernels run under:
// none, one that only looks on, one that keeps the tensors it sees, and one
// that stands in for kernels.
func Modes() []asserts.Mode {
	return []asserts.Mode{
		{Name: "no mode"},
		{Name: "looking on"},
		{Name: "logging", Invalidates: asserts.CodesOf(asserts.FreshImpl, asserts.FreshStorage)},
		{Name: "replacing", Invalidates: asserts.AllCodes},
	}
}

// Healthy runs every sample of every kernel under every mode.
func Healthy() []HealthyResult {
	var results []HealthyResult
	for _, mode := range Modes() {
		results = append(results, healthyUnder(mode)...)
	}
	return results
}

// Samples runs every sample of every kernel without a mode.
func Samples() []HealthyResult { return healthyUnder(Modes()[0]) }

func healthyUnder(mode asserts.Mode) []HealthyResult {
	if mode.Name != "no mode" {
		defer asserts.EnterMode(mode)()
	}
	var results []HealthyResult
	for _, s := range samples.All() {
		r := HealthyResult{Sample: s, Mode: mode.Name}
		wrapper, err := lookup(gentest.Wrappers, s.Op)
		if err == nil {
			r.Ran = call(wrapper, s.Args())
			err = healthy(r.Ran, strings.HasPrefix(s.Name, "refused/"))
		}
		if err != nil {
			r.Wrong = err.Error()
		}
		results = append(results, r)
	}
	return results
}

// healthy says what is wrong with a call. Some samples are to be refused by
// their kernel, with an error.
func healthy(ran Ran, refused bool) error {
	switch {
	case ran.Panic != nil:
		return fmt.Errorf("the kernel panicked: %v", ran.Panic)
	case ran.Err != nil && !refused:
		return fmt.Errorf("the kernel failed: %w", ran.Err)
	case ran.Err == nil && refused:
		return errors.New("the kernel took what it should refuse")
	case len(ran.Violations) > 0:
		return fmt.Errorf("a false alarm: %s", titles(ran.Violations))
	}
	return nil
}
