package live

import (
	"encoding/binary"
	"strings"

	"github.com/opassert/opassert/cmd/opassert/internal/trace"
)

// An eventKind is the subject of an event; the numbers are those of pyobj_hooks.cpp.
type eventKind uint8

const (
	wrap     eventKind = 1 + iota // an impl's object was asked for and returned
	release                       // an object's last reference went
	freed                         // its memory was freed
	stays                         // a released object is still alive
	typeName                      // the name of a type
	fileName                      // the name of a file of Python
	made                          // memory for an object
	refused                       // an impl's object was asked for, which raised an error
	asks                          // an impl's object is asked for, and the one in the slot is of an unknown type
	raw                           // the address of a StorageImpl is used as a number, its _cdata
)

type flags uint8

const (
	ofStorage  flags = 1 << iota // of a storage, not of a tensor
	inHermetic                   // in a hermetic context
	owns                         // the impl owns the object in its slot
	borrowed                     // the object does not own its impl
	noSlot                       // the object was never in a slot
	marked                       // the impl is marked to hold a reference to its object while it is shared
	elsewhere                    // the object does not hold the impl
	second                       // the object handed out before lives and holds the impl, too

	newClass = ofStorage // of a typeName: a new class
)

// eventSize is the size of an event in the ring, in bytes.
const eventSize = 64

// An event is one record. A wrap has the slot, its owner and the use count before, and the tag after; its type is 0
// if the object is not that of a tensor or storage. The name of a type precedes its first use: objects of it may have
// been made before, unseen, unless it is a new class.
type event struct {
	kind               eventKind
	flags              flags
	object, impl, slot trace.Address
	tag                trace.Address
	weak               uint64 // the impl's weak count, with one for all strong references
	uses, refs         int32
	thread, typ, file  uint32
	line               uint16
}

func readEvent(b []byte) (e event, name string) {
	u64 := func(at int) trace.Address { return trace.Address(binary.NativeEndian.Uint64(b[at:])) }
	u32 := func(at int) uint32 { return binary.NativeEndian.Uint32(b[at:]) }
	e.kind, e.flags = eventKind(b[56]), flags(b[57])
	e.typ = u32(52)
	if e.kind == typeName || e.kind == fileName {
		name, _, _ = strings.Cut(string(b[:52]), "\x00")
		return e, name
	}
	e.object, e.impl, e.slot, e.tag, e.weak = u64(0), u64(8), u64(16), u64(24), uint64(u64(32))
	e.uses, e.refs, e.thread = int32(u32(40)), int32(u32(44)), u32(48)
	e.line, e.file = binary.NativeEndian.Uint16(b[58:]), u32(60)
	return e, ""
}

func (e *event) is(f flags) bool { return e.flags&f != 0 }
