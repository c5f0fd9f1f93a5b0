package report

import (
	"slices"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/schema"
)

// Lint returns the faults of an op's schema as findings.
func Lint(o engine.Operator) []*Finding {
	var found []*Finding
	for _, f := range schema.LintOp(o.Schema) {
		v := &asserts.Violation{
			Code: asserts.SchemaLint, Op: o.Name(), Schema: o.Schema.Func.String(), Subject: place(o.Schema, f), Saw: f.Message, Fix: f.Fix,
		}
		found = append(found, &Finding{Violation: v, Call: "none: the schema alone", Case: -1, Times: 1})
	}
	return found
}

// Unwritten returns a note of an argument, or of one of its elements, that none of many calls changed.
func Unwritten(o engine.Operator, arg int, of asserts.Which, calls, sizes int) *Finding {
	return ofAll(asserts.Unwritten(o.Name(), o.Schema.Func.String(), written(o, arg), of, calls, sizes))
}

// UnwrittenAs returns a note of an argument that calls with some dtypes alone change.
func UnwrittenAs(o engine.Operator, arg, calls int, dtypes []string) *Finding {
	return ofAll(asserts.UnwrittenAs(o.Name(), o.Schema.Func.String(), written(o, arg), calls, dtypes))
}

func written(o engine.Operator, arg int) asserts.Place {
	a := o.Schema.Func.Args[arg]
	return asserts.Place{Index: arg, Name: a.Name, Type: a.Type.String(), Element: asserts.NoElement, Aliased: true}
}

// ofAll is what all calls of an op show, and none alone.
func ofAll(v *asserts.Violation) *Finding {
	v.Repro = "-op " + v.Op
	return &Finding{Violation: v, Call: "none: all calls", Case: -1, Times: 1}
}

// place returns the argument at the position of the lint, or the first.
func place(op *schema.Op, f schema.Finding) asserts.Place {
	i := max(0, slices.IndexFunc(op.Func.Args, func(a schema.Argument) bool { return a.Pos == f.Pos }))
	if len(op.Func.Args) == 0 {
		return asserts.Place{Element: asserts.NoElement}
	}
	arg := op.Func.Args[i]
	return asserts.Place{Index: i, Name: arg.Name, Type: arg.Type.String(), Element: asserts.NoElement}
}
