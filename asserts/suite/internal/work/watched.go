package work

import (
	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
)

// A watcher is an engine that records how kernels access memory.
type watcher interface {
	// Watched reports whether it does.
	Watched() bool
	// Arrange sets where new tensors lie, behind a page that can't be touched or before
	// one, and what their memory holds until it is written.
	Arrange(ahead bool, fill byte)
	// Touched returns what the last call of an op touched that it may not, and the
	// number of storages since Arrange that lie in memory that is not watched.
	Touched(op *asserts.Op) (faults []asserts.Fault, unwatched int)
}

// watcher returns the engine if it records how kernels access memory, else nil.
func (r *Runner) watcher() watcher {
	if e, ok := r.Engine.(watcher); ok && e.Watched() {
		return e
	}
	return nil
}

// ahead reports whether the tensors of a case lie behind a page that can't be touched, as
// those of every fourth case do; the others lie before one, as kernels go beyond an end more often.
func (r *Runner) ahead(c *sample.Case) bool { return r.watcher() != nil && c.Number%4 == 1 }

func (r *Runner) arrange(c *sample.Case, fill byte) {
	if w := r.watcher(); w != nil {
		w.Arrange(r.ahead(c), fill)
	}
}

// touched returns what the last call touched that it may not, and the number of storages
// that are not watched.
func (r *Runner) touched(t *Target) ([]asserts.Fault, int) {
	if w := r.watcher(); w != nil {
		return w.Touched(t.judged)
	}
	return nil, 0
}

// arguments makes those of a case in memory that is filled with a byte, and seeds the engine.
func (r *Runner) arguments(m *maker, c *sample.Case, fill byte) (*sample.Case, []any, error) {
	r.arrange(c, fill)
	c, args, err := m.made(c)
	if err == nil {
		err = r.Engine.Seed(int64(r.Seed))
	}
	return c, args, err
}
