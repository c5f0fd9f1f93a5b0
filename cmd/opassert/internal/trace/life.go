package trace

import (
	"fmt"
	"slices"

	"github.com/opassert/opassert/asserts/preserve"
)

// A LifeKind is the kind of a Life's subject: an object, an impl or a tensor.
type LifeKind uint8

const (
	Object LifeKind = iota // the Python object of a storage
	Impl                   // a StorageImpl, known by its data pointer
	Tensor                 // a Python tensor; the log never shows its end
)

func (k LifeKind) String() string { return [...]string{"object", "impl", "tensor"}[k] }

// MarshalText is String.
func (k LifeKind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// A Making is the context in which an object was made.
type Making uint8

const (
	MadeUnseen   Making = iota // not known
	MadeHermetic               // in a hermetic context: no slot points at it
	MadePlain                  // outside: the slot of its impl points at it
)

func (m Making) String() string { return [...]string{"", "hermetic", "not hermetic"}[m] }

// MarshalText is String.
func (m Making) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

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

// A What is a kind of event in a life: its name and its description.
type What struct{ name, words string }

var (
	FirstSeen        = &What{"first-seen", "first seen; made where the log does not show it"}
	Created          = &What{"created", "created for impl"}
	SetHermetic      = &What{"made-hermetic", "made in a hermetic context"}
	SetPlain         = &What{"made-not-hermetic", "made outside hermetic contexts"}
	Handed           = &What{"handed-out", "handed out again for impl"}
	Resurrected      = &What{"resurrected", "resurrected for impl"}
	Released         = &What{"released", "last reference released"}
	ReleasedHermetic = &What{"released-hermetic", "released in a hermetic context"}
	CheckNone        = &What{"check-none", "the slot's check answers none"}
	CheckDiffers     = &What{"check-differs", "not preserved: the slot's check answers"}
	UseCount         = &What{"use-count", "use count of its impl"}
	ImplGoes         = &What{"impl-goes", "its impl is freed and releases it"}
	Preserved        = &What{"preserved", "preserved"}
	NotDeallocated   = &What{"kept", "neither preserved nor deallocated"}
	Deallocated      = &What{"deallocated", "deallocated"}
	UsedAfter        = &What{"used-after", "used after deallocation, by impl"}
	FoundType        = &What{"found-type", "found there: a"}
	NotSeenEnd       = &What{"end-not-seen", "its memory is used again; the log does not show its end"}
	DataMoved        = &What{"data-moved", "its impl's bytes are now at"}
	SlotEmpty        = &What{"slot-empty", "the slot is empty"}
	EmptyAndUsed     = &What{"slot-empty", "the slot is empty, use count"}
	GotObject        = &What{"got-object", "gets object"}
	Freed            = &What{"freed", "freed"}
	Accessed         = &What{"accessed", "asked for its storage, data at"}
	Replaced         = &What{"storage-replaced", "its storage was replaced (or it is another tensor): data now at"}
	Breaks           = &What{"breaks", "breaks the rule"}
)

// String describes the event in words.
func (w *What) String() string { return w.words }

// MarshalText returns the name of the event: "created".
func (w *What) MarshalText() ([]byte, error) { return []byte(w.name), nil }

// NoCount is the Count of an event, or of a line, without a use count.
const NoCount = -1

// An Event is one line in a life.
type Event struct {
	Line  int64
	At    Address // the other object of the event, if any
	Count int32   // a use count, or NoCount
	What  *What
	Code  preserve.Code // the invariant that it breaks, if any
	Type  string
}

// String returns the event in words.
func (e Event) String() string {
	s := e.What.String()
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
	Kind        LifeKind       `json:"kind"`
	Address     Address        `json:"address"`
	World       string         `json:"process,omitempty"`     // by the prefix of the lines
	Type        string         `json:"type,omitempty"`        // of an object
	Impl        Address        `json:"impl,omitempty"`        // of an object; of a tensor, the last one
	Interpreter Address        `json:"interpreter,omitempty"` // that made the object, if known
	Made        Making         `json:"made,omitempty"`
	State       preserve.State `json:"-"`
	Events      []Event        `json:"-"`
	Dropped     int            `json:"dropped,omitempty"` // events that are not kept, from the middle
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
