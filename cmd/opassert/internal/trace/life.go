package trace

import (
	"fmt"
	"slices"

	"github.com/opassert/opassert/asserts/preserve"
)

// A LifeKind is the kind of a Life's subject, and of a line's.
type LifeKind uint8

const (
	noSubject LifeKind = iota
	Object             // the Python object of a storage
	Impl               // a StorageImpl, known by its data pointer
	Tensor             // a Python tensor; the log never shows its end

	numKinds = iota
)

func (k LifeKind) String() string { return [...]string{"", "object", "impl", "tensor"}[k] }

// A Making is the context in which an object was made.
type Making uint8

const (
	MadeUnseen   Making = iota // not known
	MadeHermetic               // in a hermetic context: no slot points at it
	MadePlain                  // outside: the slot of its impl points at it
)

// An Address is a pointer that the log prints; 0 means none.
type Address uint64

func (a Address) String() string {
	if a == 0 {
		return "0"
	}
	return fmt.Sprintf("%#x", uint64(a))
}

// MarshalText is String.
func (a Address) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// A What is a kind of event in a life, described.
type What string

const (
	FirstSeen        What = "first seen; made where the log does not show it"
	Created          What = "created for impl"
	SetHermetic      What = "made in a hermetic context"
	SetPlain         What = "made outside hermetic contexts"
	Handed           What = "handed out again for impl"
	Resurrected      What = "resurrected for impl"
	Released         What = "last reference released"
	ReleasedHermetic What = "released in a hermetic context"
	CheckNone        What = "the slot's check answers none"
	CheckDiffers     What = "not preserved: the slot's check answers"
	UseCount         What = "use count of its impl"
	ImplGoes         What = "its impl is freed and releases it"
	Preserved        What = "preserved"
	NotDeallocated   What = "neither preserved nor deallocated"
	Deallocated      What = "deallocated"
	UsedAfter        What = "used after deallocation, by impl"
	FoundType        What = "found there: a"
	NotSeenEnd       What = "its memory is used again; the log does not show its end"
	DataMoved        What = "its impl's bytes are now at"
	SlotEmpty        What = "the slot is empty"
	EmptyAndUsed     What = "the slot is empty, use count"
	GotObject        What = "gets object"
	Freed            What = "freed"
	Accessed         What = "asked for its storage, data at"
	Replaced         What = "its storage was replaced (or it is another tensor): data now at"
	Breaks           What = "breaks the rule"
)

// NoCount is the Count of an event, or of a line, without a use count.
const NoCount = -1

// An Event is one line in a life.
type Event struct {
	Line  int64
	At    Address // the other object of the event, if any
	Count int32   // a use count, or NoCount
	What  What
	Code  preserve.Code // the invariant that it breaks, if any
	Type  string
}

// String returns the event in words.
func (e Event) String() string {
	s := string(e.What)
	if e.At != 0 || e.What == CheckDiffers || e.What == Replaced || e.What == Accessed {
		s += " " + e.At.String()
	}
	if e.Type != "" {
		s += " " + e.Type
	}
	if e.Count != NoCount {
		s += fmt.Sprintf(" %d", e.Count)
	}
	return s
}

// MaxEvents is the number of events of one life that are kept: half from its start, half from its end.
const MaxEvents = 32

// A Life is the record of one object, impl or tensor in the log.
type Life struct {
	Kind    LifeKind
	Address Address
	World   string  // by the prefix of the lines
	Type    string  // of an object
	Impl    Address // of an object; of a tensor, the last one
	Made    Making
	State   preserve.State
	Events  []Event
	Dropped int // events that are not kept, from the middle
}

// Broken reports whether an invariant broke in this life.
func (l *Life) Broken() bool {
	return slices.ContainsFunc(l.Events, func(e Event) bool { return e.Code != 0 })
}

// add appends an event. From the middle of a long life it drops events, except violations.
func (l *Life) add(e Event) {
	if len(l.Events) < MaxEvents {
		l.Events = append(l.Events, e)
		return
	}
	for i := MaxEvents / 2; i < len(l.Events); i++ {
		if l.Events[i].Code == 0 {
			l.Events = append(append(l.Events[:i:i], l.Events[i+1:]...), e)
			l.Dropped++
			return
		}
	}
	l.Dropped++
}
