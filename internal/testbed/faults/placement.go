package faults

import (
	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/internal/testbed/c10"
	"github.com/opassert/opassert/internal/testbed/kernels"
)

// A placement is the position of an act in an op: the tensor, and how it is passed.
// The kernel treats all other tensors as the schema declares: it writes and returns
// an argument with (a!), and returns views of one with (a), or new tensors.
type placement struct {
	kind            SubjectKind
	class           Class
	suffix          string // of the op's name
	schema, subject string
	with            string                     // the tensor that the subject is compared with
	args            func(of *c10.Tensor) []any // with the tensor of the act, or the one that it begins with
}

// element is the position of the act in a list: the last of three returns, the middle of an argument.
func (p placement) element() int {
	switch p.kind {
	case List, OptionalList:
		return 1
	case Returned:
		return 2
	}
	return asserts.NoElement
}

func alone(of *c10.Tensor) []any   { return []any{of} }
func second(of *c10.Tensor) []any  { return []any{four(), of} }
func first(of *c10.Tensor) []any   { return []any{of, four()} }
func inList(of *c10.Tensor) []any  { return []any{four(), []*c10.Tensor{four(), of, four()}} }
func inHoles(of *c10.Tensor) []any { return []any{four(), []*c10.Tensor{nil, of, four()}} }
func listOf(of *c10.Tensor) []any  { return []any{[]*c10.Tensor{four(), of, four()}} }
func related(of *c10.Tensor) []any { return []any{of, of.Alias()} }
func twoOuts(of *c10.Tensor) []any { return []any{of, four(), four()} }

// The classes of ops with an argument x that is only read, and the kinds of it.
var (
	argumentClasses = []struct {
		class      Class
		suffix, of string // the type of self, and of what is returned
	}{{View, "_view", "Tensor(a)"}, {InPlace, "_", "Tensor(a!)"}, {OutOfPlace, "", "Tensor"}}

	argumentKinds = []struct {
		kind             SubjectKind
		overload, suffix string
		args             func(of *c10.Tensor) []any
	}{{Tensor, "tensor", "", second}, {List, "list", "[]", inList}, {Optional, "optional", "?", second},
		{OptionalList, "optional_list", "?[]", inHoles}}
)

var (
	inArguments                 = arguments()
	inView, inPlace, outOfPlace = inArguments[:4], inArguments[4:8], inArguments[8:]
	inTensor                    = outOfPlace[:1]
)

func arguments() (all []placement) {
	for _, c := range argumentClasses {
		for _, k := range argumentKinds {
			schema := "(" + c.of + " self, Tensor" + k.suffix + " x) -> " + c.of
			all = append(all, placement{k.kind, c.class, c.suffix + "." + k.overload, schema, "x", "self", k.args})
		}
	}
	return all
}

// An argument that the schema declares as written.
var (
	inOut = []placement{{Out, InPlace, ".out", "(Tensor self, *, Tensor(a!) out) -> Tensor(a!)", "out",
		"self", second}}
	inWritten = []placement{
		{Tensor, InPlace, "_.self", "(Tensor(a!) self) -> Tensor(a!)", "self", "", alone},
		{List, InPlace, "_.elements", "(Tensor(a!)[] self) -> ()", "self", "", listOf},
		{Optional, InPlace, ".running", "(Tensor self, Tensor(a!)? running) -> Tensor", "running", "self", second},
		{OptionalList, InPlace, ".running_list", "(Tensor self, Tensor(a!)?[] running) -> Tensor", "running",
			"self", inHoles},
	}
)

