package trace

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/opassert/opassert/asserts/preserve"
)

// A follower knows what lives at the line being read.
type follower struct {
	ended   func(Life)
	objects map[uint64]*object // by address; the living
	impls   map[uint64]*impl   // by data pointer
	tensors map[uint64]*tensor
	types   map[string]string

	number  int64 // of the line being read
	whole   bool  // it was not cut off
	gaps    int64 // holes met so far
	records int64

	violations []*Violation
	replaced   int64
}

// An object is a Python object that lives, or one that was deallocated while
// its impl may still lead to it.
type object struct {
	Life
	facts   facts
	gap     int64 // holes met when State was learnt
	stateAt int64 // the line that it was learnt from
	madeGap int64 // holes met when it was first seen
	dataAt  int64 // the line of this release that names its impl
	same    bool  // and it is the one known before
	release bool  // being released
	borrow  bool  // and it does not own its impl
}

// An impl is a StorageImpl, or all those that share a data pointer.
type impl struct {
	Life
	slot   *object // what its slot points at, alive
	freed  *object // what its slot points at, deallocated
	broken *Violation
	second *Violation // a second object was made while slot lives
	shared bool       // several impls share these bytes
	wrap   wrap
	last   int64 // record
}

// A wrap is a THPStorage_Wrap under way.
type wrap struct {
	gap      int64 // holes met when it began
	open     bool
	hermetic bool
	foreign  bool
	interp   uint64
	interpAt int64
	made     *object
	pointsTo uint64
	pointsAt int64
	slotWas  int64 // the object's slotAt before that
	emptyAt  int64
}

type tensor struct {
	Life
	last int64 // record
}

func newFollower(ended func(Life)) follower {
	return follower{
		ended:   ended,
		objects: map[uint64]*object{},
		impls:   map[uint64]*impl{},
		tensors: map[uint64]*tensor{},
		types:   map[string]string{},
	}
}

// follow takes in one record.
func (f *follower) follow(r *record) {
	if f.records++; f.records%sweepEvery == 0 {
		f.sweep()
	}
	switch r.subject {
	case ofImpl:
		f.followImpl(r)
	case ofObject:
		f.followObject(r)
	case ofTensor:
		if r.message == storageData {
			f.access(r)
		}
	}
}

// access is a tensor asked for its storage.
func (f *follower) access(r *record) {
	t := f.tensors[r.addr]
	if t == nil {
		t = &tensor{Life: Life{Kind: Tensor, Address: Address(r.addr), Impl: Address(r.ref)}}
		f.tensors[r.addr] = t
	}
	t.last = f.records
	if t.Impl != Address(r.ref) {
		f.replaced++
		t.Impl = Address(r.ref)
		f.eventAt(&t.Life, Replaced, t.Impl)
		return
	}
	f.eventAt(&t.Life, Accessed, t.Impl)
}

// event adds an event of this line to a life.
func (f *follower) event(l *Life, w What) { l.add(Event{Line: f.number, What: w, Count: -1}) }

func (f *follower) eventAt(l *Life, w What, at Address) {
	l.add(Event{Line: f.number, What: w, At: at, Count: -1})
}

func (f *follower) eventCount(l *Life, w What, n int64) {
	l.add(Event{Line: f.number, What: w, Count: int32(min(n, math.MaxInt32))})
}

func (f *follower) eventType(l *Life, typ string) {
	l.add(Event{Line: f.number, What: FoundType, Type: typ, Count: -1})
}

func (f *follower) typeName(t []byte) string {
	if s, ok := f.types[string(t)]; ok {
		return s
	}
	s := strings.ToValidUTF8(string(t), "?")
	if len(f.types) < 1000 {
		f.types[s] = s
	}
	return s
}

func (f *follower) impl(data uint64) *impl {
	i := f.impls[data]
	if i == nil {
		i = &impl{Life: Life{Kind: Impl, Address: Address(data)}}
		f.impls[data] = i
	}
	i.last = f.records
	return i
}

