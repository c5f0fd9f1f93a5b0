package libtorch

import "strings"

// A Touch is an illegal memory access by a kernel.
type Touch struct {
	How           TouchKind
	Reads, Writes bool
	Owner         TouchOwner // the present or former owner of the memory
	Index         int        // position of an argument or a return in the schema
	Nbytes        int64      // size of its storage
	First, Last   int64      // the bytes accessed, relative to the beginning of the storage
	Frames        []string   // of the first access, innermost first; none if it was found only by its effects
}

// A TouchKind is the reason why an access is illegal.
type TouchKind int64

const (
	Outside  TouchKind = touchOutside // before a storage or after it
	Freed    TouchKind = touchFreed
	ReadOnly TouchKind = touchReadOnly // of an argument that the schema does not let the op write
)

// A TouchOwner is the sort of owner of accessed memory.
type TouchOwner int64

const (
	OfTemporary TouchOwner = ownerTemporary // a tensor made during the call
	OfArgument  TouchOwner = ownerArgument
	OfReturn    TouchOwner = ownerReturn
	OfEarlier   TouchOwner = ownerEarlier // a tensor that existed before the call
)

// WatchMemory places the memory of new tensors between pages without access: directly before one, or, if ahead is set,
// after one; it contains the byte fill until it is written. The memory of arguments begins at a multiple of the size of
// an element, as that of a slice does, or, if aligned is set, of 64 bytes, as c10's allocator aligns it. It returns the
// illegal accesses of the last observed call, once, and how many storages since the last WatchMemory are not watched:
// those of more than 8 MB, or beyond two thousand at a time. It cannot be undone.
func WatchMemory(ahead, aligned bool, fill byte) (touches []Touch, unwatched int, err error) {
	side := truth(ahead) | truth(aligned)<<1
	touches, err = ask("watch memory", crossing{function: fnMemory, first: side, second: int64(fill)},
		func(r *reader) []Touch {
			unwatched = int(r.word())
			all := make([]Touch, r.word())
			for i := range all {
				r.touch(&all[i])
			}
			return all
		})
	return touches, unwatched, err
}

// ReuseMemory places the memory of each new tensor of up to a page where watched memory is free first,
// also if it was freed just now, until the next WatchMemory: the same tensors then have the same
// addresses again, once those before are gone. The arguments are those of WatchMemory.
func ReuseMemory(aligned bool, fill byte) error {
	_, err := ask("reuse memory", crossing{function: fnMemory, first: 1<<2 | truth(aligned)<<1, second: int64(fill)},
		func(*reader) struct{} { return struct{}{} })
	return err
}

// FillMemory fills new memory of a device with a byte, and reports whether it does: not if the
// device's backend has a caching allocator, or does not use the one that it registers.
func FillMemory(on DeviceInfo, fill byte) (bool, error) {
	device, _, _ := parseDevice(on.Name)
	return ask("fill memory", crossing{function: fnFill, first: device, second: int64(fill)}, (*reader).truth)
}

// touch reads a Touch in the form of memory.cpp.
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
