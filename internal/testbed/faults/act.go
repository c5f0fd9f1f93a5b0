package faults

import (
	"fmt"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/internal/testbed/c10"
)

// An act breaks a rule on one tensor: an argument, an element of a list or a return, by its placement.
type act struct {
	name string // of its ops
	why  string // what they do wrong
	at   []placement

	// do replaces the correct treatment of the tensor in a kernel. It returns the
	// replacement of t, for a return; with is the tensor that t is compared with.
	do func(t, with *c10.Tensor) *c10.Tensor

	of      func() *c10.Tensor // makes the tensor that shows it; nil for four
	against string             // the name in the report of the other tensor, unless it is that of with

	library *LibraryAct // the same in C++; nil for none
}

// change is the do of an act that changes the tensor, and replaces it by none.
func change(how func(t *c10.Tensor)) func(t, with *c10.Tensor) *c10.Tensor {
	return func(t, _ *c10.Tensor) *c10.Tensor {
		how(t)
		return t
	}
}

// A LibraryAct is an act of the C++ op library, at each placement of one kind.
type LibraryAct struct {
	At      string // "read", "written" or "returned"
	Does    string // statements on Tensor& t, or on const Tensor& t with a return
	Trigger string // the calls that show it
	Of      string // the tensor of those calls: "" is a matrix, "slice", "vector"

	Name string       // of the act
	Code asserts.Code // the check that finds it
}

// LibraryActs returns the acts of the C++ op library, in the order of the checks.
func LibraryActs() []LibraryAct {
	var all []LibraryAct
	for code := range asserts.AllCodes.All() {
		for _, a := range plants[code].acts {
			if l := a.library; l != nil {
				all = append(all, LibraryAct{l.At, l.Does, l.Trigger, l.Of, a.name, code})
			}
		}
	}
	return all
}

type plant struct {
	acts       []act
	more       func() []Planted // faults with their own kernels or schemas
	impossible []cells          // cells without a fault, for a reason specific to the check
	also       []SubjectKind    // further kinds, besides those of the check
	onLibtorch string           // the test that breaks it on libtorch; "" if ops of places.cpp do
}

// OnLibtorch returns the test that breaks a check on libtorch, or "" if ops of watch/testdata/places.cpp do.
func OnLibtorch(code asserts.Code) string { return plants[code].onLibtorch }

// cells are those of one kind, or every kind, in one class of op, or every class.
type cells struct {
	kind  SubjectKind
	class Class
	why   string
}

func (w cells) has(kind SubjectKind, class Class) bool {
	return (w.kind == "" || w.kind == kind) && (w.class == "" || w.class == class)
}

var plants = map[asserts.Code]plant{}

// planting registers the faults of a check. Each check with faults here has a file of its name that calls it once.
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
	panic(fmt.Sprintf("faults: no act %q: run go generate ./internal/testbed/gentest", name))
}

// A KernelSource is a schema, and the position of an act in it, or of none. The generator writes it as source.
type KernelSource struct {
	Op      string // "fault::rebinds_view.tensor"
	Act     string // "" for a healthy twin
	Schema  string // of the op, without its name
	Subject string // name of the argument or the return
	With    string // name of the argument or the return that it is compared with
	Element int    // of a list
}

func (p placement) kernel(name string) KernelSource {
	return KernelSource{Op: "fault::" + name + p.suffix, Schema: p.schema, Subject: p.subject, With: p.with,
		Element: p.element()}
}

// Kernels returns the kernels to generate: for each act its faulty kernels, then a healthy twin for each schema.
func Kernels() []KernelSource {
	var kernels, twins []KernelSource
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

// acts returns the acts of every check, in the order of the checks.
func acts() []act {
	var acts []act
	for code := range asserts.AllCodes.All() {
		acts = append(acts, plants[code].acts...)
	}
	return acts
}

func (a act) faults(code asserts.Code) []Planted {
	var faults []Planted
	for _, p := range a.at {
		f := Planted{
			Op: p.kernel(a.name).Op, Code: code, Class: p.class, Kind: p.kind, Subject: p.subject, Element: p.element(),
			Against: a.against, Why: a.why,
			Args: func() []any { return p.args(orFour(a.of)) },
		}
		if f.Against == "" && code.About()&(asserts.AgainstArgument|asserts.AgainstReturn) != 0 &&
			code.About()&asserts.Return != 0 {
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