// followImpl takes in what is said of an impl: somebody asks for its object.
func (f *follower) followImpl(r *record) {
	i := f.impl(r.addr)
	w := &i.wrap
	if w.gap != f.gaps {
		*w = wrap{gap: f.gaps}
	}
	switch r.message {
	case enterWrap:
		if !w.open || w.pointsTo != 0 || w.made != nil {
			*w = wrap{gap: f.gaps, open: true}
		}
		if r.interp != 0 {
			w.interp, w.interpAt = r.interp, f.number
		}
	case isHermetic, notHermetic:
		if w.made != nil && w.made.Made == MadeUnseen {
			f.making(i, r.message == isHermetic)
		} else {
			w.hermetic = r.message == isHermetic
		}
	case foreign:
		w.foreign = true
	case slotEmpty, slotNull:
		if r.count < 0 {
			f.event(&i.Life, SlotEmpty)
		} else {
			f.eventCount(&i.Life, EmptyAndUsed, r.count)
		}
		w.emptyAt = f.number
		f.emptied(i)
	case created:
		f.create(i, r)
	case slotPoints:
		w.pointsTo, w.pointsAt = r.ref, f.number
		f.pointed(i, r.ref)
	case slotType:
		f.found(i, w.pointsTo, f.typeName(r.typ))
	case resurrecting:
		f.handOut(i, preserve.Resurrect)
	case incrementing:
		f.handOut(i, preserve.Hand)
	case handed:
		f.handed(i, r)
		*w = wrap{gap: f.gaps}
	}
}

// create is a new object.
func (f *follower) create(i *impl, r *record) {
	if old := f.objects[r.ref]; old != nil {
		f.event(&old.Life, NotSeenEnd)
		f.endObject(old)
	}
	o := &object{Life: Life{
		Kind: Object, Address: Address(r.ref), Type: f.typeName(r.typ),
		Impl: i.Address, Interpreter: Address(i.wrap.interp),
	}, madeGap: f.gaps}
	o.facts = facts{madeAt: f.number, maker: i.wrap.interp, makerAt: i.wrap.interpAt}
	f.objects[r.ref] = o
	f.eventAt(&o.Life, Created, i.Address)
	f.eventAt(&i.Life, GotObject, o.Address)
	f.step(o, preserve.Create)
	i.wrap.made = o
}

// making is where the object just created was made.
func (f *follower) making(i *impl, hermetic bool) {
	o := i.wrap.made
	o.facts.madeAt = f.number
	if hermetic {
		o.Made, o.facts.made = MadeHermetic, MadeHermetic
		f.event(&o.Life, SetHermetic)
		return
	}
	o.Made, o.facts.made = MadePlain, MadePlain
	f.event(&o.Life, SetPlain)
	if i.wrap.foreign || i.Address == 0 {
		return
	}
	if old := i.slot; old != nil && old != o && !i.shared && old.gap == f.gaps && old.Made == MadePlain {
		i.second = f.breaks(preserve.SameObject, o, i.Address, fmt.Sprintf("a second object for the impl of %v, which lives", old.Address))
		i.second.Cause = EmptySlot
		i.second.Evidence = []Reason{{old.facts.madeAt, fmt.Sprintf("%v was made for the impl", old.Address)}}
		if i.wrap.emptyAt != 0 {
			i.second.Evidence = append(i.second.Evidence, Reason{i.wrap.emptyAt, "the slot is empty"})
		}
	}
	f.setSlot(i, o)
}

// setSlot records that the impl's slot points at o now, and not at what was
// freed.
func (f *follower) setSlot(i *impl, o *object) {
	f.bury(i)
	if i.Address != 0 {
		i.slot = o
	}
}

// bury lets go of the freed object that a slot led to.
func (f *follower) bury(i *impl) {
	if i.freed != nil {
		f.ended(i.freed.Life)
		i.freed, i.broken = nil, nil
	}
}

// emptied is a slot that holds no object.
func (f *follower) emptied(i *impl) {
	if i.broken != nil && i.broken.Consequence == 0 {
		i.broken.facts.emptyAt = f.number
	}
}

// pointed is a slot that points at an address.
func (f *follower) pointed(i *impl, at uint64) {
	if i.freed != nil && uint64(i.freed.Address) == at {
		f.usedAfter(i)
		return
	}
	o := f.objects[at]
	if o == nil {
		o = f.firstSeen(at)
		o.Impl = i.Address
	}
	i.wrap.slotWas = o.facts.slotAt
	o.facts.slotAt = f.number
	if i.second != nil && i.slot != o { // the old object's slot is as it was: there are two impls
		f.withdraw(i)
	}
	if o.Made == MadeHermetic && o.madeGap == f.gaps {
		v := f.breaks(preserve.Hermetic, o, i.Address, "a slot points at an object made in a hermetic context")
		v.Cause = HermeticState
		v.Evidence = []Reason{{o.facts.madeAt, "made in a hermetic context"}}
	}
	f.moved(o, uint64(i.Address))
	if i.Address != 0 {
		i.slot = o
	}
}

