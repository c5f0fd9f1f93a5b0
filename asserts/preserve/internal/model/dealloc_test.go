package model

import "github.com/opassert/opassert/asserts/preserve"

// A Protocol describes how objects are deallocated. The zero value is not valid.
type Protocol struct {
	name string
	// dealloc lists the steps for an object without references, until a step decides that it stays.
	dealloc []deallocStep
	// untraversed reports whether the collector is not shown what an object
	// refers to, and stays whether it leaves the object alone.
	untraversed, stays check
	// counts: ownership does not flip. The object always owns the impl, and the impl has a
	// reference to the object while it is shared; so the slot declares.
	counts bool
}

func (p Protocol) rules() preserve.Protocol {
	if p.counts {
		return preserve.Counting
	}
	return preserve.Flipping
}

func (p Protocol) String() string { return p.name }

type (
	deallocStep func(*Machine, Context, *object) (stays bool)
	check       func(Context, *object) bool
)

// Mended is the protocol as PyTorch has it since storages remember whether
// they were made hermetically: whether an object is preserved depends on how
// it was made, and not on where it is released.
//
// Source: torch/csrc/Storage.cpp, THPStorage_subclass_dealloc and
// THPStorage_isPreservable.
var Mended = Protocol{
	name:        "mended",
	dealloc:     []deallocStep{preserveIf(preservable), finalize, clearWeak, clearHolds, releaseImpl, free},
	untraversed: preservable,
	stays:       preservable,
}

// Faulty is PyTorch's old protocol: in a hermetic context the slot's check answers "none", so that
// an object made outside is not preserved but deallocated, although the slot of a shared impl
// points at it.
var Faulty = Protocol{
	name:        "faulty",
	dealloc:     []deallocStep{preserveIf(preservableHere), finalize, clearWeak, clearHolds, releaseImpl, free},
	untraversed: preservableHere,
	stays:       preservableHere,
}

// Counting is PyTorch's protocol since 2.10, where the count alone keeps an object
// alive: the engine adds a reference when an impl that has an object gets its second
// holder, and releases it when that one goes.
//
// Source: c10/util/intrusive_ptr.h, retain_ and reset_not_null_;
// torch/csrc/utils/pyobject_preservation.h.
var Counting = Protocol{
	name:        "counting",
	dealloc:     []deallocStep{finalize, clearWeak, clearHolds, releaseImpl, free},
	untraversed: never,
	stays:       never,
	counts:      true,
}

func never(Context, *object) bool { return false }

// preservable reports whether the impl outlives the object that owns it, so that
// the object must be kept.
func preservable(_ Context, o *object) bool {
	return o.ref != nil && !o.made.Hermetic &&
		o.ref.Slot().Load().Object == o.at && o.ref.UseCount() > 1
}

// preservableHere is the faulty check: it depends on where the object is released.
func preservableHere(ctx Context, o *object) bool {
	return !ctx.Hermetic && preservable(ctx, o)
}

// dealloc deallocates an object whose last reference was released.
func (m *Machine) dealloc(ctx Context, o *object) {
	o.taken = true
	for _, step := range m.protocol.dealloc {
		if !step(m, ctx, o) {
			continue
		}
		o.taken = false
		if o.refs == 0 { // the impl was freed meanwhile and released the object
			m.dealloc(ctx, o)
		} else {
			m.audit(o)
		}
		return
	}
}

// preserveIf flips ownership to the impl if the check holds.
//
// Source: THPStorage_tryPreserve, THPVariable_tryResurrect.
func preserveIf(ok check) deallocStep {
	return func(m *Machine, ctx Context, o *object) bool {
		if !ok(ctx, o) {
			return false
		}
		m.yield() // other threads may release the impl now
		slot := o.ref.Slot()
		s := slot.Load()
		if !slot.CompareAndSwap(s, SlotState{s.Interp, s.Object, true}) {
			m.report(preserve.OneOwner, o.at, o.impl, "the slot changed while the object was preserved")
		}
		o.refs++ // the impl's
		m.take(o, preserve.Preserve)
		r := o.ref
		o.ref = nil
		r.Release() // may be the last one after all; then the impl calls Decref
		return true
	}
}

// finalize runs the finalizer, which may keep the object alive.
func finalize(m *Machine, ctx Context, o *object) bool {
	if o.finalize == nil || o.finalized > 0 {
		return false
	}
	m.runFinalizer(o)
	return o.refs > 0
}

func (m *Machine) runFinalizer(o *object) {
	o.finalized++
	switch {
	case o.finalized > 1:
		m.report(preserve.Finalizer, o.at, o.impl, "the finalizer ran again")
	case preservable(Context{}, o):
		m.report(preserve.Finalizer, o.at, o.impl, "the finalizer ran though the impl is shared, so that the object must stay")
	}
	o.refs++
	o.finalize(o.at)
	o.refs--
}

func clearWeak(_ *Machine, _ Context, o *object) bool {
	for _, w := range o.weak {
		w.object = 0
	}
	o.weak = nil
	return false
}

func clearHolds(m *Machine, ctx Context, o *object) bool {
	holds := o.holds
	o.holds = nil
	for _, b := range holds {
		m.Decref(ctx, b)
	}
	return false
}

func releaseImpl(_ *Machine, _ Context, o *object) bool {
	if r := o.ref; r != nil {
		o.ref = nil
		r.Release()
	}
	return false
}

// free frees the object's memory.
func free(m *Machine, _ Context, o *object) bool {
	r, lives := m.engine.Lock(o.impl)
	switch {
	case lives && o.state == preserve.Holding && r.Slot().Load().Object == o.at:
		m.report(preserve.SharedDealloc, o.at, o.impl, "deallocated, and the slot of the living impl points at it")
	case !lives && m.first[o.impl] == o.serial:
		delete(m.first, o.impl)
	}
	if lives {
		r.Release()
	} else {
		o.state = preserve.Holding // an impl that was freed owns nothing
	}
	m.take(o, preserve.Deallocate)
	if o.ref != nil {
		m.report(preserve.Leak, o.at, o.impl, "deallocated with its reference to the impl")
	}
	m.recycle(o)
	return false
}
