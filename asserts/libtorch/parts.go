package libtorch

import (
	"slices"

	"github.com/opassert/opassert/asserts"
)

// side says when a tensor was observed.
type side uint8

const (
	before side = iota
	after
	result
	unseen
)

// A part is a tensor that a tensor of a subject holds inside.
type part struct {
	side        side
	subject     int
	name        string
	observation asserts.Observation
}

// partNames are the names of oa_part of shim.h: in order, the indices and
// values of a COO tensor; the compressed indices, plain indices and values of
// CSR, CSC, BSR and BSC; the scales and zero points of a tensor quantized per
// channel; the sizes and strides of a nested tensor; the value of a functional
// wrapper, which has no bytes of its own.
var partNames = [...]string{"", "value", "scales", "zero_points", "sizes", "strides", "indices", "values", "compressed_indices", "plain_indices"}

// addParts adds to each subject a second one with its parts, after all others.
func (out *Outcome) addParts() {
	seen := &out.Seen
	seen.Before, seen.After = slices.Clip(seen.Before), slices.Clip(seen.After)
	seen.ArgLens = slices.Clip(seen.ArgLens)
	seen.ArgNames, seen.ResultNames = make([][]string, len(out.argLens)), make([][]string, len(out.resultLens))
	for subject, tensors := range out.argLens {
		b, names := out.partsOf(before, subject, tensors)
		a, _ := out.partsOf(after, subject, tensors)
		n := max(len(a), len(b)) // one length serves both; what came or went is an undefined tensor
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

// partsOf returns the parts of a subject of so many tensors, and their names
// where it is one tensor.
func (out *Outcome) partsOf(side side, subject, tensors int) (parts []asserts.Observation, names []string) {
	for _, p := range out.parts {
		if p.side != side || p.subject != subject {
			continue
		}
		parts = append(parts, p.observation)
		if tensors == 1 {
			names = append(names, p.name)
		}
	}
	return parts, names
}

// HarmlessParts reports whether a violation is about parts of tensors that
// share with good reason: those of one tensor with each other; those of a view
// with its base's; and those of nested tensors, which are shapes that nobody
// writes.
func HarmlessParts(v *asserts.Violation, nested bool) bool {
	on, against := v.Subject, v.Against
	if !on.Inside || !against.Inside {
		return false
	}
	one := on.Return == against.Return && on.Index == against.Index
	return one || on.Return && on.Aliased || nested
}
