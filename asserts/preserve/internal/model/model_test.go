package model

import (
	"fmt"
	"slices"
)

// A model derives what must be true from references alone: it knows no slots, no ownership bit and
// no steps.
//
// An object is needed while it is referred to, or while it is the object of an impl with another
// holder. Others are deallocated, at once, or for cycles at the next collection. An impl is needed
// while a variable holds it; a living object holds it unless nothing refers to the object.
type model struct {
	objects map[uint64]*modelObject
	impls   map[ID]*modelImpl
	// takes reports whether the object's finalizer takes a reference to it. The
	// impl of a preserved object is already being freed then.
	takes func(serial uint64, preserved bool) bool

	finalized int  // number of finalizers that ran
	counts    bool // a preserved object also holds its impl
}

type modelObject struct {
	serial    uint64
	impl      *modelImpl
	ctx       Context
	refs      int // from outside and from other objects
	outside   int
	holds     []*modelObject
	finalizer bool
	finalized int
	preserved bool
	dead      bool
}

type modelImpl struct {
	id       ID
	cxx      int // references held by the engine's users
	hermetic int // objects made hermetically
	object   *modelObject
	tag      Interp
	dead     bool
}

func newModel(counts bool, takes func(uint64, bool) bool) *model {
	return &model{objects: map[uint64]*modelObject{}, impls: map[ID]*modelImpl{}, takes: takes, counts: counts}
}

func (i *modelImpl) others() int { return i.cxx + i.hermetic }

func (m *model) uses(i *modelImpl) int {
	n := i.others()
	if i.object != nil && (m.counts || i.object.refs > 0) {
		n++
	}
	return n
}

func (o *modelObject) kept() bool { return !o.ctx.Hermetic && o.impl.others() > 0 }

func (m *model) newImpl(id ID) { m.impls[id] = &modelImpl{id: id, cxx: 1} }

func (m *model) retain(id ID) { m.impls[id].cxx++ }

func (m *model) release(id ID) {
	i := m.impls[id]
	i.cxx--
	m.settleImpl(i)
}

// wrap records that the impl's object was returned: the serial is new for a new object. It returns
// what is wrong with that.
func (m *model) wrap(ctx Context, id ID, serial uint64) error {
	i := m.impls[id]
	if !ctx.Hermetic && i.object != nil {
		if i.object.serial != serial {
			return fmt.Errorf("impl %d: got object #%d, its object is #%d", id, serial, i.object.serial)
		}
		m.incref(serial)
		return nil
	}
	if _, old := m.objects[serial]; old {
		return fmt.Errorf("impl %d: got object #%d of another impl", id, serial)
	}
	o := &modelObject{serial: serial, impl: i, ctx: ctx, refs: 1, outside: 1}
	m.objects[serial] = o
	if ctx.Hermetic {
		i.hermetic++
	} else {
		i.object = o
		i.tag = ctx.Interp
	}
	return nil
}

func (m *model) incref(serial uint64) {
	o := m.objects[serial]
	o.refs++
	o.outside++
	o.preserved = false
}

func (m *model) decref(serial uint64) {
	o := m.objects[serial]
	o.refs--
	o.outside--
	m.settle(o)
}

func (m *model) hold(a, b uint64) {
	o := m.objects[a]
	o.holds = append(o.holds, m.objects[b])
	m.objects[b].refs++
}

func (m *model) settle(o *modelObject) {
	if o.dead || o.refs > 0 {
		return
	}
	if o.kept() {
		o.preserved = !m.counts
		return
	}
	m.die(o)
}

func (m *model) settleImpl(i *modelImpl) {
	if i.object != nil {
		m.settle(i.object)
	}
	if !i.dead && m.uses(i) == 0 {
		i.dead = true
		delete(m.impls, i.id)
	}
}

func (m *model) finalize(o *modelObject) {
	if o.finalizer && o.finalized == 0 {
		o.finalized = 1
		m.finalized++
		if m.takes(o.serial, o.preserved) {
			o.refs++
			o.outside++
		}
	}
}

func (m *model) die(o *modelObject) {
	if m.finalize(o); o.refs > 0 {
		return
	}
	o.dead = true
	delete(m.objects, o.serial)
	m.drop(o)
	if o.ctx.Hermetic {
		o.impl.hermetic--
	} else {
		o.impl.object = nil
	}
	m.settleImpl(o.impl)
}

func (m *model) drop(o *modelObject) {
	holds := o.holds
	o.holds = nil
	for _, b := range holds {
		b.refs--
		m.settle(b)
	}
}

func (m *model) collect(interp Interp) {
	garbage := m.unreached(interp)
	for _, o := range garbage {
		m.finalize(o)
	}
	for _, o := range m.unreached(interp) {
		m.drop(o)
		m.settle(o)
	}
}

func (m *model) unreached(interp Interp) []*modelObject {
	reached := map[*modelObject]bool{}
	var visit func(*modelObject)
	visit = func(o *modelObject) {
		if !reached[o] {
			reached[o] = true
			for _, b := range o.holds {
				visit(b)
			}
		}
	}
	var rest []*modelObject
	for _, o := range m.objects {
		if o.outside > 0 || o.kept() {
			visit(o)
		}
	}
	for _, o := range m.objects {
		if o.ctx.Interp == interp && !reached[o] {
			rest = append(rest, o)
		}
	}
	slices.SortFunc(rest, func(a, b *modelObject) int { return int(a.serial) - int(b.serial) })
	return rest
}
