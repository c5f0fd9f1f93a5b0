package preserve

import "fmt"

// A State is the state of an object.
type State uint8

const (
	Unknown   State = iota // not seen yet
	Holding                // the object owns its impl
	Preserved              // the impl owns the object
	Dead                   // deallocated
)

func (s State) String() string { return [...]string{"unknown", "holding", "preserved", "dead"}[s] }

// A Step is an event in the life of an object.
type Step uint8

const (
	Create     Step = iota // a new object for an impl
	Hand                   // it is returned to a caller, one more reference
	Preserve               // its last reference was released and the impl took it over
	Resurrect              // it is returned to a caller and takes its impl back
	Deallocate             // it is deallocated
)

func (s Step) String() string {
	return [...]string{"create", "hand", "preserve", "resurrect", "deallocate"}[s]
}

// after is the state after a step; but only [Create] revives a dead object.
var after = [...]State{Create: Holding, Hand: Holding, Preserve: Preserved, Resurrect: Holding, Deallocate: Dead}

// broken is the invariant that a step from a state breaks, or 0. Any step may follow [Unknown]: logs begin anywhere.
var broken = [...][Deallocate + 1]Code{
	Holding:   {Create: SameObject, Resurrect: OneOwner},
	Preserved: {Create: SameObject, Hand: OneOwner, Preserve: OneOwner, Deallocate: SharedDealloc},
	Dead:      {Hand: UseAfter, Preserve: UseAfter, Resurrect: UseAfter, Deallocate: UseAfter},
}

// A Protocol is the way in which a PyTorch keeps objects for impls; see the package's documentation.
type Protocol int

const (
	Flipping Protocol = 1 + iota // the first: ownership flips
	Counting                     // the second: both sides count
)

// ProtocolOf returns the protocol of a version of PyTorch: "2.12.0+cu130". For an unknown version it is Flipping.
//
// Source: pytorch/pytorch#167564, which is in 2.10.
func ProtocolOf(version string) Protocol {
	var major, minor int
	if n, _ := fmt.Sscanf(version, "%d.%d", &major, &minor); n == 2 && (major > 2 || major == 2 && minor >= 10) {
		return Counting
	}
	return Flipping
}

// Next returns the state after a step from a state, and the invariant that the step breaks. An impl that dies releases
// the object that it owns before that is deallocated: pass [Holding] for s then.
func (p Protocol) Next(s State, step Step) (State, Code) {
	if p == Counting && (step == Preserve || step == Resurrect) && s != Dead {
		return Holding, OneOwner
	}
	if s == Dead && step != Create {
		return Dead, broken[s][step]
	}
	return after[step], broken[s][step]
}
