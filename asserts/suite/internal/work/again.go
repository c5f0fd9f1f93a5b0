package work

import (
	"iter"

	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
)

// A tensorChange modifies the tensors of a case.
type tensorChange func([]*sample.TensorSpec)

func asItIs([]*sample.TensorSpec) {}

// again calls the op with each change of a case, and yields the calls that do not throw.
func (r *Runner) again(t *Target, c *sample.Case, changes ...tensorChange) iter.Seq[*attempt] {
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

// held returns an attempt that still has its results: a itself, or the same call repeated.
func (r *Runner) held(t *Target, a *attempt) *attempt {
	if a.calls[0].seen.Earlier == nil && len(r.earlier.tensors) > 0 {
		for b := range r.again(t, a.c, asItIs) {
			return b
		}
	}
	return a
}

// showsInNext reports whether the next call may show that the kernel returned a tensor which it
// keeps, while the first result is alive, although no use_count does: for a base or a single class.
func (r *Runner) showsInNext(t *Target, number int) bool {
	_, keeps := r.Engine.(engine.ArgumentKeeper)
	return (keeps || t.operator.Uncounted) && (number < t.planned() || number < t.design().Apart())
}
