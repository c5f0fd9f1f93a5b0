package report

import (
	"slices"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/compare"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/schema"
)

// Lint returns the faults of an op's schema, and of its registration, as findings.
func Lint(o engine.Operator) []*Finding {
	var found []*Finding
	add := func(v asserts.Violation, call string) {
		v.Code, v.Op, v.Schema = asserts.SchemaLint, o.Name(), o.Schema.Func.String()
		v.Note = v.Symptom.Note(v.Code)
		found = append(found, &Finding{Violation: &v, Call: call, Case: -1, Times: 1})
	}
	for _, f := range schema.LintOp(o.Schema) {
		add(asserts.Violation{Subject: place(o.Schema, func(a schema.Argument) bool { return a.Pos == f.Pos }), Saw: f.Message, Fix: f.Fix}, "none: the schema alone")
	}
	for _, f := range o.Faults {
		add(asserts.Violation{Subject: place(o.Schema, func(a schema.Argument) bool { return a.Name == f.Argument }),
			Saw: f.Saw, Symptom: f.Symptom, Fix: f.Fix, Site: f.Site}, "none: what is registered")
	}
	return found
}

// Unwritten returns a note of an argument, or of one of its elements, that none of many calls changed.
func Unwritten(o engine.Operator, arg int, of compare.ElementRole, calls, sizes int) *Finding {
	return ofAll(compare.Unwritten(o.Name(), o.Schema.Func.String(), written(o, arg), of, calls, sizes))
}

// UnwrittenAs returns a note of an argument that only calls with some dtypes change.
func UnwrittenAs(o engine.Operator, arg, calls int, dtypes []string) *Finding {
	return ofAll(compare.UnwrittenAs(o.Name(), o.Schema.Func.String(), written(o, arg), calls, dtypes))
}

func written(o engine.Operator, arg int) asserts.Place {
	a := o.Schema.Func.Args[arg]
	return asserts.Place{Index: arg, Name: a.Name, Type: a.Type.String(), Element: asserts.NoElement, Aliased: true}
}

// ofAll returns a finding that all calls of an op show together.
func ofAll(v *asserts.Violation) *Finding {
	v.Repro = "-op " + v.Op
	return &Finding{Violation: v, Call: "none: all calls", Case: -1, Times: 1}
}

// place returns the argument for which meant holds, or the first.
func place(op *schema.Op, meant func(schema.Argument) bool) asserts.Place {
	i := max(0, slices.IndexFunc(op.Func.Args, meant))
	if len(op.Func.Args) == 0 {
		return asserts.Place{Element: asserts.NoElement}
	}
	arg := op.Func.Args[i]
	return asserts.Place{Index: i, Name: arg.Name, Type: arg.Type.String(), Element: asserts.NoElement}
}