// A return that is a view.
var (
	returnedView = []placement{
		{Single, View, "_view.single", "(Tensor(a) self) -> Tensor(a)", "result", "self", alone},
		{Tuple, View, "_view.tuple", "(Tensor(a) self) -> (Tensor(a), Tensor(a))", "result1", "self", alone},
		{Returned, View, "_view.returned", "(Tensor(a -> *) self) -> Tensor(a)[]", "result", "self", alone},
	}
	returnedViewAndWritten = []placement{
		{Single, InPlace, "_view_writing.single", "(Tensor(a) self, Tensor(b!) log) -> Tensor(a)", "result", "self", first},
		{Tuple, InPlace, "_view_writing.tuple", "(Tensor(a) self, Tensor(b!) log) -> (Tensor(a), Tensor(a))", "result1",
			"self", first},
		{Returned, InPlace, "_view_writing.returned", "(Tensor(a -> *) self, Tensor(b!) log) -> Tensor(a)[]", "result",
			"self", first},
	}
)

// A return that is a new tensor.
var (
	besideView = []placement{
		{Tuple, View, "_beside_view.tuple", "(Tensor(a) self) -> (Tensor(a), Tensor)", "result1", "self", alone},
		{Returned, View, "_beside_view.returned", "(Tensor(a) self) -> (Tensor(a), Tensor[])", "result1", "self", alone},
	}
	returnedNew = []placement{
		{Single, OutOfPlace, ".single", "(Tensor self) -> Tensor", "result", "self", alone},
		{Tuple, OutOfPlace, ".tuple", "(Tensor self) -> (Tensor, Tensor)", "result1", "self", alone},
		{Returned, OutOfPlace, ".returned", "(Tensor self) -> Tensor[]", "result", "self", alone},
	}
	returnedNewAndWritten = []placement{
		{Single, InPlace, "_writing.single", "(Tensor(a!) self) -> Tensor", "result", "self", alone},
		{Tuple, InPlace, "_writing.tuple", "(Tensor(a!) self) -> (Tensor, Tensor)", "result1", "self", alone},
		{Returned, InPlace, "_writing.returned", "(Tensor(a!) self) -> Tensor[]", "result", "self", alone},
	}

	// Compared with an argument other than self.
	besideOther = []placement{
		{Single, View, "_view.other", "(Tensor(a) self, Tensor x) -> Tensor(a)", "result", "x", related},
		{Single, OutOfPlace, ".other", "(Tensor self, Tensor x) -> Tensor", "result", "x", second},
		{Returned, OutOfPlace, ".others", "(Tensor self, Tensor[] x) -> Tensor[]", "result", "x", inList},
	}

	// Compared with another return.
	besideReturn = []placement{
		{Tuple, View, "_view.pair", "(Tensor(a) self) -> (Tensor(a), Tensor, Tensor)", "result2", "result1", alone},
		{Returned, View, "_view.pairs", "(Tensor(a) self) -> (Tensor(a), Tensor[])", "result1", "result1", alone},
		{Tuple, OutOfPlace, ".pair", "(Tensor self) -> (Tensor, Tensor)", "result1", "result0", alone},
		{Returned, OutOfPlace, ".pairs", "(Tensor self) -> Tensor[]", "result", "result", alone},
		{Tuple, InPlace, "_writing.pair", "(Tensor(a!) self) -> (Tensor, Tensor)", "result1", "result0", alone},
		{Returned, InPlace, "_writing.pairs", "(Tensor(a!) self) -> Tensor[]", "result", "result", alone},
	}
)

// A return that is an argument with (a!).
var returnedSelves = []placement{
	{Single, InPlace, "_.single", "(Tensor(a!) self) -> Tensor(a!)", "result", "self", alone},
	{Tuple, InPlace, ".outs", "(Tensor self, *, Tensor(a!) low, Tensor(b!) high) -> (Tensor(a!), Tensor(b!))", "result1",
		"high", twoOuts},
	{Out, InPlace, ".returned_out", "(Tensor self, *, Tensor(a!) out) -> Tensor(a!)", "result", "out", second},
}

// The correct kernels.

func increased(t *c10.Tensor) *c10.Tensor {
	if t == nil {
		return nil
	}
	if !t.IsMeta() {
		scribble(t)
	}
	t.MarkWritten()
	return t
}

func scribble(t *c10.Tensor) { t.SetFloat(0, t.Float(0)+1) }

func negated(self *c10.Tensor) *c10.Tensor { return kernels.Neg(self) }