// moved records where an object's impl has its bytes.
func (f *follower) moved(o *object, data uint64) {
	if o.Impl == Address(data) {
		return
	}
	if old := f.impls[uint64(o.Impl)]; old != nil && old.slot == o {
		old.slot = nil
	}
	if o.Impl != 0 {
		f.eventAt(&o.Life, DataMoved, Address(data))
	}
	o.Impl = Address(data)
}

// handOut gives out the object that the slot points at.
func (f *follower) handOut(i *impl, s preserve.Step) {
	o := f.objects[i.wrap.pointsTo]
	if i.wrap.pointsTo == 0 {
		o = i.slot
	}
	if o == nil || i.freed != nil && i.freed.Address == o.Address {
		return
	}
	what := Handed
	if s == preserve.Resurrect {
		what = Resurrected
	}
	f.eventAt(&o.Life, what, i.Address)
	f.step(o, s)
	f.wrongInterpreter(i, o)
}

func (f *follower) wrongInterpreter(i *impl, o *object) {
	if w := i.wrap; w.interp != 0 && o.facts.maker != 0 && w.interp != o.facts.maker && w.made != o && o.madeGap == f.gaps {
		v := f.breaks(preserve.OneInterpreter, o, i.Address, fmt.Sprintf("made by interpreter %v, handed out in %v", Address(o.facts.maker), Address(w.interp)))
		v.Cause = InterpreterClash
		v.Evidence = []Reason{
			{o.facts.makerAt, fmt.Sprintf("made by interpreter %v", Address(o.facts.maker))},
			{w.interpAt, fmt.Sprintf("asked for by interpreter %v", Address(w.interp))},
		}
	}
}

// handed is the end of a wrap: who asked has the object.
func (f *follower) handed(i *impl, r *record) {
	w := &i.wrap
	if o := w.made; o != nil && uint64(o.Address) == r.ref {
		if o.Made == MadeUnseen && !w.hermetic && !w.foreign && i.slot == nil {
			f.setSlot(i, o)
		}
		return
	}
	if i.freed != nil && uint64(i.freed.Address) == r.ref {
		if w.pointsTo != r.ref {
			f.usedAfter(i)
		}
		f.found(i, r.ref, f.typeName(r.typ))
		return
	}
	o := f.objects[r.ref]
	if o == nil {
		o = f.firstSeen(r.ref)
	}
	switch {
	case w.pointsTo != 0 && w.pointsTo != r.ref:
		v := f.breaks(preserve.SameObject, o, i.Address, fmt.Sprintf("the slot points at %v, and another object is handed out", Address(w.pointsTo)))
		v.Evidence = []Reason{{w.pointsAt, fmt.Sprintf("the slot points at %v", Address(w.pointsTo))}}
	case w.open && w.hermetic && o.Made == MadePlain && o.madeGap == f.gaps:
		v := f.breaks(preserve.Hermetic, o, i.Address, "made outside hermetic contexts, handed out in one")
		v.Cause = HermeticState
		v.Evidence = []Reason{{o.facts.madeAt, "made outside hermetic contexts"}}
	case w.pointsTo == 0: // the lines before are missing
		f.eventAt(&o.Life, Handed, i.Address)
		o.State, o.gap = preserve.Holding, f.gaps
		f.moved(o, uint64(i.Address))
	}
	f.found(i, r.ref, f.typeName(r.typ))
}

// found is the type of what lies at an object's address.
func (f *follower) found(i *impl, at uint64, typ string) {
	if i.freed != nil && uint64(i.freed.Address) == at {
		if v := i.broken; v != nil && v.Found == "" {
			v.Found = typ
		}
		f.eventType(&i.freed.Life, typ)
		return
	}
	o := f.objects[at]
	if o == nil {
		return
	}
	switch {
	case o.Type == "" && !foreignType(typ):
		o.Type = typ
	case o.Type == typ, o.Type == "" && !foreignType(typ), !f.whole && strings.HasPrefix(o.Type, typ):
	default:
		f.eventType(&o.Life, typ)
		v := f.breaks(preserve.UseAfter, o, i.Address, "what is found there is a "+typ+"; the log does not show the deallocation")
		v.Found, v.Consequence = typ, f.number
		if o.release { // cut off where it was not preserved
			saw := v.facts.saw
			v.facts = o.facts
			v.facts.saw, v.facts.deallocation = saw, true
			v.facts.slotAt, v.facts.stillAt = i.wrap.slotWas, i.wrap.pointsAt
		} else {
			v.Evidence = []Reason{{f.number, "a " + typ + " is found there"}}
			if o.facts.madeAt != 0 {
				v.Evidence = append(v.Evidence, Reason{o.facts.madeAt, "a " + o.Type + " was made there"})
			}
		}
		o.State = preserve.Dead
		delete(f.objects, at)
		if i.slot == o {
			i.slot = nil
		}
		f.suspect(i, o, v)
	}
}

