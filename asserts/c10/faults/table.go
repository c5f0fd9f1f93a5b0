package faults

import (
	"slices"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/c10"
)

// A plant is the faults of one check.
type plant struct {
	faults     func() []Fault
	impossible func(Kind, Class) string // why there can be none, for a reason of the check's own; "" otherwise
	also       []Kind                   // besides those that the check is about by itself
}

var plants = map[asserts.Code]plant{}

// planting makes the faults of a check known. Each check has a file here with
// its name, which calls it once.
func planting(code asserts.Code, p plant) asserts.Code {
	plants[code] = p
	return code
}

// Calls returns every fault that a call shows, in order of the checks.
func Calls() []Fault {
	return slices.DeleteFunc(All(), func(f Fault) bool { return f.Schema != "" })
}

// All returns every fault, in order of the checks.
func All() []Fault {
	var all []Fault
	for code := range asserts.AllCodes.All() {
		if p, ok := plants[code]; ok {
			all = append(all, p.faults()...)
		}
	}
	return all
}

var f32 = c10.Options{DType: c10.Float32}

func vector(values ...float64) *c10.Tensor {
	return c10.FromFloats(values, []int64{int64(len(values))}, f32)
}

func four() *c10.Tensor { return vector(1, -2, 3, -4) }

func one() []any { return []any{four()} }

func two() []any { return []any{four(), four()} }

func withList() []any { return []any{four(), []*c10.Tensor{four(), four(), four()}} }

func withHoles() []any { return []any{four(), []*c10.Tensor{nil, four(), four()}} }

// inArguments returns the faults of an act in arguments that are only read: in
// each class of op, on each kind of argument.
func inArguments(code asserts.Code, act, why string) []Fault {
	classes := []struct {
		suffix string
		class  Class
	}{{"_view", View}, {"_", InPlace}, {"", OutOfPlace}}
	kinds := []struct {
		overload string
		kind     Kind
		element  int
		args     func() []any
	}{
		{"tensor", Tensor, -1, two},
		{"list", List, 1, withList},
		{"optional", Optional, -1, two},
		{"optional_list", OptionalList, 1, withHoles},
	}
	var faults []Fault
	for _, c := range classes {
		for _, k := range kinds {
			faults = append(faults, fault(code, c.class, k.kind, act+c.suffix+"."+k.overload, "x", k.element, "", k.args, why))
		}
	}
	return faults
}

// fault returns a fault.
func fault(code asserts.Code, class Class, kind Kind, op, subject string, element int, against string, args func() []any, why string) Fault {
	return Fault{
		Op: "fault::" + op, Code: code, Class: class, Kind: kind, Subject: subject, Element: element, Against: against, Args: args, Why: why,
	}
}

// A Silent is a call that breaks no rule, although it comes close.
type Silent struct {
	Op   string
	Args func() []any
	Why  string // why there is nothing to report
}

// AllSilent returns calls that must not be reported.
func AllSilent() []Silent {
	related := func() []any { x := four(); return []any{x, x.Alias()} }
	sameStorage := func() []any {
		x, y := four(), four()
		y.SetStorage(x)
		return []any{x, y}
	}
	return []Silent{
		{"fault::adds_", related, "a read argument shares storage with the written one"},
		{"fault::adds_", func() []any { x := four(); return []any{x, x} }, "the written argument is also the read one"},
		{"fault::adds_.list", func() []any { x := four(); return []any{x, []*c10.Tensor{nil, x.Alias(), x}} }, "elements of a read list share storage with the written argument"},
		{"fault::writes_through", sameStorage, "one of two written arguments on one storage was written, and its version says so"},
		{"fault::writes_through", two, "an argument that may be written was not"},
		{"fault::forgets_version.optional", func() []any { return []any{four(), (*c10.Tensor)(nil)} }, "an optional argument is not given"},
		{"fault::forgets_version.optional_list", func() []any { return []any{four(), []*c10.Tensor{nil, nil}} }, "no element of a list is given"},
		{"fault::adds_", func() []any { return []any{half(), vector(1, 2)} }, "a view is written, and nothing of its storage beside it"},
		{"fault::caches_copy", one, "what is kept is a copy of the argument"},
		{"fault::returns_empty", one, "there is work to do"},
		{"fault::returns_unchanged", func() []any { return append(one(), int64(2)) }, "there is work to do"},
		{"fault::copies_on_meta.tuple", one, "on CPU both returns are views"},
		{"fault::writes_in_training", func() []any { return append(two(), false) }, "outside training nothing is written"},
	}
}

// A Panic is a call whose kernel panics. The panic is passed on, nothing is
// reported, and the arguments have no more references than before.
type Panic struct {
	Op   string
	Args func() []any
	Says string
}

// AllPanics returns calls that panic.
func AllPanics() []Panic {
	return []Panic{
		{"fault::panics_", func() []any { return []any{four(), vector(1)} }, "sizes [4] and [1]"},
		{"fault::rebinds.list", func() []any { return []any{four(), []*c10.Tensor{four()}} }, "index out of range"},
	}
}
