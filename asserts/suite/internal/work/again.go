package work

import (
	"iter"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/internal/probe"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
)

// again calls the op with each change of a case, and yields the calls that do not throw.
func (r *Runner) again(t *Target, c *sample.Case, changes ...probe.Change) iter.Seq[*attempt] {
	return func(yield func(*attempt) bool) {
		for _, change := range changes {
			like := c.Clone()
			change(t.operator.Schema, like)
			if a, err := r.Try(t, like); err == nil && !yield(a) {
				return
			}
		}
	}
}

// held returns an attempt that still has its results: a itself, or the same call repeated.
func (r *Runner) held(t *Target, a *attempt) *attempt {
	if a.calls[0].seen.Earlier == nil && len(r.earlier.tensors) > 0 {
		for b := range r.again(t, a.c, probe.Unchanged) {
			return b
		}
	}
	return a
}

// needsSecondCall reports whether the next call may show that the kernel returned a tensor which it
// keeps, while the first result is alive, although no use_count does: for a base or a single class.
func (r *Runner) needsSecondCall(t *Target, number int) bool {
	_, keeps := r.Engine.(engine.ArgumentKeeper)
	return (keeps || t.operator.Uncounted) && (number < t.planned() || number < t.design().Apart())
}

// seenAgain makes calls with new arguments, each in another setup, and returns the observations; nil if one throws.
func (r *Runner) seenAgain(t *Target, c *sample.Case, ways ...probe.Setup) (all []*asserts.Seen) {
	for _, how := range ways {
		args := r.made(t, c, how)
		if args == nil {
			return nil
		}
		defer args.Release()
		seen := args.Call()
		if seen == nil {
			return nil
		}
		all = append(all, seen)
	}
	return all
}

// arguments are those of calls in one setup.
type arguments struct {
	maker
	r     *Runner
	t     *Target
	c     *sample.Case
	args  []any
	calls int
}

// made makes the arguments of a case, and seeds the engine; nil if it can't.
func (r *Runner) made(t *Target, c *sample.Case, how probe.Setup) *arguments {
	a := &arguments{maker: maker{engine: r.Engine, room: &r.room}, r: r, t: t}
	var err error
	if a.c, a.args, err = r.arguments(t, &a.maker, c, how); err != nil {
		a.Release()
		return nil
	}
	return a
}

func (a *arguments) Release() { a.release() }

// Call makes the call, and returns the observations; nil if it throws.
func (a *arguments) Call() *asserts.Seen {
	if a.calls++; a.calls > 1 && a.r.seed(a.Setup) != nil {
		return nil
	}
	if a.Twin {
		twin := deviceCall{on: engine.CPU}
		twin.args, twin.why = a.r.twins(&a.maker, a.c, a.args, twin.on)
		a.r.callTwins(a.t, &twin)
		return twin.seen
	}
	if a.Threads {
		e := a.r.Engine.(engine.Threaded)
		e.Threads(2)
		defer e.Threads(1)
	}
	out, err := a.r.Engine.Call(a.t.Gen.Name, a.args, asserts.Content)
	if err != nil {
		return nil
	}
	engine.Release(out.Results)
	return &out.Seen
}

// Copy writes the tensors of others with the same case into these.
func (a *arguments) Copy(from probe.Arguments) bool {
	w, writes := a.r.Engine.(engine.Writer)
	for i, held := range a.tensors {
		if writes {
			if !w.Write(held, from.(*arguments).tensors[i]) {
				return false
			}
			continue
		}
		if _, err := from.(*arguments).results("aten::copy_", []any{held, from.(*arguments).tensors[i], false}); err != nil {
			return false
		}
	}
	return true
}
