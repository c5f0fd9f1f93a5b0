package asserts

import "sync"

// The content level reads bytes while kernels write others: if two goroutines call kernels on views
// of one storage, the writes of each would look like undeclared writes of the other. So a call
// holds the storages that it reads, from the first observation until it is judged, and a storage
// held by calls of two goroutines is not read but marked [Contended].

// holds are the storages held now, by their IDs. With a map, this would be a fifth of the time of a call.
var holds [256]bucket

type bucket struct {
	sync.Mutex
	first *held
}

// bucketOf returns the bucket of a storage: IDs are serial numbers, or addresses with equal low bits.
func bucketOf(id ID) *bucket { return &holds[uint64(id)*0x9e3779b97f4a7c15>>56] }

func (b *bucket) place(id ID) **held {
	at := &b.first
	for *at != nil && (*at).id != id {
		at = &(*at).next
	}
	return at
}

// held is a storage that calls read.
type held struct {
	sync.Mutex       // locked while its bytes are read
	next       *held // in its bucket
	id         ID
	goroutine  uintptr // of the first call
	uses       int     // number of holdings that have it
	contended  bool    // another goroutine's call held it meanwhile
}

// A holding records the storages that one call holds.
type holding struct {
	pending   Snapshot // marks the call's observations until they are filled in
	settings  settings // of the call
	goroutine uintptr
	storages  []*held // in the order of observation
	next      int     // index of the storage that is likely observed next
	spare     []*held // to use again
	snapshots []*smallSnapshot
	seen      int // how many of the snapshots this call uses

	// For a call whose tensors are observed again: see call_reobserve.go.
	plan       *plan
	nth        int64 // number of the call among those
	goroutines int   // number before the call
	finalized  uint64
	tensors    []Tensor
	last       *past // the previous call
	late       []Observation
}

// Holdings are pooled: a call at the content level should allocate little besides its observations.
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

// mark points the observations of a call to its holding: from within Observe, call and goroutine are expensive to find.
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

// holding is pending, and clears the mark.
func (o *Observation) holding() *holding {
	h := o.pending()
	if h == nil {
		return nil
	}
	o.Content = nil
	return h
}

// snapshot returns a snapshot for the call to fill in.
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
		obs[i].holding() // if it was not filled in
	}
	for _, s := range h.storages {
		h.drop(s)
	}
}

func (h *holding) drop(s *held) {
	b := bucketOf(s.id)
	b.Lock()
	defer b.Unlock()
	if s.uses--; s.uses > 0 {
		return
	}
	*b.place(s.id), s.next = s.next, nil
	h.spare = append(h.spare, s)
}

// Look calls read, which fills in the Content, unless a call of another goroutine holds the tensor's storage: then the
// tensor is [Contended]. Observe calls it once Storage is set. Outside of a checked call it always calls read.
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

// read calls read with a marked observation.
func (h *holding) read(o *Observation, read func()) {
	o.Content = &h.pending
	read()
	if o.Content == &h.pending {
		o.Content = nil
	}
}

// readAgain panics if a second read finds the bytes at another address: the engine observes a copy, and every kernel
// would be accused of moving it. The copy may be on the stack, so the second read has one more frame.
//
//go:noinline
func (h *holding) readAgain(o *Observation, read func()) {
	first := o.Content
	h.read(o, read)
	if o.Content.elsewhere(first) {
		panic("asserts: a tensor's address changes each time it is observed: if Observe copies the elements, it must set " +
			"Content.Memory to 0")
	}
}

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

// again returns a storage that the call holds, if it is next: observations after a call repeat the earlier order.
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

// share returns a storage after adding a use.
func (h *holding) share(id ID) *held {
	b := bucketOf(id)
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
