package asserts

import "sync"

// The content level reads bytes while kernels write others: of two goroutines
// that call kernels on views of one storage, either would take what the other
// writes for an undeclared write. So a call holds the storages that it reads,
// from the first look until it is judged, and what calls of two goroutines hold
// is not read but [Contended].

// holds are the storages that are held now.
var holds = struct {
	sync.Mutex
	storages map[ID]*held
}{storages: make(map[ID]*held)}

// held is a storage that calls read.
type held struct {
	sync.Mutex // taken while its bytes are read
	id         ID
	goroutine  uintptr // whose call was the first
	uses       int     // in the storages of holdings
	contended  bool    // another goroutine's call held it meanwhile
}

// A holding is what one call holds.
type holding struct {
	pending   Snapshot // what stands in the call's observations until they are filled in
	settings  settings // of the call
	goroutine uintptr
	storages  []*held // in the order of the looks
	next      int     // of those, likely the one that is looked at next
	spare     []*held // which nothing holds any more

	// Of a call whose tensors are looked at again: see again.go.
	plan       *plan
	nth        int64 // of those of the op
	goroutines int   // that there were before the call
	finalized  uint64
	tensors    []Tensor
	last       *past // the call before
	late       []Observation
}

// What one call has used the next one uses again: at the content level a call is
// to allocate little besides what it sees.
var holdings = sync.Pool{New: func() any {
	h := new(holding)
	h.pending.Pending = h
	return h
}}

// hold returns the settings of a call that holds what it reads.
func (s *settings) hold() *settings {
	h := holdings.Get().(*holding)
	h.settings, h.goroutine, h.storages, h.next = *s, goroutine(), h.storages[:0], 0
	h.settings.holding = h
	return &h.settings
}

// mark leads from the observations of a call to what it holds. Observe knows
// neither the call nor the goroutine cheaply.
func (h *holding) mark(obs []Observation) {
	for i := range obs {
		obs[i].Content = &h.pending
	}
}

// holding returns what the call holds that an observation is part of, and
// makes the observation as if there were none.
func (o *Observation) holding() *holding {
	if o.Content == nil || o.Content.Pending == nil {
		return nil
	}
	h := o.Content.Pending
	o.Content = nil
	return h
}

// release lets go of the storages when the call's record ends.
func (h *holding) release(obs []Observation) {
	for i := range obs {
		obs[i].holding() // of a place that was not filled in
	}
	holds.Lock()
	defer holds.Unlock()
	for _, s := range h.storages {
		if s.uses--; s.uses == 0 {
			delete(holds.storages, s.id)
			h.spare = append(h.spare, s)
		}
	}
}

// Look calls read, which fills in what the content level adds, unless a call
// of another goroutine holds the tensor's storage: then the tensor is
// [Contended]. Observe calls it once Storage is set. Outside a checked call
// there is nothing to wait for.
func (o *Observation) Look(read func()) {
	h := o.holding()
	if h == nil || o.Storage == 0 {
		read()
		return
	}
	s := h.take(o.Storage)
	defer s.Unlock()
	if s.contended {
		o.Traits |= Contended
		return
	}
	read()
	if h.nth == 1 { //mutate:equivalent true: only saves time
		o.readAgain(read)
	}
}

// readAgain panics where a second look finds the bytes at another address: what is observed
// is a copy, and every kernel would be accused of moving it. The copy may lie on the stack,
// and so the second look has a frame more.
//
//go:noinline
func (o *Observation) readAgain(read func()) {
	first := o.Content
	read()
	if o.Content.elsewhere(first) {
		panic("asserts: a tensor is at another address each time that it is observed: where Observe copies the elements, it sets Content.Memory to 0")
	}
}

// take returns a storage, held and locked.
func (h *holding) take(id ID) *held {
	s := h.again(id)
	if s == nil { //mutate:equivalent true: only saves time
		s = h.share(id)
		h.storages = append(h.storages, s)
		h.next = len(h.storages)
	}
	s.Lock()
	s.contended = s.contended || s.goroutine != h.goroutine
	return s
}

// again returns a storage that the call holds, where it is looked at in its turn: the looks
// after a call come in the order of those before it.
func (h *holding) again(id ID) *held {
	if len(h.storages) == 0 { //mutate:equivalent true: only saves time
		return nil
	}
	at := h.next % len(h.storages)
	if h.storages[at].id != id { //mutate:equivalent true: only saves time
		return nil
	}
	h.next = at + 1
	return h.storages[at]
}

// share returns a storage with one use more.
func (h *holding) share(id ID) *held {
	holds.Lock()
	defer holds.Unlock()
	s := holds.storages[id]
	if s == nil {
		s = h.unused()
		s.id, s.goroutine, s.contended = id, h.goroutine, false
		holds.storages[id] = s
	}
	s.uses++
	return s
}

func (h *holding) unused() *held {
	last := len(h.spare) - 1
	if last < 0 { //mutate:equivalent true: only saves an allocation
		return new(held)
	}
	s := h.spare[last]
	h.spare = h.spare[:last]
	return s
}
