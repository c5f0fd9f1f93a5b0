package asserts

import "sync"

// The content level reads bytes while kernels write others: of two goroutines
// that call kernels on views of one storage, either would take what the other
// writes for an undeclared write. So a call holds the storages that it reads,
// from the first look until it is judged, and what calls of two goroutines hold
// is not read but [Contended].

// holds are the storages that are held now, by their IDs. A map would take a fifth of
// the time of a call.
var holds [256]shelf

// A shelf has the storages of some IDs.
type shelf struct {
	sync.Mutex
	first *held
}

// shelfOf returns where a storage stands: IDs are serial numbers, or addresses, whose low
// bits are alike.
func shelfOf(id ID) *shelf { return &holds[uint64(id)*0x9e3779b97f4a7c15>>56] }

// place returns where the storage stands on its locked shelf, or the end.
func (b *shelf) place(id ID) **held {
	at := &b.first
	for *at != nil && (*at).id != id {
		at = &(*at).next
	}
	return at
}

// held is a storage that calls read.
type held struct {
	sync.Mutex       // taken while its bytes are read
	next       *held // on its shelf
	id         ID
	goroutine  uintptr // whose call was the first
	uses       int     // in the storages of holdings
	contended  bool    // another goroutine's call held it meanwhile
}

// A holding records the storages that one call holds.
type holding struct {
	pending   Snapshot // stands in the call's observations until they are filled in
	settings  settings // of the call
	goroutine uintptr
	storages  []*held // in the order of the looks
	next      int     // of those, likely the one that is looked at next
	spare     []*held // which nothing holds any more
	snapshots []*smallSnapshot
	seen      int // how many of the snapshots are of this call

	// Of a call whose tensors are looked at again: see again.go.
	plan       *plan
	nth        int64 // of those of the op
	goroutines int   // that there were before the call
	finalized  uint64
	tensors    []Tensor
	last       *past // the call before
	late       []Observation
}

// The next call uses the memory of one again: at the content level a call is
// to allocate little besides its observations.
var holdings = sync.Pool{New: func() any {
	h := new(holding)
	h.pending.Pending = h
	return h
}}

// hold returns the settings of a call that holds the storages it reads.
func (s *settings) hold() *settings {
	h := holdings.Get().(*holding)
	h.settings, h.goroutine, h.storages, h.next, h.seen = *s, goroutine(), h.storages[:0], 0, 0
	h.settings.holding = h
	return &h.settings
}

// mark leads from the observations of a call to its holding. Observe knows
// neither the call nor the goroutine cheaply.
func (h *holding) mark(obs []Observation) {
	for i := range obs {
		obs[i].Content = &h.pending
	}
}

// pending returns the holding of the call that an observation is part of, or nil.
func (o *Observation) pending() *holding {
	if o.Content == nil {
		return nil
	}
	return o.Content.Pending
}

// holding is pending, and makes the observation as if there were none.
func (o *Observation) holding() *holding {
	h := o.pending()
	if h == nil {
		return nil
	}
	o.Content = nil
	return h
}

// snapshot returns one for the call to fill in.
func (h *holding) snapshot() *smallSnapshot {
	if h == nil { //mutate:equivalent true: only saves allocations
		return newSnapshot()
	}
	if h.seen == len(h.snapshots) { //mutate:equivalent true: only saves allocations
		h.snapshots = append(h.snapshots, newSnapshot())
	}
	h.seen++
	return h.snapshots[h.seen-1]
}

// release releases the storages when the call's record ends.
func (h *holding) release(obs []Observation) {
	for i := range obs {
		obs[i].holding() // of a place that was not filled in
	}
	for _, s := range h.storages {
		h.letGo(s)
	}
}

func (h *holding) letGo(s *held) {
	b := shelfOf(s.id)
	b.Lock()
	defer b.Unlock()
	if s.uses--; s.uses > 0 {
		return
	}
	*b.place(s.id), s.next = s.next, nil
	h.spare = append(h.spare, s)
}

// Look calls read, which fills in the Content, unless a call
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
	h.read(o, read)
	if h.nth == 1 { //mutate:equivalent true: only saves time
		h.readAgain(o, read)
	}
}

// read calls read, for which the observation leads to the call.
func (h *holding) read(o *Observation, read func()) {
	o.Content = &h.pending
	read()
	if o.Content == &h.pending {
		o.Content = nil
	}
}

// readAgain panics where a second look finds the bytes at another address: the engine
// observes a copy, and every kernel would be accused of moving it. The copy may lie on the stack,
// and so the second look has a frame more.
//
//go:noinline
func (h *holding) readAgain(o *Observation, read func()) {
	first := o.Content
	h.read(o, read)
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
	b := shelfOf(id)
	b.Lock()
	defer b.Unlock()
	at := b.place(id)
	if *at == nil {
		s := h.unused()
		s.id, s.goroutine, s.contended = id, h.goroutine, false
		*at = s
	}
	(*at).uses++
	return *at
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
