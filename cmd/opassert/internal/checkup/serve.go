package checkup

import (
	"slices"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/gen/plan"
	"github.com/opassert/opassert/schema"
)

// Serve runs a worker. An error that keeps it from starting is reported to the run.
func Serve(o *Options) error {
	e, config, err := o.serve()
	if err != nil {
		suite.Refuse(err)
		return err
	}
	return suite.Serve(e, config)
}

// serve opens the engine, and returns the plans for its calls.
func (o *Options) serve() (engine.Engine, suite.Config, error) {
	config := suite.Config{Level: o.Level, Seed: o.Seed, Tolerance: o.Tolerance}
	var err error
	if config.Cases, err = o.OwnCases(); err != nil {
		return nil, config, err
	}
	e, err := o.open()
	if err != nil {
		return nil, config, err
	}
	planner, err := o.Planner(libraryVersion(e.Version()), nil)
	config.Plan = func(op *schema.Op) engine.Checks { return o.planned(planner.Plan(op)) }
	return e, config, err
}

// planned is a plan for the suite, with the checks that are judged where calls begin.
func (o *Options) planned(p plan.Plan) engine.Checks {
	all := Planned(p, o.Level)
	all.Op.Checks = slices.DeleteFunc(all.Op.Checks, func(c asserts.Check) bool { return !c.Code.Through(o.Autograd) })
	return all
}

// Planned is a plan for the suite.
func Planned(p plan.Plan, level asserts.Level) engine.Checks {
	op := p.Asserts(level)
	op.Waived = nil // the suite judges them too, to count the excused findings
	return engine.Checks{Op: op, Waived: p.Waivers()}
}
