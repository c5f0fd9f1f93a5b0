package work

import (
	"regexp"

	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/internal/probe"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
)

// watcher returns the engine if it records how kernels access memory, else nil.
func (r *Runner) watcher() engine.MemoryWatcher {
	if e, ok := r.Engine.(engine.MemoryWatcher); ok && e.Watched() {
		return e
	}
	return nil
}

func (r *Runner) arrange(t *Target, how probe.Setup) {
	switch w := r.watcher(); {
	case w == nil:
	case how.Reused:
		w.Reuse(t.aligned, how.Fill)
	default:
		w.Arrange(how.GuardBefore, t.aligned, how.Fill)
	}
}

func (r *Runner) touched(t *Target) (touched memory) {
	if w := r.watcher(); w != nil {
		touched.faults, touched.unwatched, touched.unfilled = w.MemoryFaults(t.judged)
	}
	return touched
}

// arguments makes those of a case in an arrangement, and seeds the engine.
func (r *Runner) arguments(t *Target, m *maker, c *sample.Case, how probe.Setup) (*sample.Case, []any, error) {
	r.arrange(t, how)
	m.Setup = how
	c, args, err := m.made(c)
	if err == nil {
		err = r.seed(how)
	}
	return c, args, err
}

func (r *Runner) seed(how probe.Setup) error { return r.Engine.Seed(int64(r.Seed + how.Seed)) }

// demands matches the messages of kernels that refuse tensors which are not aligned for vectors.
var demands = regexp.MustCompile(`(?i)\b(un|mis)?-?align(ed|ment)?\b`)

// aligns reports whether an op refused tensors by their alignment, for the first time: from then on
// they are aligned as those that an allocator returns.
func (r *Runner) aligns(t *Target, err error) bool {
	if message, _ := engine.Message(err); t.aligned || r.watcher() == nil || !demands.MatchString(message) {
		return false
	}
	t.aligned = true
	return true
}
