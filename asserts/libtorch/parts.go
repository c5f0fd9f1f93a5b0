package libtorch

import (
	"slices"
	"strconv"
	"strings"

	"github.com/opassert/opassert/asserts"
)

type moment uint8

const (
	before moment = iota
	after
	result
	unseen
)

type part struct {
	side        moment
	subject     int
	element     int // index among the subject's tensors
	name        string
	observation asserts.Observation
}

// addParts adds a second subject with the parts for each subject, after all others.
func (out *Outcome) addParts() {
	seen := &out.Seen
	seen.Before, seen.After = slices.Clip(seen.Before), slices.Clip(seen.After)
	seen.ArgLens = slices.Clip(seen.ArgLens)
	seen.ArgNames, seen.ResultNames = make([][]string, len(out.argLens)), make([][]string, len(out.resultLens))
	for subject, tensors := range out.argLens {
		b, names := out.partsOf(before, subject, tensors)
		a, later := out.partsOf(after, subject, tensors)
		if len(later) > len(names) {
			names = later
		}
		n := max(len(a), len(b)) // the same before and after; a part that was added or removed is an undefined tensor
		seen.Before = append(seen.Before, append(b, make([]asserts.Observation, n-len(b))...)...)
		seen.After = append(seen.After, append(a, make([]asserts.Observation, n-len(a))...)...)
		seen.ArgLens = append(seen.ArgLens, n)
		seen.ArgNames = append(seen.ArgNames, names)
	}
	seen.Results, seen.ResultLens = slices.Clip(seen.Results), slices.Clip(seen.ResultLens)
	for subject, tensors := range out.resultLens {
		r, names := out.partsOf(result, subject, tensors)
		seen.Results = append(seen.Results, r...)
		seen.ResultLens = append(seen.ResultLens, len(r))
		seen.ResultNames = append(seen.ResultNames, names)
	}
}

// partsOf returns the parts of a subject's tensors, and their names: "values", and in a list "1.values".
func (out *Outcome) partsOf(side moment, subject, tensors int) (parts []asserts.Observation, names []string) {
	for _, p := range out.parts {
		if p.side != side || p.subject != subject {
			continue
		}
		parts = append(parts, p.observation)
		name := p.name
		if tensors > 1 {
			name = strconv.Itoa(p.element) + "." + name
		}
		names = append(names, name)
	}
	return parts, names
}

// HarmlessParts returns the reason why a violation about parts of tensors does not count, or "":
// parts of one tensor may share with each other, those of a view with its base's, and the sizes and
// strides of nested tensors, which nothing writes, with each other's. op is the judged op.
func HarmlessParts(op *asserts.Op, v *asserts.Violation) string {
	switch on, against := v.Subject, v.Against; {
	case on.Return && on.Part() == "value" && v.Code == asserts.UndeclaredAlias && writes(op, on):
		return "the value of a functional wrapper, which the functional op returned"
	case !on.Inside || !against.Inside:
		return ""
	case shape(on.Called) && shape(against.Called):
		return "sizes and strides of nested tensors, which are not written"
	case on.Return == against.Return && on.Index == against.Index && owner(on.Called) == owner(against.Called):
		return "parts of one tensor"
	case op.Base(on, against) && kind(on.Called) == kind(against.Called):
		return "a part of a view, and the same part of its base"
	}
	return ""
}

// writes reports whether a place is a return marked (a!).
func writes(op *asserts.Op, at asserts.Place) bool {
	return slices.ContainsFunc(op.Results, func(s asserts.Subject) bool { return s.Index == at.Index && s.Write })
}

// owner returns the index of the tensor that a part is inside of, "" if its subject is one tensor: "1." for "1.values".
func owner(called string) string { return strings.TrimSuffix(called, kind(called)) }

// kind returns the role of a part in its tensor.
func kind(called string) string { return called[strings.LastIndexByte(called, '.')+1:] }

func shape(called string) bool { return kind(called) == "sizes" || kind(called) == "strides" }
