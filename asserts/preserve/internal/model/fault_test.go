package model

import (
	"slices"
	"testing"

	"github.com/opassert/opassert/asserts/preserve"
)

var (
	plain    = Context{Interp: 1}
	hermetic = Context{Interp: 1, Hermetic: true}
	other    = Context{Interp: 2}
)

// A scene is a machine on the plain engine that collects what is reported.
type scene struct {
	*Machine
	t     *testing.T
	e     *testEngine
	found []preserve.Code
}

func newScene(t *testing.T, p Protocol) *scene {
	e := newTestEngine()
	s := &scene{Machine: e.NewMachine(p), t: t, e: e}
	e.OnFree(s.Decref)
	s.Report = func(v Violation) { s.found = append(s.found, v.Code) }
	return s
}

func (s *scene) wrap(ctx Context, r Ref) Address {
	s.t.Helper()
	a, err := s.Wrap(ctx, r)
	if err != nil {
		s.t.Fatal(err)
	}
	return a
}

func (s *scene) slot(r Ref) *SlotState { return &s.e.impls[r.ID()].slot.s }

func (s *scene) want(state preserve.State, a Address) {
	s.t.Helper()
	if got := s.State(a); got != state {
		s.t.Errorf("object %d is %s, want %s", a, got, state)
	}
}

func TestProtocol(t *testing.T) {
	s := newScene(t, Mended)
	runs := 0

	tensor := s.e.NewImpl(false)
	a := s.wrap(plain, tensor)
	serial := s.Serial(a)
	s.OnFinalize(a, func(Address) { runs++ })
	w := s.Weaken(a)
	s.want(preserve.Holding, a)

	s.Decref(hermetic, a) // the place of the release does not matter
	s.want(preserve.Preserved, a)
	if u := tensor.UseCount(); u != 1 {
		t.Errorf("use count %d while the impl owns the object, want 1", u)
	}

	if b, ok := s.Strengthen(plain, w); !ok || b != a {
		t.Errorf("weak reference gave %d, %t", b, ok)
	}
	s.want(preserve.Holding, a)
	s.Decref(plain, a)

	if b := s.wrap(plain, tensor); b != a || s.Serial(b) != serial {
		t.Errorf("got another object")
	}
	s.Hold(a, a)
	s.Decref(plain, a)
	s.Collect(plain)
	s.want(preserve.Holding, a) // in a cycle, and a root
	if runs != 0 {
		t.Errorf("finalized %d times while the impl lives", runs)
	}

	tensor.Release()
	s.want(preserve.Holding, a) // in a cycle, and garbage now
	s.Collect(plain)
	s.want(preserve.Dead, a)
	if runs != 1 {
		t.Errorf("finalized %d times, want once", runs)
	}
	if _, ok := s.Strengthen(plain, w); ok {
		t.Error("a weak reference outlived its object")
	}

	h := s.e.NewImpl(true)
	own := s.wrap(hermetic, h)
	if x := s.wrap(hermetic, h); x == own {
		t.Error("a hermetic context got one object twice")
	} else {
		s.Decref(hermetic, x)
	}
	outside := s.wrap(plain, h)
	if outside == own {
		t.Error("an object made hermetically was handed out")
	}
	s.Decref(plain, own)
	s.want(preserve.Dead, own) // although the impl is shared
	foreign := s.wrap(other, h)
	if s.at(foreign).impl == h.ID() {
		t.Error("two interpreters share one storage impl")
	}
	if _, err := s.Wrap(other, tensor2(s)); err == nil {
		t.Error("two interpreters share one tensor impl")
	}
	s.Decref(other, foreign)
	s.Decref(plain, outside)
	h.Release()
	if len(s.found) > 0 {
		t.Errorf("reported %v", s.found)
	}
}

// tensor2 returns a tensor that interpreter 1 has claimed.
func tensor2(s *scene) Ref {
	r := s.e.NewImpl(false)
	s.Decref(plain, s.wrap(plain, r))
	return r
}

