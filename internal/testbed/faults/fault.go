package faults

import (
	"fmt"
	"slices"

	"github.com/opassert/opassert/asserts"
)

// A Planted is one call of a kernel, or one schema, that breaks one rule, with the text of its only report.
type Planted struct {
	Op      string // "fault::rebinds.tensor"
	Code    asserts.Code
	Class   Class
	Kind    SubjectKind
	Subject string // name of the argument or the return
	Element int    // in the list, or asserts.NoElement
	Against string // whom the subject is, or shares with, or should have; "" for none
	Args    func() []any
	Why     string // the fault of the kernel, or of the schema

	// Of a fault that no call shows, instead of Args: a schema, and how it reads without the fault.
	Schema, Healthy string
}

// A Class is the class of an op, by its schema.
type Class string

const (
	View       Class = "view"
	InPlace    Class = "in-place" // it writes an argument, out= and mutable ops included
	OutOfPlace Class = "out-of-place"
)

// Classes returns all of them in order.
func Classes() []Class { return []Class{View, InPlace, OutOfPlace} }

// A SubjectKind is a kind of argument or return that a check is about.
type SubjectKind string

const (
	Tensor       SubjectKind = "tensor"
	List         SubjectKind = "list element"
	Optional     SubjectKind = "optional"
	OptionalList SubjectKind = "optional list element"
	Single       SubjectKind = "single return"
	Tuple        SubjectKind = "tuple return"
	Returned     SubjectKind = "list return"
	Out          SubjectKind = "out argument"
)

// SubjectKinds returns all of them in order.
func SubjectKinds() []SubjectKind {
	return []SubjectKind{Tensor, List, Optional, OptionalList, Single, Tuple, Returned, Out}
}

func (k SubjectKind) returned() bool { return k == Single || k == Tuple || k == Returned }

// A Cell is one cell of the fault matrix: its planted faults, or the reason why no fault is possible.
type Cell struct {
	Code       asserts.Code
	Kind       SubjectKind
	Class      Class
	Faults     []Planted
	Impossible string
}

// Matrix returns every cell, in order of code, kind and class.
func Matrix() []Cell {
	var cells []Cell
	planted := All()
	for code := range asserts.AllCodes.All() {
		for _, kind := range SubjectKinds() {
			for _, class := range Classes() {
				cell := Cell{Code: code, Kind: kind, Class: class, Impossible: impossible(code, kind, class)}
				for _, f := range planted {
					if f.Code == code && f.Kind == kind && f.Class == class {
						cell.Faults = append(cell.Faults, f)
					}
				}
				cells = append(cells, cell)
			}
		}
	}
	return cells
}

func impossible(code asserts.Code, kind SubjectKind, class Class) string {
	p := plants[code]
	also := slices.Contains(p.also, kind)
	switch about := code.About(); {
	case about&asserts.Argument != 0 && kind.returned() && !also:
		return fmt.Sprintf("%v is about arguments", code)
	case about&asserts.Return != 0 && !kind.returned() && !also:
		return fmt.Sprintf("%v is about returns", code)
	case kind == Out && class != InPlace && about != 0:
		return "an op with an out argument writes it, so it is in-place"
	}
	for _, w := range p.impossible {
		if w.has(kind, class) {
			return w.why
		}
	}
	return ""
}
