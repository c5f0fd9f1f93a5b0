package work

import (
	"slices"

	"github.com/opassert/opassert/asserts/suite/internal/sample"
)

// mostSettings is for how many values of an op's other arguments a call is made with
// tensors of other sizes, or another seed.
const mostSettings = 8

// setting returns the part that cases share whose tensors alone differ.
func setting(c *sample.Case) string {
	like := c.Clone()
	for _, spec := range like.Tensors() {
		*spec = sample.TensorSpec{}
	}
	return like.String()
}

// matrices returns the tensors with two dimensions and more.
func matrices(all []*sample.TensorSpec) []*sample.TensorSpec {
	return slices.DeleteFunc(all, func(t *sample.TensorSpec) bool { return len(t.Sizes) < 2 })
}
