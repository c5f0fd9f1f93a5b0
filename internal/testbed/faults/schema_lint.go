package faults

import "github.com/opassert/opassert/asserts"

var _ = planting(asserts.SchemaLint, plant{
	more: schemaLint,
	impossible: []cells{
		{Single, OutOfPlace, anyName},
		{Tuple, OutOfPlace, anyName},
		{Returned, OutOfPlace, anyName},
	},
	onLibtorch: "none: it looks at no call",
})

const anyName = "a return without an alias set, of an op that writes nothing, agrees with any name"

// schemaLint returns schemas: no call breaks the rule.
func schemaLint() []Planted {
	var faults []Planted
	add := func(class Class, kind SubjectKind, subject, name, args, returns, healthy, why string) {
		faults = append(faults, Planted{
			Op: "fault::" + name, Code: asserts.SchemaLint, Class: class, Kind: kind, Subject: subject,
			Element: asserts.NoElement, Why: why,
			Schema: "fault::" + name + args + " -> " + returns, Healthy: "fault::" + name + healthy,
		})
	}
	for _, k := range argumentKinds {
		idle, read := "Tensor(b)"+k.suffix+" x)", "Tensor"+k.suffix+" x)"
		for _, c := range argumentClasses {
			add(c.class, k.kind, "x", "lint"+c.suffix+"."+k.overload, "("+c.of+" self, "+idle, c.of,
				"("+c.of+" self, "+read+" -> "+c.of,
				"has an alias set that no return shares")
		}
	}
	add(View, Out, "out", "lint_view.out", "(Tensor(a) self, *, Tensor out)", "Tensor(a)",
		"(Tensor(a) self, *, Tensor(b!) out) -> Tensor(a)",
		"has an out argument that is not written")
	add(InPlace, Out, "out", "lint_functional.writes", "(Tensor self, *, Tensor(a!) out)", "Tensor(a!)",
		"(Tensor self, *, Tensor out_like) -> Tensor",
		"is functional by its name, and writes an out argument")
	add(OutOfPlace, Out, "out", "lint.out", "(Tensor self, *, Tensor out)", "Tensor",
		"(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
		"has an out argument that is not written")
	add(View, Single, "result", "lint_copy", "(Tensor(a) self)", "Tensor(a)", "(Tensor self) -> Tensor",
		"returns a copy by its name, and an alias by its annotations")
	add(View, Tuple, "result1", "lint_view.tuple", "(Tensor(a) self)", "(Tensor(a), Tensor(b))",
		"(Tensor(a) self) -> (Tensor(a), Tensor(a))",
		"returns an alias of no argument")
	add(View, Returned, "result", "lint_view.returned", "(Tensor self)", "Tensor(a)[]", "(Tensor(a) self) -> Tensor(a)[]",
		"returns aliases of no argument")
	add(InPlace, Single, "result", "lint_.single", "(Tensor(a!) self)", "Tensor", "(Tensor(a!) self) -> Tensor(a!)",
		"is in-place by its name, and returns something other than self")
	add(InPlace, Tuple, "result1", "lint_.tuple", "(Tensor(a!) self, Tensor(b!) x)", "(Tensor(a!), Tensor)",
		"(Tensor(a!) self, Tensor(b!) x) -> (Tensor(a!), Tensor(b!))",
		"is in-place by its name, and returns something other than x")
	add(InPlace, Returned, "result", "lint_.returned", "(Tensor(a!)[] self)", "Tensor[]", "(Tensor(a!)[] self) -> ()",
		"is in-place by its name, and returns a list of something else")
	return faults
}
