package live

import (
	"encoding/binary"
	"strings"

	"github.com/opassert/opassert/internal/trace"
)

// A kind is the subject of an event; the numbers are those of tap.cpp.
type kind uint8

const (
	wrap     kind = 1 + iota // an impl's object was asked for and returned
	release                  // an object's last reference went
	freed                    // and its memory
	stays                    // and it is still there
	typeName                 // the name of a type
	fileName                 // the name of a file of Python
	made                     // memory for an object
	refused                  // it was asked for, and that raised
	asks                     // it is asked for, and the object in the slot is of a type not seen so far
)

type flags uint8

const (
	ofStorage  flags = 1 << iota // and not of a tensor
	inHermetic                   // the context
	owns                         // the impl owns the object in its slot
	borrowed                     // the object does not own its impl
	noSlot                       // the object never was in a slot, as it remembers or its making shows
	marked                       // the impl's count: it holds a reference to its object while it is shared
	elsewhere                    // the object does not hold the impl
	second                       // the object that was handed out before lives and holds the impl, too

	newClass = ofStorage // of a typeName
)

// eventSize is how many bytes an event has in the ring.
const eventSize = 64

// An event is one record. A wrap has the slot, its owner and the use count as
// they were before, and the tag as it is after; its type is 0 if the object that
// was handed out is not that of a tensor or storage. The name of a type stands
// where it is first seen: objects of it may have been made before, unseen,
// unless it is a new class.
type event struct {
	kind               kind
	flags              flags
	object, impl, slot trace.Address
	tag, data          trace.Address
	uses, refs         int32
	thread, typ, file  uint32
	line               uint16
}

func readEvent(b []byte) (e event, name string) {
	u64 := func(at int) trace.Address { return trace.Address(binary.NativeEndian.Uint64(b[at:])) }
	u32 := func(at int) uint32 { return binary.NativeEndian.Uint32(b[at:]) }
	e.kind, e.flags = kind(b[56]), flags(b[57])
	e.typ = u32(52)
	if e.kind == typeName || e.kind == fileName {
		name, _, _ = strings.Cut(string(b[:52]), "\x00")
		return e, name
	}
	e.object, e.impl, e.slot, e.tag, e.data = u64(0), u64(8), u64(16), u64(24), u64(32)
	e.uses, e.refs, e.thread = int32(u32(40)), int32(u32(44)), u32(48)
	e.line, e.file = binary.NativeEndian.Uint16(b[58:]), u32(60)
	return e, ""
}

func (e *event) is(f flags) bool { return e.flags&f != 0 }
