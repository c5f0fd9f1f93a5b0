package model

import (
	"fmt"

	"github.com/opassert/opassert/asserts/preserve"
)

// A Violation is one broken invariant.
type Violation struct {
	Code   preserve.Code
	Object Address
	Impl   ID
	Saw    string
}

// Error returns the violation in one line.
func (v *Violation) Error() string {
	return fmt.Sprintf("%s %s  object %d, impl %d: %s", v.Code, v.Code.Name(), v.Object, v.Impl, v.Saw)
}

// An object is a host object: a PyObject with a MaybeOwned cdata.
type object struct {
	at        Address
	serial    uint64 // unlike the address, never reused
	refs      int32
	impl      ID
	ref       Ref // owned cdata; nil while it is borrowed
	made      Context
	state     preserve.State
	finalize  func(Address)
	finalized int  // how often it was finalized
	taken     bool // being deallocated
	weak      []*Weak
	holds     []Address // the objects that its __dict__ refers to
}

// A Weak is a weak reference to an object.
type Weak struct{ object Address }

// A Machine runs the protocol on an engine's impls and checks the invariants at every step. It
// models all interpreters of one process. It is for one goroutine at a time; Yield plays the steps
// of other threads in between.
//
// Using a Machine against its contract (an address to which the caller has no reference) is not an
// error but a fault to be found: it is reported.
type Machine struct {
	// Report is called with every violation.
	Report func(Violation)
	// Yield, if not nil, is called wherever a thread without the interpreter's
	// lock could run: it may use other interpreters and any Ref.
	Yield func()

	engine   Engine
	protocol Protocol
	heap     []*object // by address; a free cell has serial 0
	free     []Address
	serial   uint64
	first    map[ID]uint64 // the serial of an impl's object
	live     int
}

// NewMachine returns a Machine without objects.
func NewMachine(e Engine, p Protocol) *Machine {
	return &Machine{
		Report:   func(Violation) {},
		engine:   e,
		protocol: p,
		heap:     []*object{{}},
		first:    map[ID]uint64{},
	}
}

// Live returns the number of objects.
func (m *Machine) Live() int { return m.live }

// Serial returns the number of the object at an address, which unlike the address is never reused;
// 0 for none.
func (m *Machine) Serial(a Address) uint64 { return m.at(a).serial }

// State returns the state of the object at an address.
func (m *Machine) State(a Address) preserve.State {
	if o := m.at(a); o.serial != 0 {
		return o.state
	}
	return preserve.Dead
}

func (m *Machine) at(a Address) *object {
	if int(a) >= len(m.heap) {
		a = 0
	}
	return m.heap[a]
}

// use returns the object at an address that something refers to.
func (m *Machine) use(a Address, what string) (*object, bool) {
	o := m.at(a)
	if o.serial == 0 {
		m.report(preserve.UseAfter, a, 0, what+" of a deallocated object")
		return nil, false
	}
	return o, true
}

func (m *Machine) report(c preserve.Code, a Address, id ID, saw string) {
	m.Report(Violation{c, a, id, saw})
}

// take makes the step in the object's life.
func (m *Machine) take(o *object, s preserve.Step) {
	to, code := m.protocol.rules().Next(o.state, s)
	if code != 0 {
		m.report(code, o.at, o.impl, fmt.Sprintf("%s while %s", s, o.state))
	}
	o.state = to
}

func (m *Machine) yield() {
	if m.Yield != nil {
		m.Yield()
	}
}

// Wrap returns the object of an impl, with one more reference, which the caller releases by
// [Machine.Decref]. It keeps r only by retaining it.
//
// The error is PyTorch's: the impl belongs to another interpreter, and it can't be copied.
//
// Source: THPVariable_Wrap, THPStorage_Wrap.
func (m *Machine) Wrap(ctx Context, r Ref) (Address, error) {
	if ctx.Hermetic {
		return m.create(ctx, r.Retain())
	}
	slot := r.Slot()
	s := slot.Load()
	switch {
	case s.Interp != 0 && s.Interp != ctx.Interp:
		c, ok := r.(Copier)
		if !ok {
			return 0, fmt.Errorf("impl %d: interpreter %d can't have its object: interpreter %d has", r.ID(), ctx.Interp, s.Interp)
		}
		return m.create(ctx, c.Copy())
	case s.Object == 0:
		return m.create(ctx, r.Retain())
	}
	o, ok := m.use(s.Object, "hand-out through the slot")
	if !ok {
		return s.Object, nil
	}
	m.handed(ctx, o, r.ID())
	if s.Owns && !m.protocol.counts {
		if !slot.CompareAndSwap(s, SlotState{s.Interp, s.Object, false}) {
			m.report(preserve.OneOwner, o.at, o.impl, "the slot changed while the object was resurrected")
		}
		o.ref = r.Retain()
		m.take(o, preserve.Resurrect) // the impl's reference is now the caller's
	} else {
		m.take(o, preserve.Hand)
		o.refs++
	}
	m.audit(o)
	return o.at, nil
}