// Each invariant is violated by a planted fault: a slot with a wrong state, a protocol with a
// missing or misplaced step, or a caller that breaks the contract.
func TestPlantedFaults(t *testing.T) {
	finalizeFirst := Protocol{name: "finalize first", untraversed: preservable, stays: preservable,
		dealloc: []deallocStep{finalize, preserveIf(preservable), clearWeak, clearHolds, releaseImpl, free}}
	finalizeTwice := Protocol{name: "finalize twice", untraversed: preservable, stays: preservable,
		dealloc: []deallocStep{finalize, func(m *Machine, _ Context, o *object) bool { m.runFinalizer(o); return false }, free}}
	keepImpl := Protocol{name: "keep impl", untraversed: preservable, stays: preservable,
		dealloc: []deallocStep{preserveIf(preservable), finalize, clearWeak, clearHolds, free}}
	noRoots := Protocol{name: "no roots", dealloc: Mended.dealloc,
		untraversed: never, stays: never}

	flips := Counting
	flips.dealloc = append([]deallocStep{preserveIf(preservable)}, Counting.dealloc...)

	tripped := map[preserve.Code]bool{}
	for _, tt := range []struct {
		name  string
		p     Protocol
		fault func(*scene, Ref)
		want  []preserve.Code
	}{
		{"the slot forgets its object", Mended, func(s *scene, r Ref) {
			s.Decref(plain, s.wrap(plain, r))
			*s.slot(r) = SlotState{Interp: 1}
			s.wrap(plain, r)
		}, []preserve.Code{preserve.SameObject}},
		{"the slot is emptied under a living object", Mended, func(s *scene, r Ref) {
			a := s.wrap(plain, r)
			*s.slot(r) = SlotState{Interp: 1}
			s.Incref(a)
		}, []preserve.Code{preserve.SameObject}},
		{"released hermetically, preservation skipped", Faulty, func(s *scene, r Ref) {
			s.Decref(hermetic, s.wrap(plain, r))
		}, []preserve.Code{preserve.SharedDealloc}},
		{"and another object is found there", Faulty, func(s *scene, r Ref) {
			s.Decref(hermetic, s.wrap(plain, r))
			s.wrap(plain, s.e.NewImpl(true))
			s.wrap(plain, r)
		}, []preserve.Code{preserve.SharedDealloc, preserve.UseAfter}},
		{"and nothing is found there", Faulty, func(s *scene, r Ref) {
			s.Decref(hermetic, s.wrap(plain, r))
			s.wrap(plain, r)
		}, []preserve.Code{preserve.SharedDealloc, preserve.UseAfter}},
		{"a collector without roots", noRoots, func(s *scene, r Ref) {
			a := s.wrap(plain, r)
			s.OnFinalize(a, func(Address) {})
			s.Hold(a, a)
			s.Decref(plain, a)
			s.Collect(plain)
		}, []preserve.Code{preserve.Finalizer}},
		{"a hermetic context takes a strong reference from a weak one", Mended, func(s *scene, r Ref) {
			s.Strengthen(hermetic, s.Weaken(s.wrap(plain, r)))
		}, []preserve.Code{preserve.Hermetic}},
		{"an object made hermetically gets into a slot", Mended, func(s *scene, r Ref) {
			a := s.wrap(hermetic, r)
			*s.slot(r) = SlotState{Interp: 1, Object: a}
			s.Incref(a)
		}, []preserve.Code{preserve.Hermetic}},
		{"the slot loses its tag", Mended, func(s *scene, r Ref) {
			a := s.wrap(plain, r)
			s.slot(r).Interp = 0
			s.Incref(a)
		}, []preserve.Code{preserve.OneInterpreter}},
		{"the slot takes another's tag", Mended, func(s *scene, r Ref) {
			s.wrap(plain, r)
			s.slot(r).Interp = 2
			s.wrap(other, r)
		}, []preserve.Code{preserve.OneInterpreter, preserve.OneInterpreter}},
		{"the slot forgets that it owns", Mended, func(s *scene, r Ref) {
			s.Decref(plain, s.wrap(plain, r))
			s.slot(r).Owns = false
			s.wrap(plain, r)
		}, []preserve.Code{preserve.OneOwner, preserve.OneOwner}},
		{"the slot claims to own", Mended, func(s *scene, r Ref) {
			a := s.wrap(plain, r)
			s.slot(r).Owns = true
			s.Incref(a)
		}, []preserve.Code{preserve.OneOwner}},
		{"a weak reference is strengthened and ownership not fixed", Mended, func(s *scene, r Ref) {
			a := s.wrap(plain, r)
			w := s.Weaken(a)
			s.Decref(plain, a)
			s.deref(w)
			s.audit(s.at(a))
		}, []preserve.Code{preserve.OneOwner}},
		{"use after deallocation", Mended, func(s *scene, r Ref) {
			a := s.wrap(hermetic, r)
			s.Decref(hermetic, a)
			s.Incref(a)
		}, []preserve.Code{preserve.UseAfter}},
		{"the impl goes and its object stays", Mended, func(s *scene, r Ref) {
			a := s.wrap(plain, r)
			s.Decref(plain, a)
			s.slot(r).Owns = false
			r.Release()
			s.Incref(a)
		}, []preserve.Code{preserve.UseAfter}},
		{"a reference is never released", Mended, func(s *scene, r Ref) {
			s.wrap(plain, r)
			r.Release()
			s.End()
		}, []preserve.Code{preserve.Leak}},
		{"deallocated without releasing the impl", keepImpl, func(s *scene, r Ref) {
			s.Decref(hermetic, s.wrap(hermetic, r))
		}, []preserve.Code{preserve.Leak}},
		{"finalized before the check for preservation", finalizeFirst, func(s *scene, r Ref) {
			a := s.wrap(plain, r)
			s.OnFinalize(a, func(Address) {})
			s.Decref(plain, a)
		}, []preserve.Code{preserve.Finalizer}},
		{"finalized twice", finalizeTwice, func(s *scene, r Ref) {
			a := s.wrap(hermetic, r)
			s.OnFinalize(a, func(Address) {})
			s.Decref(hermetic, a)
		}, []preserve.Code{preserve.Finalizer, preserve.Leak}},
		{"a preserved object is released once more", Mended, func(s *scene, r Ref) {
			a := s.wrap(plain, r)
			s.Decref(plain, a)
			s.Decref(plain, a)
		}, []preserve.Code{preserve.DoubleRelease}},
		{"the impl's reference is released by another", Counting, func(s *scene, r Ref) {
			a := s.wrap(plain, r)
			s.Decref(plain, a)
			s.Decref(plain, a)
		}, []preserve.Code{preserve.DoubleRelease, preserve.SharedDealloc, preserve.DoubleRelease}},
		{"the impl loses its mark", Counting, func(s *scene, r Ref) {
			a := s.wrap(plain, r)
			s.slot(r).Owns = false
			s.Incref(a)
		}, []preserve.Code{preserve.OneOwner}},
		{"the impl keeps its reference when only its object has it", Counting, func(s *scene, r Ref) {
			a := s.wrap(plain, r)
			s.e.counts = false
			r.Release()
			s.Decref(plain, a)
			s.End()
		}, []preserve.Code{preserve.OneOwner, preserve.Leak}},
		{"ownership flips where both sides count", flips, func(s *scene, r Ref) {
			a := s.wrap(plain, r)
			s.slot(r).Owns = false
			s.at(a).refs--
			s.Decref(plain, a)
		}, []preserve.Code{preserve.OneOwner, preserve.SharedDealloc}},
		{"the slot forgets its object where both sides count", Counting, func(s *scene, r Ref) {
			s.wrap(plain, r)
			*s.slot(r) = SlotState{Interp: 1}
			s.wrap(plain, r)
		}, []preserve.Code{preserve.SameObject}},
		{"a slot leads to a freed object where both sides count", Counting, func(s *scene, r Ref) {
			x := s.e.NewImpl(true)
			a := s.wrap(plain, x)
			x.Release()
			s.Decref(plain, a)
			*s.slot(r) = SlotState{1, a, false}
			s.wrap(plain, r)
		}, []preserve.Code{preserve.UseAfter}},
		{"a finalizer releases what it did not take", Mended, func(s *scene, r Ref) {
			a := s.wrap(hermetic, r)
			s.OnFinalize(a, func(a Address) { s.Decref(hermetic, a); s.Decref(hermetic, a) })
			s.Decref(hermetic, a)
		}, []preserve.Code{preserve.DoubleRelease}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newScene(t, tt.p)
			tt.fault(s, s.e.NewImpl(true))
			if !slices.Equal(s.found, tt.want) {
				t.Errorf("found %v, want %v", s.found, tt.want)
			}
			for _, c := range s.found {
				tripped[c] = true
			}
		})
	}
	for c := preserve.SameObject; int(c) < preserve.NumCodes; c++ {
		if !tripped[c] {
			t.Errorf("no planted fault trips %s %s", c, c.Name())
		}
	}
}

