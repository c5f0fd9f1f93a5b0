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

// held is a storage that a call reads.
type held struct {
	sync.Mutex         // taken while its bytes are read
	goroutine  uintptr // whose call was the first
	looks      int
	contended  bool // another goroutine's call held it meanwhile
}

// A holding is what one call holds.
type holding struct {
	pending   Snapshot // what stands in the call's observations until they are filled in
	settings  settings // of the call
	goroutine uintptr
	storages  []ID // one for each look

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
var (
	holdings = sync.Pool{New: func() any {
		h := new(holding)
		h.pending.Pending = h
		return h
	}}
	unheld = sync.Pool{New: func() any { return new(held) }}
)

// hold returns the settings of a call that holds what it reads.
func (s *settings) hold() *settings {
	h := holdings.Get().(*holding)
	h.settings, h.goroutine, h.storages = *s, goroutine(), h.storages[:0]
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
	for _, id := range h.storages {
		s := holds.storages[id]
		if s.looks--; s.looks == 0 {
			delete(holds.storages, id)
			unheld.Put(s)
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
}

// take returns a storage, held and locked.
func (h *holding) take(id ID) *held {
	holds.Lock()
	s := holds.storages[id]
	if s == nil {
		s = unheld.Get().(*held)
		s.goroutine, s.contended = h.goroutine, false
		holds.storages[id] = s
	}
	s.looks++
	h.storages = append(h.storages, id)
	holds.Unlock()
	s.Lock()
	s.contended = s.contended || s.goroutine != h.goroutine
	return s
}
