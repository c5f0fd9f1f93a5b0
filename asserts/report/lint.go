package report

import (
	"slices"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/schema"
)

// Lint adds the faults of an op's schema, and of its registration, that are not waived. Calls of a function that does
// not accept what it is passed raise, which says the same once more.
func (r *OpResult) Lint(o engine.Operator, waived []asserts.Excuse) {
	add := func(v asserts.Violation, call string) {
		if i := slices.IndexFunc(waived, func(e asserts.Excuse) bool { return e.Covers(v.Code, v.Symptom) }); i >= 0 {
			if waived[i].Reason != "" {
				r.Waived = AddSkip(r.Waived, asserts.Skip{Code: v.Code, Symptom: v.Symptom, Reason: waived[i].Reason, Count: 1})
			}
			return
		}
		noFake := func(f *Finding) bool { return f.Violation.Symptom == asserts.NoFake }
		if v.Symptom == asserts.NoFake && slices.ContainsFunc(r.Findings, noFake) {
			return
		}
		v.Op, v.Schema, v.Note = o.Name(), o.Schema.Func.String(), v.Symptom.In(v.Code).Note
		r.Findings = slices.DeleteFunc(r.Findings, func(f *Finding) bool { return raisesBy(f.Violation, &v) })
		r.Findings = append(r.Findings, &Finding{Violation: &v, Call: call, Case: -1, Times: 1})
	}
	for _, f := range schema.LintOp(o.Schema) {
		on := place(o.Schema, func(a schema.Argument) bool { return a.Pos == f.Pos })
		add(asserts.Violation{Code: asserts.SchemaLint, Subject: on, Saw: f.Message, Fix: f.Fix}, "none: the schema alone")
	}
	for _, f := range o.Faults {
		on := asserts.Place{Element: asserts.NoElement}
		if f.Argument != "" {
			on = place(o.Schema, func(a schema.Argument) bool { return a.Name == f.Argument })
		}
		add(asserts.Violation{Code: f.Code, Subject: on, Saw: f.Saw, Symptom: f.Symptom, Fix: f.Fix, Site: f.Site},
			"none: what is registered")
	}
}

// raisesBy reports whether a call raises in a function because of its registration.
func raisesBy(call, registered *asserts.Violation) bool {
	raises := call.Symptom == asserts.FakeRaises || call.Symptom == asserts.Backward || call.Symptom == asserts.Vmap
	return raises && registered.Symptom == "" && call.Site == registered.Site && call.Site.Line > 0
}

// OfAll returns a finding that all calls of an op show together.
func OfAll(v *asserts.Violation) *Finding {
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
