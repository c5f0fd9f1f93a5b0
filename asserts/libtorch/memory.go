package libtorch

import "strings"

// A Touch is memory that a kernel touched and may not.
type Touch struct {
	How         TouchKind
	Reads       bool
	Writes      bool
	Owner       TouchOwner // of the memory, or who owned it
	Index       int        // of an argument or a return, in the schema
	Nbytes      int64      // of its storage
	First, Last int64      // bytes from where the storage begins, of what was noted
	Frames      []string   // of the first touch, innermost first; none where it left only a trace
}

// A TouchKind is why a kernel may not touch memory.
type TouchKind int64

const (
	Outside  TouchKind = touchOutside // it lies before a storage or behind it
	Freed    TouchKind = touchFreed
	ReadOnly TouchKind = touchReadOnly // it is that of an argument that the schema has no write of
)

// A TouchOwner is whose memory a kernel touched.
type TouchOwner int64

const (
	OfTemporary TouchOwner = ownerTemporary // a tensor that the call made
	OfArgument  TouchOwner = ownerArgument
	OfReturn    TouchOwner = ownerReturn
	OfEarlier   TouchOwner = ownerEarlier // a tensor that was there before the call
)

// WatchMemory has the memory of new tensors lie between pages that can't be touched:
// behind one, ahead, or else before one; it has the byte fill in it until it is written. It
// returns the illegal accesses of the last observed call, once, and how many storages
// since the last WatchMemory lie in memory that is not watched: those of more than 8 MB,
// or beyond two thousand at a time. It cannot be undone.
func WatchMemory(ahead bool, fill byte) (touches []Touch, unwatched int, err error) {
	side := int64(0)
	if ahead {
		side = 1
	}
	touches, err = ask("watch memory", crossing{function: fnMemory, first: side, second: int64(fill)}, func(r *reader) []Touch {
		unwatched = int(r.word())
		all := make([]Touch, r.word())
		for i := range all {
			r.touch(&all[i])
		}
		return all
	})
	return touches, unwatched, err
}

// FillMemory has new memory of a device hold a byte until it is written, and reports
// whether it does: not where the device's backend has a caching allocator, or allocates by another
// than the one that it registers.
func FillMemory(on Place, fill byte) (bool, error) {
	device, _, _ := parseDevice(on.Name)
	return ask("fill memory", crossing{function: fnFill, first: device, second: int64(fill)}, func(r *reader) bool { return r.word() != 0 })
}

// touch reads a touch as memory.cpp writes it.
func (r *reader) touch(t *Touch) {
	t.How = TouchKind(r.word())
	access := r.word()
	t.Reads, t.Writes = access&accessReads != 0, access&accessWrites != 0
	t.Owner, t.Index = TouchOwner(r.word()), int(r.word())
	t.Nbytes, t.First, t.Last = r.word(), r.word(), r.word()
	for line := range strings.Lines(r.text()) {
		t.Frames = append(t.Frames, strings.TrimSuffix(line, "\n"))
	}
}
