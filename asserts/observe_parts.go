package asserts

import (
	"slices"
	"strconv"

	"github.com/opassert/opassert/internal/slicesx"
)

// A Part is a tensor inside another one: indices or values of a sparse tensor, the inner tensor of a wrapper subclass.
type Part struct {
	Name string // "indices"
	Observation
}

// Inside observes a part of the tensor of o, for [Observation.With]: a tensor, or a further storage of a library whose
// tensors have several, such as a bitmap beside the values. The Impl of such a storage equals its Storage: the tensor
// keeps it, and views of the tensor share it. Observe calls Inside before Look.
func (o *Observation) Inside(name string, t Tensor, level Level) Part {
	p := Part{Name: name, Observation: Observation{Content: o.Content}} // leads to the holding of the call
	t.Observe(&p.Observation, level)
	p.holding() // if Observe did not call Look
	return p
}

// isStorage reports whether a part is a further storage of its tensor.
func (o *Observation) isStorage() bool { return o.Impl == o.Storage }

// With sets the parts of the tensor of o, observed by Inside, after Look has filled in the rest.
func (o *Observation) With(parts ...Part) {
	if len(parts) == 0 {
		return
	}
	if o.Content == nil {
		o.Content = new(Snapshot)
	}
	o.Content.Parts = parts
}

// unfold returns a call whose tensors have parts with these as further tensors: see [WithParts]. It
// returns other calls unchanged.
func unfold(op *Op, seen *Seen) (*Op, *Seen) {
	holds := func(o Observation) bool {
		return o.Content != nil &&
			len(o.Content.Parts) > 0 //mutate:equivalent true: only saves time
	}
	if !slices.ContainsFunc(slices.Concat(seen.Before, seen.After, seen.Results), holds) {
		return op, seen
	}
	whole := *seen
	whole.Before, whole.After, whole.Results = slices.Clone(seen.Before), slices.Clone(seen.After),
		slices.Clone(seen.Results)
	before, after := split(seen.Before, seen.ArgLens, op.Args), split(seen.After, seen.ArgLens, op.Args)
	lateArgs, lateResults := seen.late(op)
	var late, lateParts []Observation // of the arguments
	whole.ArgLens, whole.ArgNames = lengths(before), padded(seen.ArgNames, len(before))
	for i := range before {
		b, names := partsOf(before[i])
		a, later := partsOf(after[i])
		if len(later) > len(names) {
			names = later
		}
		n := len(names) // the same before and after; a part that was added or removed is an undefined tensor
		whole.Before = append(append(whole.Before, b...), make([]Observation, n-len(b))...)
		whole.After = append(append(whole.After, a...), make([]Observation, n-len(a))...)
		late, lateParts = append(late, lateArgs[i]...), append(lateParts, lateOf(lateArgs[i], n)...)
		whole.ArgLens, whole.ArgNames = append(whole.ArgLens, n), append(whole.ArgNames, names)
	}
	late = append(late, lateParts...)
	lateParts = nil
	results := split(seen.Results, seen.ResultLens, op.Results)
	whole.ResultLens, whole.ResultNames = lengths(results), padded(seen.ResultNames, len(results))
	for i, run := range results {
		r, names := partsOf(run)
		whole.Results = append(whole.Results, r...)
		late, lateParts = append(late, lateResults[i]...), append(lateParts, lateOf(lateResults[i], len(r))...)
		whole.ResultLens, whole.ResultNames = append(whole.ResultLens, len(r)), append(whole.ResultNames, names)
	}
	whole.Late = append(late, lateParts...) // undefined tensors if not observed
	return WithParts(op), &whole
}

// lateOf returns the n parts of a subject's tensors some milliseconds after the call; a part that
// was added or removed is an undefined tensor.
func lateOf(tensors []Observation, n int) []Observation {
	parts := make([]Observation, n)
	all, _ := partsOf(tensors)
	copy(parts, all)
	return parts
}

// partsOf returns the parts of a subject's tensors, and their names: "values", or in a list "1.values".
func partsOf(tensors []Observation) (parts []Observation, names []string) {
	var collect func(prefix string, o *Observation)
	collect = func(prefix string, o *Observation) {
		if o.Content == nil {
			return
		}
		for i := range o.Content.Parts {
			p := &o.Content.Parts[i]
			parts, names = append(parts, p.Observation), append(names, prefix+p.Name)
			collect(prefix+p.Name+".", &p.Observation)
		}
	}
	for i := range tensors {
		prefix := ""
		if len(tensors) > 1 {
			prefix = strconv.Itoa(i) + "."
		}
		collect(prefix, &tensors[i])
	}
	return parts, names
}

func lengths(runs [][]Observation) []int {
	return slicesx.Map(runs, func(run []Observation) int { return len(run) })
}

func padded(names [][]string, n int) [][]string {
	return append(slices.Clone(names), make([][]string, max(0, n-len(names)))...)[:n]
}
