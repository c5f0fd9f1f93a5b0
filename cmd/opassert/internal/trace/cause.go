package trace

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/opassert/opassert/asserts/preserve"
	"github.com/opassert/opassert/internal/slicesx"
)

// A Cause is the reason why an object was not preserved: why the slot's check does not answer with it.
type Cause string

const (
	CauseUnknown     Cause = "unknown"
	InterpreterClash Cause = "interpreter mismatch" // the slot's tag is not that of the releasing interpreter
	HermeticState    Cause = "hermetic state"       // the check answers none in a hermetic context
	EmptySlot        Cause = "empty slot"           // the slot holds no object
	OtherObject      Cause = "another object in the slot"
	TooManyReleases  Cause = "a reference released twice"      // of which the impl has one
	NotMarked        Cause = "no mark that there is an object" // so the impl has no reference to it
)

// A Reason is a line of the log, with its evidence for or against a cause, or its own text.
type Reason struct {
	Line int64  `json:"line"`
	Says string `json:"says"`
}

// An InvariantViolation is a broken invariant.
type InvariantViolation struct {
	Code        preserve.Code `json:"code"`
	Line        int64         `json:"line"` // the first line that broke it
	Object      Address       `json:"object"`
	Impl        Address       `json:"impl"`
	Type        string        `json:"type,omitempty"` // of the object
	Cause       Cause         `json:"cause"`
	Evidence    []Reason      `json:"-"`                  // for the cause
	Against     []Reason      `json:"against,omitempty"`  // against the other candidates
	Consequence int64         `json:"-"`                  // the first line that uses the freed address; 0: none
	Found       string        `json:"found,omitempty"`    // the type found at the freed address; "" if it is not known
	Tensor      Address       `json:"tensor,omitempty"`   // the tensor that asked for it then
	World       string        `json:"process,omitempty"`  // by the prefix of the lines
	Root        int64         `json:"root,omitempty"`     // the line of the violation that it follows from; 0: none
	Inferred    string        `json:"inferred,omitempty"` // how the cause was inferred; "" if a line shows it
	Proof       string        `json:"proof,omitempty"`    // the line that would prove it
	Warning     string        `json:"warning,omitempty"`  // an explanation that is as likely; "" for a violation

	facts       causeLines
	context     int64
	root        *InvariantViolation
	withdrawn   bool
	settled     bool // a line shows whether it is a violation
	likely      likelihood
	explanation string
}

// because sets the cause and its evidence; missing lines are left out in the end.
func (v *InvariantViolation) because(cause Cause, evidence ...Reason) *InvariantViolation {
	v.Cause, v.Evidence = cause, evidence
	return v
}

func says(line int64, format string, args ...any) Reason {
	return Reason{line, fmt.Sprintf(format, args...)}
}

// Saw describes the violation in one line.
func (v *InvariantViolation) Saw() string {
	switch {
	case v.facts.saw != "":
		return v.facts.saw
	case v.Cause == EmptySlot, v.Cause == OtherObject:
		return "deallocated while others hold the impl that it was made for"
	}
	return "deallocated while others hold the impl, whose slot points at it"
}

// Lines returns the numbers of the evidence, sorted.
func (v *InvariantViolation) Lines() []int64 {
	lines := append([]int64{}, slicesx.Map(v.Evidence, func(e Reason) int64 { return e.Line })...) // in JSON never null
	slices.Sort(lines)
	return slices.Compact(lines)
}

// causeLines are the lines for or against a cause; 0 for none.
type causeLines struct {
	saw          string // "" for a deallocation
	known        Cause  // a cause that needs no inference
	made         Making
	madeAt       int64 // the line of its creation
	slotAt       int64 // the last line that shows the slot pointing at the object
	makerAt      int64 // names the interpreter that made it
	maker        Address
	releaserAt   int64 // names the interpreter that released it
	releaser     Address
	hermeticAt   int64 // released in a hermetic context
	answersAt    int64 // the slot's check answers with the object
	noneAt       int64 // the slot's check answers none
	differsAt    int64 // the slot's check does not answer with the object
	differsTo    Address
	usesAt       int64
	uses         int64
	tagAt        int64 // names the slot's interpreter
	tag          Address
	stillAt      int64 // afterwards the slot still points at the object
	emptyAt      int64 // afterwards the slot is empty
	notMarkedAt  int64 // the impl is not marked to have an object
	deallocation bool
}

// rooted finds the cause of each violation, and the violations that follow from others.
func rooted(all []*InvariantViolation) []*InvariantViolation {
	for _, v := range all {
		v.blame()
	}
	contexts := map[int64]*InvariantViolation{}
	for _, v := range all {
		if v.Code == preserve.Hermetic {
			contexts[v.context] = v
		}
	}
	for _, v := range all[:len(all):len(all)] {
		if v.root == nil && v.facts.deallocation && v.Cause == HermeticState {
			if contexts[v.context] == nil {
				contexts[v.context] = v.handedIn()
				all = append(all, contexts[v.context])
			}
			v.root = contexts[v.context]
		}
		if v.root != nil {
			v.Root = v.root.Line
			if r := v.root; r.Consequence == 0 || v.Consequence != 0 && v.Consequence < r.Consequence {
				r.Consequence, r.Found, r.Tensor = v.Consequence, v.Found, v.Tensor
			}
		}
	}
	return all
}

