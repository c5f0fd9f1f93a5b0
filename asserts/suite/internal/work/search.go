package work

import (
	"cmp"
	"errors"
	"math/rand/v2"
	"slices"

	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/internal/design"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
)

// tries is how many times a case is changed after errors before it is given up, and undispatched
// how many times after errors of the dispatcher, which no values avoid.
const (
	tries        = 20
	undispatched = 8
)

// mostTries is the maximum, if each change brings the case closer.
const mostTries = 8 * tries

// vary returns a call that has all classes of a row, in the first setting that the kernel accepts,
// changed as its errors require, and the position of that setting.
func (r *Runner) vary(t *Target, row design.ClassRow, number int) (*attempt, *report.Origin, error) {
	d := t.design()
	rng := sample.NewRandom(0, t.Gen.Name, number)
	var last error
	for _, s := range d.Settings(row, t.Origins) {
		c := s.Base.Clone()
		c.Number = number
		if !d.Apply(c, row.Classes, s.Ways) || c.Huge() {
			continue
		}
		a, err := r.settle(t, c, rng, d.About(row), func(c *sample.Case) { d.Apply(c, row.Classes, s.Ways) })
		if err == nil {
			return a, &report.Origin{Base: slices.Index(d.Bases, s.Base), Way: s.Ways[0]}, nil
		}
		last = err
	}
	return nil, nil, last
}

// settle changes a call a few times by the rules for errors, except the values of the arguments that the case varies.
func (r *Runner) settle(t *Target, c *sample.Case, rng *rand.Rand, about []string,
	keep func(*sample.Case)) (*attempt, error) {
	ad := design.NewAdapter(t.operator, rng, design.Themes[0])
	ad.About = about
	key := c.Key()
	for left := steps; ; left-- {
		a, err := r.tryOnce(t, c, key)
		if err == nil {
			return a, nil
		}
		text, _ := engine.Demands(err) // rules do not apply to other errors
		if left == 0 || r.beyond(t.Gen.Name, text) != "" {
			return nil, err
		}
		next, ok := ad.Revise(c, text)
		if !ok {
			return nil, err
		}
		keep(next)
		changed := next.Key()
		if changed == key || //mutate:equivalent false: the unchanged case is not called again
			next.Huge() {
			return nil, err
		}
		c, key = next, changed
	}
}

// steps is how often a call with a value class is changed after errors.
const steps = 3

// A search is a sequence of attempts to find a call that the kernel accepts.
type search struct {
	a       *attempt     // nil: all failed
	err     error        // of the closest failed attempt
	closest *sample.Case // that attempt
	close   int          // the number of the kernel's own errors that it avoided
	first   error        // of the first attempt
}

// ran returns the call that the kernel accepted, or nil.
func (s *search) ran() *sample.Case {
	if s.a == nil {
		return nil
	}
	return s.a.c
}

// record records a failed search in the result of its case.
func (s *search) record(result *report.CaseResult) (*attempt, error) {
	if s.a != nil {
		return s.a, nil
	}
	result.Close, result.Closest = s.close, s.closest.Recipe()
	if errors.As(s.err, new(*unmade)) {
		result.Close = report.Unmade
	}
	return nil, s.err
}

// search changes a case until the kernel accepts it. Arguments that could not be made do not bring
// an attempt closer. Only recipes have huge tensors.
func (r *Runner) search(t *Target, rng *rand.Rand, c *sample.Case) *search {
	ad := design.NewAdapter(t.operator, rng, t.Gen.Theme(rng, c.Number))
	s := new(search)
	var last error
	best, text := c, ""
	far := 0 // errors of the dispatcher
	for left, all := tries, 0; left > 0 && far < undispatched && all < mostTries; left, all = left-1, all+1 {
		if c.Huge() && !best.Huge() {
			c = ad.Adapt(best, text)
			continue
		}
		a, err := r.tryOnce(t, c, c.Key())
		if err == nil {
			s.a = a
			return s
		}
		s.first = cmp.Or(s.first, err)
		thrown := false
		if text, thrown = engine.Demands(err); !thrown || r.beyond(t.Gen.Name, text) != "" {
			s.err, s.closest = err, c
			return s
		}
		unreached := dispatched(text)
		if unreached {
			far++
		}
		news := ad.Known(text) == 0 && !unreached
		called := !errors.As(err, new(*unmade))
		if called && news {
			s.close++
			left = tries
		}
		if s.closest == nil || called && (news || errors.As(s.err, new(*unmade))) {
			s.err, s.closest = err, c
		}
		switch {
		case news ||
			last == nil: //mutate:equivalent false: the first call is the best one
			best, last = c, err
		case !called || unreached || sample.OneIn(rng, 2):
			c = best // no progress: return to the best one
		default:
			best = c
		}
		c = ad.Adapt(c, text)
	}
	return s
}

// dispatched reports whether an error is from the dispatcher or one of its fallbacks: no kernel was reached.
func dispatched(text string) bool {
	return design.ContainsAny(text, []string{"Could not run '", "There were no tensor arguments to this function",
		"ZeroTensors are immutable", "Found a custom (non-ATen) operator", "is not yet supported with named tensors",
		"PyTorch's fallback for conj and neg tensors"})
}
