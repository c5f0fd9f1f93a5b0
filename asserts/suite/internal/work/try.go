package work

import (
	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/internal/probe"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
)

// Try makes the case's tensors and calls the op, also on other devices if the level requires it.
func (r *Runner) Try(t *Target, c *sample.Case) (*attempt, error) {
	if t.Trying != nil {
		t.Trying(c)
		defer t.Trying(nil)
	}
	m := maker{engine: r.Engine, room: &r.room}
	defer m.release()
	c, args, err := r.arguments(t, &m, c, probe.First)
	if err != nil {
		return nil, &unmade{err}
	}
	if t.Trying != nil && len(m.lacks) > 0 {
		t.Trying(c)
	}
	a := &attempt{c: c, lacks: m.lacks, calls: r.calls(t, &m, c, args)}
	first := &a.calls[0]
	if t.Calling != nil {
		t.Calling(first.on)
	}
	out, err := r.Engine.Call(t.Gen.Name, args, min(r.Level, asserts.Content))
	if r.aligns(t, err) {
		return r.Try(t, c)
	}
	if err != nil {
		r.unjudged = c
		r.threw(t, c, &out.Seen, err)
		r.judgeThrownFaults(t, c, err)
		r.leavesState(t, c, err)
		r.refuses(t, a, err)
		return nil, err
	}
	out.Seen.Earlier = r.earlier.now(r.Engine, t)
	out.Seen.Number()
	r.keep(t, &m, args, &out)
	first.seen = &out.Seen
	a.memory = r.touched(t)
	first.left = r.left()
	for i := range a.calls[1:] { // other kernels, whose changes besides tensors are their own
		c := &a.calls[i+1]
		r.callTwins(t, c)
		c.left = r.left()
	}
	a.fake, a.rules = r.fakeOf(t, a.c), r.rulesOf(t, a.c)
	return a, nil
}

// An unmade error is that of a call whose arguments could not be made.
type unmade struct{ error }

func (u *unmade) Unwrap() error { return u.error }

// tryOnce is Try, unless a call with the key was made before: then it returns its error, or an attempt without calls.
func (r *Runner) tryOnce(t *Target, c *sample.Case, key string) (*attempt, error) {
	if before := t.made[key]; before != nil && before.err != nil {
		return nil, before.err
	} else if before != nil {
		return &attempt{c: before.c, lacks: before.result.Lacks, before: before}, nil
	}
	a, err := r.Try(t, c)
	if err == nil {
		a.key = key
	} else if _, thrown := engine.Message(err); thrown {
		t.made[key] = &cachedResult{c: c, err: err}
	}
	return a, err
}
