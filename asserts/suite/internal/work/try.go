package work

import (
	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
)

// An attempt is one call that did not throw.
type attempt struct {
	c     *sample.Case
	cpu   *asserts.Seen
	meta  *asserts.Seen
	why   string         // there is no meta
	lacks map[string]int // what the call wanted and the library lacks, by how often
}

// Try makes the case's tensors and calls the op, on meta too where the level
// asks for it.
func (r *Runner) Try(t *Target, c *sample.Case) (*attempt, error) {
	if t.Trying != nil {
		t.Trying(c)
		defer t.Trying(nil)
	}
	m := maker{engine: r.Engine, room: &r.room}
	defer m.release()
	c, args, err := m.made(c)
	if err != nil {
		return nil, &unmade{err}
	}
	if t.Trying != nil && len(m.lacks) > 0 {
		t.Trying(c)
	}
	a := &attempt{c: c, lacks: m.lacks}
	var twins []any
	if r.Level >= asserts.Meta {
		twins, a.why = r.twins(&m, c, args)
	}
	if t.NoMeta {
		twins, a.why = nil, "a call of the op on meta ended its process"
	}
	if err := r.Engine.Seed(int64(r.Seed)); err != nil {
		return nil, &unmade{err}
	}
	t.on(engine.CPU)
	out, err := r.Engine.Call(t.Gen.Name, args, min(r.Level, asserts.Content))
	if err != nil {
		return nil, err
	}
	out.Seen.Earlier = r.earlier.now(r.Engine, t)
	out.Seen.Number()
	r.keep(t, &m, args, &out)
	a.cpu = &out.Seen
	if twins != nil {
		t.on(engine.Meta)
		r.callMeta(t, a, twins)
	}
	return a, nil
}

// An unmade error is that of a call for which something could not be made.
type unmade struct{ error }

func (u *unmade) Unwrap() error { return u.error }
