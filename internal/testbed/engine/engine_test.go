package engine

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/opassert/opassert/allowlist"
	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/asserts/suite"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/gokernels"
	"github.com/opassert/opassert/gen/plan"
	"github.com/opassert/opassert/internal/dev/must"
	"github.com/opassert/opassert/internal/testbed/faults"
	"github.com/opassert/opassert/internal/testbed/gentest/faulty"
	"github.com/opassert/opassert/schema"
)

// The test binary is its own worker.
func TestMain(m *testing.M) {
	asserts.SetLevel(asserts.Off)
	if os.Getenv(suite.WorkerVariable) == "" {
		os.Exit(m.Run())
	}
	e, planner, err := faultyEngine()
	if err != nil {
		panic(err)
	}
	cfg := suite.Config{Level: asserts.Meta, Seed: report.DefaultSeed, Plan: func(op *schema.Op) engine.Checks {
		return engine.Checks{Op: planner.Plan(op).Asserts(asserts.Meta)}
	}}
	if err := suite.Serve(e, cfg); err != nil {
		panic(err)
	}
}

func faultyEngine() (*gokernels.Engine, *plan.Planner, error) {
	file, err := schema.Load("../faults/faults.yaml", "")
	if os.Getenv(suite.WorkerVariable) != "" {
		file, err = schema.Load(os.Getenv("FAULTS"), "")
	}
	if err != nil {
		return nil, nil, err
	}
	e, err := Open(faulty.Wrappers, file.Ops)
	if err != nil {
		return nil, nil, err
	}
	planner, err := plan.NewPlanner("full", nil, allowlist.Where{})
	return e, planner, err
}

// The suite finds the planted faults in generated calls, and nothing else in those ops.
func TestSuiteFindsPlantedFaults(t *testing.T) {
	e, _, err := faultyEngine()
	if err != nil {
		t.Fatal(err)
	}
	operators := must.Get(e.Operators())(t)
	here := must.Get(os.Getwd())(t)
	run := suite.Run{
		Operators: operators, To: 60, Workers: 2, Timeout: 5 * time.Second,
		Worker: func() *exec.Cmd {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), "FAULTS="+here+"/../faults/faults.yaml")
			return cmd
		},
	}
	results := must.Get(run.Do(context.Background()))(t)
	found := make(map[string][]asserts.Code)
	for _, r := range results {
		for _, f := range r.Findings {
			found[r.Op] = append(found[r.Op], f.Violation.Code)
		}
		if len(r.Crashes) > 0 {
			t.Errorf("%s: %v", r.Op, r.Crashes)
		}
	}
	for _, f := range faults.Calls() {
		if hasNoCase[f.Op] == slices.Contains(found[f.Op], f.Code) {
			t.Errorf("%s: %v on %s (%s): found %v", f.Op, f.Code, f.Kind, f.Why, found[f.Op])
		}
	}
}

// hasNoCase are faults that need arguments which no case has.
var hasNoCase = map[string]bool{
	"fault::negates_zero.tensor": true, // 0.0, which becomes -0.0
}
