package faults

import (
	"fmt"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/internal/c10"
)

// An act breaks a rule on one tensor. Its placement determines which: an argument, an
// element of a list, a return.
type act struct {
	name string // of the ops that have it
	why  string // their fault
	at   []placement

	// do replaces the correct treatment of the tensor in a kernel. It returns the
	// replacement of t, for a return; with is the tensor that t is compared with.
	do func(t, with *c10.Tensor) *c10.Tensor

	of      func() *c10.Tensor // the tensor that shows it; nil for four
	against string             // whom a report names, where that is not whom the check holds t against

	library *libraryAct // the same in C++; nil for none
}

// A libraryAct is an act of the C++ op library, at each of the places of a sort.
type libraryAct struct {
	at      string // "read", "written" or "returned"
	does    string // to Tensor& t, or to const Tensor& t and returned
	trigger string // the calls that show it
	of      string // the tensor that does: "" is a matrix, "slice", "vector"
}

// A LibraryAct is one with its name and the check that finds it.
type LibraryAct struct {
	Name, At, Does, Trigger, Of string
	Code                        asserts.Code
}

// LibraryActs returns the acts of the C++ op library, in the order of the checks.
func LibraryActs() []LibraryAct {
	var all []LibraryAct
	for code := range asserts.AllCodes.All() {
		for _, a := range plants[code].acts {
			if l := a.library; l != nil {
				all = append(all, LibraryAct{a.name, l.at, l.does, l.trigger, l.of, code})
			}
		}
	}
	return all
}

type plant struct {
	acts       []act
	more       func() []Fault // faults with kernels, or schemas, of their own
	impossible []where        // where there can be none, for a reason of the check's own
	also       []Kind         // besides the kinds of the check itself
	onLibtorch string         // the test that breaks it on libtorch; "" where ops of places.cpp do
}

// OnLibtorch returns the test that breaks a check on libtorch, or "" where ops of
// internal/watch/testdata/places.cpp do.
func OnLibtorch(code asserts.Code) string { return plants[code].onLibtorch }

// where is one kind, or every kind, in one class of op, or in every class.
type where struct {
	kind  Kind
	class Class
	why   string
}

func (w where) has(kind Kind, class Class) bool {
	return (w.kind == "" || w.kind == kind) && (w.class == "" || w.class == class)
}

var plants = map[asserts.Code]plant{}

// planting makes the faults of a check known. Each check has a file here with
// its name, which calls it once.
func planting(code asserts.Code, p plant) asserts.Code {
	plants[code] = p
	return code
}

// do is the function that generated kernels call.
func do(name string, t, with *c10.Tensor) *c10.Tensor {
	for _, a := range acts() {
		if a.name == name {
			return a.do(t, with)
		}
	}
	panic(fmt.Sprintf("faults: no act %q: run go generate ./internal/gentest", name))
}

// A Kernel is a placement of an act, or of none: a schema, and the position of the act
// in it. The generator writes it as source.
type Kernel struct {
	Op      string // "fault::rebinds_view.tensor"
	Act     string // "" for a healthy twin
	Schema  string // of the op, without its name
	Subject string // name of the argument or the return
	With    string // name of the argument or the return that it is held against
	Element int    // of a list
}

func (p placement) kernel(name string) Kernel {
	return Kernel{Op: "fault::" + name + p.suffix, Schema: p.schema, Subject: p.subject, With: p.with, Element: p.element()}
}

// Kernels returns the kernels to generate: for each act its faulty kernels, then their
// healthy twins, one for each schema.
func Kernels() []Kernel {
	var kernels, twins []Kernel
	written := map[string]bool{}
	for _, a := range acts() {
		for _, p := range a.at {
			k := p.kernel(a.name)
			k.Act = a.name
			kernels = append(kernels, k)
			if !written[p.schema] {
				written[p.schema] = true
				twins = append(twins, p.kernel("healthy"))
			}
		}
	}
	return append(kernels, twins...)
}

// acts returns those of every check, in the order of the checks.
func acts() []act {
	var acts []act
	for code := range asserts.AllCodes.All() {
		acts = append(acts, plants[code].acts...)
	}
	return acts
}

// faults returns those of an act, one at each placement.
func (a act) faults(code asserts.Code) []Fault {
	var faults []Fault
	for _, p := range a.at {
		f := Fault{
			Op: p.kernel(a.name).Op, Code: code, Class: p.class, Kind: p.kind, Subject: p.subject, Element: p.element(),
			Against: a.against, Why: a.why,
			Args: func() []any { return p.args(orFour(a.of)) },
		}
		if f.Against == "" && code.About()&(asserts.AgainstArgument|asserts.AgainstReturn) != 0 && code.About()&asserts.Return != 0 {
			f.Against = p.with
		}
		faults = append(faults, f)
	}
	return faults
}

func orFour(of func() *c10.Tensor) *c10.Tensor {
	if of == nil {
		return four()
	}
	return of()
}

// twins returns a healthy call at each placement of every act, in the arguments of
// the fault.
func twins() []Silent {
	healthy := map[string]string{}
	for _, k := range Kernels() {
		if k.Act == "" {
			healthy[k.Schema] = k.Op
		}
	}
	var silent []Silent
	for _, a := range acts() {
		for _, p := range a.at {
			silent = append(silent, Silent{
				Op: healthy[p.schema], Why: "it does not do what " + p.kernel(a.name).Op + " does",
				Args: func() []any { return p.args(orFour(a.of)) },
			})
		}
	}
	return silent
}