// A cycle of garbage refers to an object that stays, which refers to one that nothing else does.
// Whether that one stays because the object is not traversed, and not because something else refers
// to it, shows when the collector traverses it, and when it clears it.
func TestCollectorSparesWhatStays(t *testing.T) {
	for _, tt := range []struct {
		name                            string
		p                               Protocol
		attribute, attributeOfAttribute bool // live on
	}{
		{"as PyTorch does", Mended, true, true},
		{"traverses what stays", Protocol{"traverses", Mended.dealloc, never, preservable, false}, true, false},
		{"clears what stays", Protocol{"clears", Mended.dealloc, preservable, never, false}, false, false},
		{"does both", Protocol{"both", Mended.dealloc, never, never, false}, false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newScene(t, tt.p)
			shared := s.e.NewImpl(true)
			var at []Address // garbage, what stays, its attribute, and that one's
			for _, r := range []Ref{s.e.NewImpl(true), shared, s.e.NewImpl(true), s.e.NewImpl(true)} {
				at = append(at, s.wrap(plain, r))
				if r != shared {
					r.Release()
				}
			}
			s.Hold(at[0], at[0])
			for i := range at[:3] {
				s.Hold(at[i], at[i+1])
			}
			for _, a := range at {
				s.Decref(plain, a)
			}
			s.Collect(plain)
			s.want(preserve.Dead, at[0])
			s.want(preserve.Preserved, at[1])
			for i, lives := range []bool{tt.attribute, tt.attributeOfAttribute} {
				if got := s.State(at[2+i]) != preserve.Dead; got != lives {
					t.Errorf("attribute %d lives: %t, want %t", i+1, got, lives)
				}
			}
		})
	}
}

