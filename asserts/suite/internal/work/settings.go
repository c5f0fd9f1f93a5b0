package work

import (
	"slices"

	"github.com/opassert/opassert/asserts/suite/internal/sample"
	"github.com/opassert/opassert/internal/tensor"
)

// mostSettings is the number of settings of an op's other arguments with which a call is repeated
// with tensors of other sizes, another seed, or more threads.
const mostSettings = 8

// once are the settings of an op, or its messages, for which a call was made.
type once map[string]bool

// first reports whether a key is new, and the limit is not reached.
func (o once) first(key string) bool {
	if o[key] || len(o) == mostSettings {
		return false
	}
	o[key] = true
	return true
}

// setting returns the part that is equal for cases which differ only in their tensors, with
// elements or without.
func setting(c *sample.Case) string {
	like := c.Clone()
	for _, spec := range like.Tensors() {
		*spec = sample.TensorSpec{Sizes: []int64{min(tensor.Numel(spec.Sizes), 1)}}
	}
	return like.String()
}

// matrices returns the tensors with two dimensions and more.
func matrices(all []*sample.TensorSpec) []*sample.TensorSpec {
	return slices.DeleteFunc(all, func(t *sample.TensorSpec) bool { return len(t.Sizes) < 2 })
}