// handedIn returns the violation that a deallocation in a hermetic context follows
// from: the context has an object made outside.
func (v *InvariantViolation) handedIn() *InvariantViolation {
	k := &v.facts
	r := &InvariantViolation{
		Code: preserve.Hermetic, Line: k.hermeticAt, Object: v.Object, Impl: v.Impl, Type: v.Type, World: v.World,
		Cause: HermeticState, context: v.context,
		facts: causeLines{saw: "an object made outside is released in a hermetic context"},
	}
	if r.Line == 0 {
		r.Line = cmp.Or(k.noneAt, k.differsAt, v.Line)
		r.Inferred = "the slot's check does not answer with the object that the slot points at; PyTorch answers so for an " +
			"empty slot and in a hermetic context, and raises an error for another interpreter's slot"
		r.Proof = fmt.Sprintf("(PyObject: %v) hermetic, after the release begins", v.Object)
		v.Inferred, v.Proof = r.Inferred, r.Proof
	}
	r.Evidence = slices.DeleteFunc(slices.Clone(v.Evidence), func(e Reason) bool { return e.Line == k.usesAt })
	return r
}

// blame finds the most likely cause.
func (v *InvariantViolation) blame() {
	if f := &v.facts; f.deallocation {
		v.Cause = f.cause()
		v.Evidence, v.Against = f.reasons(v.Cause)
	}
	v.Cause = cmp.Or(v.Cause, CauseUnknown)
	for _, all := range []*[]Reason{&v.Evidence, &v.Against} {
		*all = slices.DeleteFunc(*all, func(e Reason) bool { return e.Line == 0 })
		slices.SortStableFunc(*all, func(a, b Reason) int { return cmp.Compare(a.Line, b.Line) })
	}
}

// reasons returns the lines for a cause and against the others that are near; 0 for those that the log does not have.
func (f *causeLines) reasons(c Cause) (evidence, against []Reason) {
	where := func(applies bool, line int64) int64 {
		if applies {
			return line
		}
		return 0
	}
	clash, shown := c == InterpreterClash, f.hermeticAt != 0
	pointed := !clash && c != EmptySlot
	inferred := c == EmptySlot || c == HermeticState || c == CauseUnknown
	differs := "none"
	if f.differsTo != 0 {
		differs = f.differsTo.String()
	}
	const still = "the slot still points at it, so it was neither empty nor tagged otherwise"
	evidence = []Reason{
		says(where(clash, f.makerAt), "made by interpreter %v", f.maker),
		says(where(clash, f.tagAt), "the slot is tagged %v", f.tag),
		says(where(clash, f.releaserAt), "released by interpreter %v", f.releaser),
		says(where(pointed && f.made == MadePlain, f.madeAt), "made outside hermetic contexts, so the slot points at it"),
		says(where(pointed, f.slotAt), "the slot points at it"),
		says(where(pointed && !inferred, f.notMarkedAt), "the impl is not marked"),
		says(where(c == HermeticState, f.hermeticAt), "released in a hermetic context"),
		says(where(c == CauseUnknown, f.answersAt), "the slot's check answers with it"),
		says(f.noneAt, "the slot's check answers none"),
		says(f.differsAt, "preservation is skipped: the slot's check answers %s", differs),
		says(f.usesAt, "the impl is shared, use count %d", f.uses),
		says(where(c == EmptySlot, f.emptyAt), "afterwards the slot is empty"),
		says(where(c == HermeticState && !shown, f.stillAt), still),
	}
	same := where(inferred && f.maker == f.releaser, f.releaserAt)
	against = []Reason{
		says(where(c == EmptySlot, f.noneAt),
			"not %s: a release in a hermetic context prints that before this line", HermeticState),
		says(where(c == HermeticState && shown, f.stillAt), "not %s: it still points at the object", EmptySlot),
		says(where(c == CauseUnknown, f.answersAt), "not %s: the check answers none in a hermetic context", HermeticState),
		says(same, "not %s: made (line %d) and released by %v", InterpreterClash, f.makerAt, f.maker),
	}
	return evidence, against
}

func (f *causeLines) cause() Cause {
	mismatch := func(a, b Address) bool { return a != 0 && b != 0 && a != b }
	switch {
	case f.known != "":
		return f.known
	case mismatch(f.maker, f.releaser), mismatch(f.tag, f.releaser):
		return InterpreterClash
	case f.hermeticAt != 0:
		return HermeticState
	case f.differsTo != 0:
		return OtherObject
	case f.stillAt == 0 && (f.noneAt != 0 || f.emptyAt != 0):
		return EmptySlot
	case f.answersAt != 0 && f.noneAt == 0 && f.differsAt == 0: // and yet it was not preserved
		return CauseUnknown
	case f.stillAt != 0, f.made == MadePlain, f.slotAt != 0:
		// PyTorch raises an error for another interpreter's slot, and this slot was
		// not empty: the hermetic state remains.
		return HermeticState
	}
	return CauseUnknown
}