// handed checks that ctx may get an object as that of an impl.
func (m *Machine) handed(ctx Context, o *object, id ID) {
	switch first := m.first[id]; {
	case first == o.serial:
	case o.impl == id:
		m.report(preserve.SameObject, o.at, id, "a second object for the impl")
	default:
		m.report(preserve.UseAfter, o.at, id, fmt.Sprintf("the slot leads to another object, that of impl %d", o.impl))
	}
	if o.made.Hermetic != ctx.Hermetic {
		m.report(preserve.Hermetic, o.at, id, fmt.Sprintf("made with hermetic %t, handed out with hermetic %t", o.made.Hermetic, ctx.Hermetic))
	}
	if o.made.Interp != ctx.Interp {
		m.report(preserve.OneInterpreter, o.at, id, fmt.Sprintf("made by interpreter %d, handed out in %d", o.made.Interp, ctx.Interp))
	}
}

// create makes an object that owns r.
//
// Source: THPVariable_NewWithVar, THPStorage_NewWithStorage.
func (m *Machine) create(ctx Context, r Ref) (Address, error) {
	id := r.ID()
	o := m.alloc()
	*o = object{at: o.at, serial: m.serial, refs: 1, impl: id, ref: r, made: ctx}
	m.take(o, preserve.Create)
	if ctx.Hermetic {
		m.audit(o)
		return o.at, nil
	}
	m.yield() // another interpreter may claim the impl first
	for slot := r.Slot(); ; {
		s := slot.Load()
		if s.Interp != 0 && s.Interp != ctx.Interp {
			m.recycle(o)
			r.Release()
			return 0, fmt.Errorf("impl %d: interpreter %d can't make its object: interpreter %d has claimed it", id, ctx.Interp, s.Interp)
		}
		holds := m.protocol.counts && o.ref.UseCount() > 1
		if slot.CompareAndSwap(s, SlotState{ctx.Interp, o.at, holds}) {
			if holds {
				o.refs++
			}
			break
		}
	}
	if _, again := m.first[id]; again {
		m.report(preserve.SameObject, o.at, id, "a second object for the impl")
	} else {
		m.first[id] = o.serial
	}
	m.audit(o)
	return o.at, nil
}

func (m *Machine) alloc() *object {
	m.serial++
	m.live++
	if n := len(m.free); n > 0 {
		a := m.free[n-1]
		m.free = m.free[:n-1]
		return m.at(a)
	}
	o := &object{at: Address(len(m.heap))}
	m.heap = append(m.heap, o)
	return o
}

// recycle frees an object's memory; the next object is made in it.
func (m *Machine) recycle(o *object) {
	*o = object{at: o.at}
	m.free = append(m.free, o.at)
	m.live--
}

// Incref adds a reference to an object to which the caller refers.
func (m *Machine) Incref(a Address) {
	if o, ok := m.use(a, "Incref"); ok {
		o.refs++
		m.audit(o)
	}
}

// Decref releases a reference to an object. The last one preserves or deallocates it. An impl that
// is freed calls it for the object that it owns.
func (m *Machine) Decref(ctx Context, a Address) {
	o, ok := m.use(a, "Decref")
	if !ok {
		return
	}
	o.refs--
	switch {
	case o.refs < 0:
		m.report(preserve.DoubleRelease, a, o.impl, "more references released than taken")
	case o.state == preserve.Preserved && m.lives(o.impl):
		m.report(preserve.DoubleRelease, a, o.impl, "the only reference is that of the impl, which lives")
		o.refs++
	case o.refs == 0 && !o.taken:
		m.dealloc(ctx, o)
	default:
		m.audit(o)
	}
}

// Hold makes the object at a refer to the object at b until a is deallocated: a.b = b.
func (m *Machine) Hold(a, b Address) {
	m.Incref(b)
	if o, ok := m.use(a, "Hold"); ok {
		o.holds = append(o.holds, b)
	}
}