// foreignType tells whether a type is one of Python's own, and so never that
// of a storage's object.
func foreignType(typ string) bool {
	_, ok := slices.BinarySearch(builtinTypes, typ)
	return ok
}

var builtinTypes = []string{
	"NoneType", "builtin_function_or_method", "bytearray", "bytes", "cell", "code", "complex", "coroutine", "dict",
	"dict_items", "dict_keys", "dict_values", "ellipsis", "float", "frame", "frozenset", "function", "generator",
	"getset_descriptor", "int", "list", "list_iterator", "mappingproxy", "method", "method-wrapper", "module",
	"object", "property", "range", "set", "slice", "str", "traceback", "tuple", "type", "weakref", "weakref.ReferenceType", "wrapper_descriptor",
}

func (f *follower) firstSeen(at uint64) *object {
	o := &object{Life: Life{Kind: Object, Address: Address(at)}, gap: f.gaps, madeGap: f.gaps}
	f.objects[at] = o
	f.event(&o.Life, FirstSeen)
	return o
}

// step makes a step in an object's life. What does not follow is only a
// violation if no hole in the log explains it.
func (f *follower) step(o *object, s preserve.Step) {
	to, code := o.State.Next(s)
	if code != 0 && o.gap == f.gaps && o.State != preserve.Unknown {
		v := f.breaks(code, o, o.Impl, wrongSteps[s]+" while "+stands[o.State])
		v.Evidence = []Reason{{o.stateAt, "since here " + stands[o.State]}}
	}
	o.State, o.gap, o.stateAt = to, f.gaps, f.number
}

var wrongSteps = [...]string{
	preserve.Create: "made", preserve.Hand: "handed out", preserve.Preserve: "preserved", preserve.Resurrect: "resurrected", preserve.Deallocate: "deallocated",
}

var stands = [...]string{
	preserve.Holding: "it owns the impl", preserve.Preserved: "the impl owns it", preserve.Dead: "it is deallocated",
}

// breaks records a violation at this line, and marks the object's last event.
func (f *follower) breaks(c preserve.Code, o *object, data Address, saw string) *Violation {
	v := &Violation{Code: c, Line: f.number, Object: o.Address, Impl: data, Type: o.Type, facts: facts{saw: saw}}
	f.violations = append(f.violations, v)
	if n := len(o.Events); n == 0 || o.Events[n-1].Line != f.number {
		f.event(&o.Life, Breaks)
	}
	o.Events[len(o.Events)-1].Code = c
	return v
}

func (f *follower) endObject(o *object) {
	delete(f.objects, uint64(o.Address))
	if i := f.impls[uint64(o.Impl)]; i != nil && i.slot == o {
		i.slot = nil
	}
	f.ended(o.Life)
}

// end ends the log.
func (f *follower) end() []Violation {
	for _, at := range sorted(f.objects) {
		f.ended(f.objects[at].Life)
	}
	for _, data := range sorted(f.impls) {
		f.bury(f.impls[data])
		f.endImpl(f.impls[data])
	}
	for _, at := range sorted(f.tensors) {
		f.ended(f.tensors[at].Life)
	}
	var all []Violation
	for _, v := range f.violations {
		if !v.withdrawn {
			v.blame()
			all = append(all, *v)
		}
	}
	slices.SortStableFunc(all, func(a, b Violation) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Code, b.Code))
	})
	return all
}

func (f *follower) endImpl(i *impl) {
	delete(f.impls, uint64(i.Address))
	if i.Address != 0 && len(i.Events) > 0 {
		f.ended(i.Life)
	}
}

func sorted[V any](m map[uint64]V) []uint64 {
	keys := make([]uint64, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
