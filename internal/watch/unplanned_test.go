package watch_test

import (
	"io"
	"strings"
	"testing"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/internal/watch"
	"github.com/opassert/opassert/schema"
)

// A program is watched where no op has a check, as doctor does.
func TestProgramWithoutChecks(t *testing.T) {
	long(t)
	eachPython(t, func(t *testing.T, p python) {
		var talk strings.Builder
		report, err := watch.Run(t.Context(), watch.Config{
			Command: []string{p.path, "-c", "import torch; torch.ones(1)"}, Stdout: io.Discard, Stderr: &talk,
			Plan:   func(_, _ string, _ *schema.Op) (engine.Checks, error) { return engine.Checks{}, nil },
			Policy: asserts.Aware(), Sample: 1,
		})
		if err != nil || report.Status != 0 || report.Calls == 0 {
			t.Fatalf("%v, %+v\n%s", err, report, &talk)
		}
	})
}