// OnFinalize sets the finalizer that runs when the object is deallocated. It may take
// a reference to the object, which then stays alive and is not finalized again.
func (m *Machine) OnFinalize(a Address, f func(Address)) {
	if o, ok := m.use(a, "OnFinalize"); ok {
		o.finalize = f
	}
}

// Weaken returns a weak reference to an object.
func (m *Machine) Weaken(a Address) *Weak {
	w := &Weak{}
	if o, ok := m.use(a, "Weaken"); ok {
		w.object = a
		o.weak = append(o.weak, w)
	}
	return w
}

// Strengthen returns the object of a weak reference, with one more reference, or false
// if the object is gone. If the impl owns the object, ownership
// is fixed before it is visible.
//
// Source: Tensor._fix_weakref and its users, torch/multiprocessing/reductions.py.
func (m *Machine) Strengthen(ctx Context, w *Weak) (Address, bool) {
	a, ok := m.deref(w)
	if !ok {
		return 0, false
	}
	if err := m.fix(ctx, a); err != nil {
		return 0, false
	}
	o := m.at(a)
	m.handed(ctx, o, o.impl)
	m.audit(o)
	return a, true
}

// deref dereferences a weak reference like the host language: it adds a reference, and does not
// know about owners.
func (m *Machine) deref(w *Weak) (Address, bool) {
	o := m.at(w.object)
	if o.serial == 0 || o.taken {
		return 0, false
	}
	o.refs++
	return o.at, true
}

// fix makes the object own its impl again.
//
// Source: THPVariable_fix_weakref.
func (m *Machine) fix(ctx Context, a Address) error {
	o := m.at(a)
	if o.state != preserve.Preserved {
		return nil
	}
	r, ok := m.engine.Lock(o.impl)
	if !ok {
		m.report(preserve.UseAfter, a, o.impl, "a weak reference led to an object whose impl was freed")
		return fmt.Errorf("impl %d was freed", o.impl)
	}
	defer r.Release()
	// The object is returned once more, in a context that is not hermetic: a weak reference has no
	// hermetic state.
	b, err := m.Wrap(Context{Interp: ctx.Interp}, r)
	if err == nil {
		m.Decref(ctx, b)
	}
	return err
}

// audit checks that exactly one side owns the other, for one object at rest.
func (m *Machine) audit(o *object) {
	if o.taken {
		return
	}
	r := o.ref
	if r == nil {
		var lives bool
		if r, lives = m.engine.Lock(o.impl); !lives {
			m.report(preserve.UseAfter, o.at, o.impl, "the impl of a living object was freed")
			return
		}
		defer r.Release()
	}
	s, owned := r.Slot().Load(), o.ref != nil
	switch {
	case o.made.Hermetic:
		if s.Object == o.at {
			m.report(preserve.Hermetic, o.at, o.impl, "a slot points at an object made hermetically")
		}
	case s.Interp != o.made.Interp:
		m.report(preserve.OneInterpreter, o.at, o.impl, fmt.Sprintf("made by interpreter %d, the slot is tagged %d", o.made.Interp, s.Interp))
	case s.Object != o.at:
		m.report(preserve.SameObject, o.at, o.impl, "the slot no longer points at the living object")
	case m.protocol.counts:
		if shared := r.UseCount() > 1; s.Owns != shared {
			m.report(preserve.OneOwner, o.at, o.impl, fmt.Sprintf("the impl has a reference to the object: %t; others have the impl: %t", s.Owns, shared))
		}
	case s.Owns == owned:
		m.report(preserve.OneOwner, o.at, o.impl, fmt.Sprintf("the impl owns the object: %t; the object owns the impl: %t", s.Owns, owned))
	case s.Owns && o.refs != 1:
		m.report(preserve.OneOwner, o.at, o.impl, fmt.Sprintf("the impl owns an object with %d references", o.refs))
	}
}

func (m *Machine) lives(id ID) bool {
	r, ok := m.engine.Lock(id)
	if ok {
		r.Release()
	}
	return ok
}

// End checks that nothing leaked, when all outside references to objects and
// impls have been released and [Machine.Collect] has run in every interpreter.
func (m *Machine) End() {
	for _, o := range m.heap {
		if o.serial == 0 {
			continue
		}
		m.report(preserve.Leak, o.at, o.impl, fmt.Sprintf("%s with %d references, at the end", o.state, o.refs))
	}
}
