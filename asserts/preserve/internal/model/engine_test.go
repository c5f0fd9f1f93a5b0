package model

// An engine that consists of counts and slots.

type testImpl struct {
	e       *testEngine
	id      ID
	uses    int32
	slot    testSlot
	storage bool
}

type testSlot struct{ s SlotState }

func (s *testSlot) Load() SlotState { return s.s }

func (s *testSlot) CompareAndSwap(old, new SlotState) bool {
	if s.s != old {
		return false
	}
	s.s = new
	return true
}

type testRef struct{ i *testImpl }

func (r testRef) ID() ID          { return r.i.id }
func (r testRef) UseCount() int32 { return r.i.uses }
func (r testRef) Slot() Slot      { return &r.i.slot }

func (r testRef) Retain() Ref {
	if r.i.uses <= 0 {
		panic("retained after it was freed")
	}
	i := r.i
	i.uses++
	if i.e.counts && i.uses == 2 && i.slot.s.Object != 0 {
		i.slot.s.Owns = true
		i.e.incref(i.slot.s.Object)
	}
	return i.ref()
}

func (r testRef) Release() {
	i := r.i
	i.uses--
	switch {
	case i.uses < 0:
		panic("released more often than retained")
	case i.e.counts && i.uses == 1 && i.slot.s.Owns:
		i.slot.s.Owns = false
		i.e.decref(Context{Interp: i.slot.s.Interp}, i.slot.s.Object)
	case i.uses == 0:
		delete(i.e.impls, i.id)
		if s := i.slot.s; s.Owns && !i.e.counts {
			i.e.decref(Context{Interp: s.Interp}, s.Object)
		}
	}
}

type testStorage struct{ testRef }

func (r testStorage) Copy() Ref { return r.i.e.NewImpl(true) }

func (i *testImpl) ref() Ref {
	if i.storage {
		return testStorage{testRef{i}}
	}
	return testRef{i}
}

type testEngine struct {
	impls  map[ID]*testImpl
	last   ID
	counts bool
	incref func(Address)
	decref func(Context, Address)
}

func (e *testEngine) NewImpl(storage bool) Ref {
	e.last++
	i := &testImpl{e: e, id: e.last, uses: 1, storage: storage}
	e.impls[i.id] = i
	return i.ref()
}

func (e *testEngine) Lock(id ID) (Ref, bool) {
	i, ok := e.impls[id]
	if !ok {
		return nil, false
	}
	return i.ref().Retain(), true
}

func (e *testEngine) NewMachine(p Protocol) *Machine {
	m := NewMachine(e, p)
	e.counts, e.incref = p.counts, m.Incref
	return m
}

func (e *testEngine) OnFree(f func(Context, Address)) { e.decref = f }

func newTestEngine() *testEngine { return &testEngine{impls: map[ID]*testImpl{}} }
