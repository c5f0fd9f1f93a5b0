package work

import (
	"iter"

	"github.com/opassert/opassert/asserts/suite/internal/sample"
)

// A change makes the tensors of a case other ones.
type change func([]*sample.TensorSpec)

func asItIs([]*sample.TensorSpec) {}

// again makes the call of a case again with each change, and yields those that the kernel takes.
func (r *Runner) again(t *Target, c *sample.Case, changes ...change) iter.Seq[*attempt] {
	return func(yield func(*attempt) bool) {
		for _, change := range changes {
			like := c.Clone()
			change(like.Tensors())
			if a, err := r.Try(t, like); err == nil && !yield(a) {
				return
			}
		}
	}
}

// held returns an attempt in which results of an earlier call are held: the call is made
// again where none were.
func (r *Runner) held(t *Target, a *attempt) *attempt {
	if a.calls[0].seen.Earlier == nil && len(r.earlier.tensors) > 0 {
		for b := range r.again(t, a.c, asItIs) {
			return b
		}
	}
	return a
}

// showsInNext reports whether a kernel may return what it keeps for the arguments of a
// base, or of a class alone, and no count of uses shows it: the next call does, while the
// first result is still held.
func (r *Runner) showsInNext(t *Target, number int) bool {
	_, keeps := r.Engine.(keeper)
	return (keeps || t.operator.Uncounted) && (number < t.planned() || number < t.design().Apart())
}