// Random play finds protocols that are wrong anywhere.
func TestInterleavingsFindPlantedProtocols(t *testing.T) {
	always := func(_ Context, o *object) bool { return o.ref != nil && !o.made.Hermetic }
	for _, p := range []Protocol{
		{"never preserves", []deallocStep{finalize, clearWeak, clearHolds, releaseImpl, free}, preservable, preservable, false},
		{"finalizes first", []deallocStep{finalize, preserveIf(preservable), clearWeak, clearHolds, releaseImpl, free}, preservable, preservable, false},
		{"does not finalize", []deallocStep{preserveIf(preservable), clearWeak, clearHolds, releaseImpl, free}, preservable, preservable, false},
		{"leaves weak references", []deallocStep{preserveIf(preservable), finalize, clearHolds, releaseImpl, free}, preservable, preservable, false},
		{"keeps what it held", []deallocStep{preserveIf(preservable), finalize, clearWeak, releaseImpl, free}, preservable, preservable, false},
		{"keeps the impl", []deallocStep{preserveIf(preservable), finalize, clearWeak, clearHolds, free}, preservable, preservable, false},
		{"keeps the memory", []deallocStep{preserveIf(preservable), finalize, clearWeak, clearHolds, releaseImpl}, preservable, preservable, false},
		{"collects what stays", Mended.dealloc, never, never, false},
		{"traverses what stays", Mended.dealloc, never, preservable, false},
		{"collects nothing that holds", Mended.dealloc, always, always, false},
		{"counts, and does not finalize", []deallocStep{clearWeak, clearHolds, releaseImpl, free}, never, never, true},
		{"counts, and keeps the impl", []deallocStep{finalize, clearWeak, clearHolds, free}, never, never, true},
		{"counts, and flips", []deallocStep{preserveIf(preservable), finalize, clearWeak, releaseImpl, free}, never, never, true},
		{"counts, and collects nothing that holds", Counting.dealloc, always, always, true},
	} {
		t.Run(p.name, func(t *testing.T) {
			s := seedOrClock()
			for n := range uint64(20) { // some games reach a state in which nothing goes wrong
				g := NewPlayer(s+n, newTestEngine(), p)
				if g.Play(20_000); g.wrong != nil || len(g.found) > 0 {
					return
				}
			}
			t.Errorf("seed %d: not found in 20 games", s)
		})
	}
}

func TestCodes(t *testing.T) {
	seen := map[string]bool{}
	for c := preserve.SameObject; int(c) < preserve.NumCodes; c++ {
		for _, s := range []string{c.String(), c.Name()} {
			if got, ok := preserve.ParseCode(s); !ok || got != c {
				t.Errorf("ParseCode(%q) = %v, %t", s, got, ok)
			}
		}
		if c.Rule() == "" || seen[c.Rule()] {
			t.Errorf("%s has no rule of its own", c)
		}
		seen[c.Rule()] = true
	}
	if preserve.SameObject.String() != "OA101" || preserve.DoubleRelease.String() != "OA109" {
		t.Error("codes moved")
	}
	if _, ok := preserve.ParseCode("OA100"); ok {
		t.Error("OA100 is not code")
	}
}
