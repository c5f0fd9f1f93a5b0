package trace

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"unique"

	"github.com/opassert/opassert/asserts/preserve"
)

// A follower knows the objects and impls that live at the line being read, in one process.
type follower struct {
	world    string
	protocol preserve.Protocol
	ended    func(Life)
	objects  map[Address]*object // by address; the living
	dead     map[Address]*death  // by address; those that ended as they should
	impls    map[Address]*impl   // by data pointer
	tensors  map[Address]*tensor

	number  int64 // of the line being read
	whole   bool  // it was not cut off
	gaps    int64 // holes met so far
	records int64
	context int64 // how often the log left the hermetic state, as far as it shows

	violations []*InvariantViolation
	replaced   int64
	proven     map[string]bool // by explanation of a doubt: the log proves it elsewhere
}

// Explanations of a doubt.
const (
	sharedBytes = "two impls over the same bytes"
	movedBytes  = "bytes that moved to where others were"
)

// An object is a Python object that lives, or that was deallocated while its impl may still point at it.
type object struct {
	Life
	facts     causeLines
	gap       int64 // holes met when State was seen
	stateAt   int64 // the line that shows State
	madeGap   int64 // holes met when it was first seen
	dataAt    int64 // the line of this release that names its impl
	same      bool  // this release names the impl known before
	release   bool  // being released
	enterAt   int64 // the line where the release began
	enterGap  int64
	slotTaken bool    // another object is in its slot, as reported
	borrow    bool    // it is released and does not own its impl
	asker     Address // the tensor that it was made for
	madeUses  int64   // the use count of its impl before; 0 if it is not known
	doubts    []*doubt
	broken    *InvariantViolation // the first violation of this release
}

// A doubt is a violation that two impls over the same bytes, or bytes that moved, may explain: the slot of the impl at
// data, which held was, holds now. A later line may settle it.
type doubt struct {
	*InvariantViolation
	was, now *object
	data     Address
	home     Address // of now's impl before; 0 if now is new, or it may have moved back
	isNew    bool    // now is a new object
}

// A death is the end of an object that broke no rule up to that line.
type death struct {
	object      // broken is the violation that caused it
	line        int64
	freedByImpl bool                // released by its impl, which was freed
	again       *InvariantViolation // a second release, without a second deallocation so far
}

// An impl is a StorageImpl, or all those that share a data pointer.
type impl struct {
	Life
	slot   *object // the living object that its slot points at
	freed  *object // the deallocated object that its slot points at
	broken *InvariantViolation
	shared bool // several impls share these bytes
	wrap   wrap
	asker  Address // the tensor that last asked for its storage here
	last   int64   // the record of its last line
}

// A wrap is a THPStorage_Wrap under way.
type wrap struct {
	gap       int64 // holes met when it began
	open      bool
	hermetic  bool
	foreign   bool
	interp    Address
	interpAt  int64
	made      *object
	pointsTo  Address
	stale     *InvariantViolation // pointsTo is deallocated, a violation
	pointsAt  int64
	slotWas   int64 // the object's slotAt before that
	emptyAt   int64
	emptyUses int64 // the use count at emptyAt, or NoCount
}

type tensor struct {
	Life
	since int64 // the first line that shows it with this storage
	last  int64 // the record of its last access
	prev  int64 // the record of the access before that
	line  int64 // the line of the last access
	prior int64 // the line of the access before that
}

func newFollower(world string, protocol preserve.Protocol, ended func(Life)) *follower {
	return &follower{
		world: world, protocol: protocol, ended: ended, proven: map[string]bool{}, objects: map[Address]*object{},
		dead: map[Address]*death{}, impls: map[Address]*impl{}, tensors: map[Address]*tensor{},
	}
}

// endLife hands over a life.
func (f *follower) endLife(l Life) {
	l.World = f.world
	f.ended(l)
}

func (f *follower) follow(r *logRecord) {
	if r.cut && (r.ref != 0 || r.count == NoCount) && f.objects[r.ref] == nil && f.dead[r.ref] == nil {
		return // the address may continue
	}
	if f.records++; f.records%sweepEvery == 0 {
		f.sweep()
	}
	switch r.subject {
	case noSubject:
		if r.message == version {
			f.protocol = preserve.ProtocolOf(string(r.typ))
		}
	case Impl:
		f.followImpl(r)
	case Object:
		f.followObject(r)
	case Tensor:
		if r.message == storageData {
			f.access(r)
		}
	}
}

// access handles a tensor that is asked for its storage.
func (f *follower) access(r *logRecord) {
	t := f.tensors[r.addr]
	if t == nil {
		t = &tensor{Life: Life{Kind: Tensor, Address: r.addr, Impl: r.ref}, since: f.number}
		f.tensors[r.addr] = t
	}
	t.last, t.prev = f.records, t.last
	t.line, t.prior = f.number, t.line
	if r.ref != 0 {
		f.impl(r.ref).asker = r.addr
	}
	what := Accessed
	if t.Impl != Address(r.ref) {
		f.replaced++
		t.Impl, t.since = r.ref, f.number
		what = Replaced
	}
	f.eventAt(&t.Life, what, t.Impl)
}

// event adds an event of this line to a life.
func (f *follower) event(l *Life, w What) { l.add(Event{Line: f.number, What: w, Count: NoCount}) }

func (f *follower) eventAt(l *Life, w What, at Address) {
	l.add(Event{Line: f.number, What: w, At: at, Count: NoCount})
}

func (f *follower) eventCount(l *Life, w What, n int64) {
	l.add(Event{Line: f.number, What: w, Count: int32(min(n, math.MaxInt32))})
}

func (f *follower) eventType(l *Life, typ string) {
	l.add(Event{Line: f.number, What: FoundType, Type: typ, Count: NoCount})
}

// typeName returns a type's name, of which memory has one copy.
func typeName(t []byte) string { return unique.Make(strings.ToValidUTF8(string(t), "?")).Value() }

func (f *follower) impl(data Address) *impl {
	i := f.impls[data]
	if i == nil {
		i = &impl{Life: Life{Kind: Impl, Address: data}}
		f.impls[data] = i
	}
	i.last = f.records
	return i
}

// followImpl applies a record about an impl: its object is asked for.
func (f *follower) followImpl(r *logRecord) {
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
		what := EmptyAndUsed
		if r.count == NoCount {
			what = SlotEmpty
		}
		f.eventCount(&i.Life, what, r.count)
		w.emptyAt, w.emptyUses = f.number, r.count
		if i.broken != nil && i.broken.Consequence == 0 {
			i.broken.facts.emptyAt = f.number
		}
	case created:
		f.create(i, r)
	case slotPoints:
		w.pointsTo, w.pointsAt = r.ref, f.number
		f.slotPointsAt(i, r.ref)
	case slotType:
		f.foundType(i, w.pointsTo, typeName(r.typ))
	case resurrecting:
		f.handOut(i, preserve.Resurrect, Resurrected)
	case incrementing:
		f.handOut(i, preserve.Hand, Handed)
	case handed:
		f.endWrap(i, r)
		*w = wrap{gap: f.gaps}
	}
}

func (f *follower) create(i *impl, r *logRecord) {
	f.reuse(r.ref)
	o := &object{
		Life:    Life{Kind: Object, Address: r.ref, Type: typeName(r.typ), Impl: i.Address},
		madeGap: f.gaps, asker: i.asker,
	}
	o.facts = causeLines{madeAt: f.number, maker: i.wrap.interp, makerAt: i.wrap.interpAt}
	f.objects[r.ref] = o
	f.eventAt(&o.Life, Created, i.Address)
	f.eventAt(&i.Life, GotObject, o.Address)
	f.step(o, preserve.Create)
	i.wrap.made = o
}

// reuse handles that a new object is made at an address.
func (f *follower) reuse(at Address) {
	delete(f.dead, at)
	if old := f.objects[at]; old != nil {
		f.event(&old.Life, NotSeenEnd)
		f.endObject(old)
	}
}

// making handles the context in which the new object was made.
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
	f.context++
	o.madeUses = i.wrap.usesBefore()
	switch old := i.slot; {
	case old == nil || old == o || i.shared || old.gap != f.gaps || old.Made != MadePlain:
	case !i.wrap.mayBelongTo(old):
		f.proven[sharedBytes] = true
	default:
		v := f.breaks(preserve.SameObject, o, i.Address, "a second object for the impl of %v, which lives", old.Address).
			because(EmptySlot, says(old.facts.madeAt, "%v was made for the impl", old.Address),
				says(i.wrap.emptyAt, "the slot is empty"))
		d := &doubt{InvariantViolation: v, was: old, now: o, data: i.Address, isNew: true}
		d.likely = f.secondLikelihood(f.addDoubt(d, i, sharedBytes), i, old)
	}
	f.setSlot(i, o)
}

// setSlot records that the impl's slot points at o now, and not at the object that was freed.
func (f *follower) setSlot(i *impl, o *object) {
	f.forgetFreed(i)
	if i.Address != 0 {
		i.slot = o
	}
}

func (f *follower) forgetFreed(i *impl) {
	if i.freed != nil {
		f.endLife(i.freed.Life)
		i.freed, i.broken = nil, nil
	}
}

// mayBelongTo reports whether the impl with an empty slot can be that of an object: its use
// count includes an owning object, besides the tensor that asks and the argument.
func (w *wrap) mayBelongTo(o *object) bool {
	return w.emptyAt == 0 || w.emptyUses == NoCount || w.emptyUses > 2 || o.State != preserve.Holding
}

// usesBefore returns the use count before an object was made; 0 if it is not known.
func (w *wrap) usesBefore() int64 {
	if w.emptyAt == 0 || w.emptyUses == NoCount {
		return 0
	}
	return w.emptyUses
}

// compareCounts compares the use count of the impl with an empty slot with that of an object's impl: the one before the
// object was made, plus the object's reference. It reports whether the log has both, and whether they are equal. A
// hermetic object over the same bytes may hold either impl.
func (f *follower) compareCounts(i *impl, o *object) (known, same bool) {
	for _, h := range f.objects {
		if h.Made == MadeHermetic && h.Impl == i.Address {
			return true, false
		}
	}
	now, then := i.wrap.usesBefore(), o.madeUses
	if f.owns(o) {
		then++
	}
	return now != 0 && o.madeUses != 0, now == then
}

// owns reports whether an object has a reference to its impl.
func (f *follower) owns(o *object) bool {
	return f.protocol == preserve.Counting || o.State == preserve.Holding
}

// A likelihood compares a fault with a healthy explanation of the same lines.
type likelihood uint8

const (
	asLikely   likelihood = iota
	likely                // unless the log proves the explanation elsewhere
	mostLikely            // even then
)

// The number of records within which an address counts as the same tensor's.
const (
	soon   = 160
	atOnce = 32 // one other access or release in between
)

// addDoubt keeps a violation with another explanation, and returns its likelihood. It
// is most likely if the tensor that got the first object gets the second.
func (f *follower) addDoubt(d *doubt, i *impl, explanation string) likelihood {
	d.explanation = explanation
	d.was.doubts = append(d.was.doubts, d)
	d.now.doubts = append(d.now.doubts, d)
	t := f.tensors[i.asker]
	switch {
	case i.asker != d.was.asker:
		return asLikely
	case t == nil:
		return likely
	case t.since > d.was.facts.madeAt || f.records-t.prev >= soon:
		return asLikely
	case f.records-t.prev >= atOnce:
		return likely
	}
	return mostLikely
}

// secondLikelihood returns the likelihood that a second object is a fault: an address may soon be another tensor's.
func (f *follower) secondLikelihood(near likelihood, i *impl, old *object) likelihood {
	t := f.tensors[i.asker]
	known, same := f.compareCounts(i, old)
	switch {
	case near == asLikely, known && !same, t != nil && (near == likely || t.prior > old.facts.madeAt):
		return asLikely
	case t != nil && known && f.owns(old):
		return mostLikely
	}
	return likely
}

// decide decides which unsettled doubts are violations. Repeated ones are more likely healthy.
func (f *follower) decide() {
	again := map[string]int{}
	for _, v := range f.violations {
		if v.explanation != "" && !v.settled {
			again[v.explanation]++
		}
	}
	for _, v := range f.violations {
		healthy := f.proven[v.explanation] || again[v.explanation] > 1
		if v.explanation != "" && !v.settled && (v.likely == asLikely || v.likely == likely && healthy) {
			v.Warning = v.explanation
		}
	}
}

// settle removes the doubts about an object that a line settles.
func (o *object) settle(broke func(*doubt) (broke, settled bool)) {
	rest := o.doubts[:0]
	for _, d := range o.doubts {
		if d.settled {
			continue
		}
		broke, settled := broke(d)
		if !settled {
			rest = append(rest, d)
			continue
		}
		d.settled = true
		if d.withdrawn = !broke; d.withdrawn {
			for n := range d.now.Events {
				if e := &d.now.Events[n]; e.Line == d.Line && e.Code == d.Code {
					e.Code = 0
				}
			}
		}
	}
	o.doubts = rest
}

func (f *follower) slotPointsAt(i *impl, at Address) {
	f.context++
	if i.freed != nil && i.freed.Address == at {
		if i.broken != nil || i.freed.gap == f.gaps || i.freed.facts.hermeticAt != 0 {
			f.usedAfter(i)
		} // else the hole may hide another object at the address, of another type
		return
	}
	if d := f.dead[at]; d != nil && d.gap == f.gaps {
		f.staleSlot(i, d)
		return
	}
	o := f.meet(at, i.Address)
	i.wrap.slotWas = o.facts.slotAt
	o.facts.slotAt = f.number
	switch was := i.slot; {
	case was == o:
		f.slotShown(i, o)
	case was != nil && was.Made == MadePlain && was.gap == f.gaps && !i.shared &&
		o.Made == MadePlain && o.gap == f.gaps && o.Impl != 0 && o.Impl != i.Address:
		v := f.breaks(preserve.SameObject, o, i.Address,
			"the slot of the impl of %v points at %v, which is the object of impl %v", was.Address, o.Address, o.Impl).
			because(OtherObject, says(max(was.facts.slotAt, was.facts.madeAt), "the slot pointed at %v", was.Address),
				says(o.facts.madeAt, "%v was made for impl %v", o.Address, o.Impl))
		v.likely = f.addDoubt(&doubt{InvariantViolation: v, was: was, now: o, data: i.Address, home: o.Impl}, i, movedBytes)
	default:
		f.slotShown(i, o)
		f.proven[movedBytes] = f.proven[movedBytes] || o.Impl != 0 && o.Impl != i.Address
	}
	if o.Made == MadeHermetic && o.madeGap == f.gaps {
		f.breaks(preserve.Hermetic, o, i.Address, "a slot points at an object made in a hermetic context").
			because(HermeticState, says(o.facts.madeAt, "made in a hermetic context"))
	}
	f.moveBytes(o, i.Address)
	if i.Address != 0 {
		i.slot = o
	}
}

// slotShown handles a line that shows a slot at these bytes pointing at an object. If
// another object was made for them since, they are the bytes of two impls.
func (f *follower) slotShown(i *impl, o *object) {
	o.settle(func(d *doubt) (bool, bool) {
		switch {
		case d.now == o && d.home == i.Address:
			d.home = 0 // it may have moved back
		case d.was == o && d.data != i.Address: // it had moved away
			return false, true
		case d.was == o && d.isNew:
			f.markShared(i)
			return false, true
		}
		return false, false
	})
}

// markShared records that several impls have the bytes of one.
func (f *follower) markShared(i *impl) { i.shared, f.proven[sharedBytes] = true, true }

// moveBytes records where an object's impl has its bytes.
func (f *follower) moveBytes(o *object, data Address) {
	if o.Impl == Address(data) {
		return
	}
	if old := f.impls[o.Impl]; old != nil && old.slot == o {
		old.slot = nil
	}
	if o.Impl != 0 {
		f.eventAt(&o.Life, DataMoved, data)
	}
	o.Impl = data
}

func (f *follower) handOut(i *impl, s preserve.Step, what What) {
	f.context++
	o := f.objects[i.wrap.pointsTo]
	if i.wrap.pointsTo == 0 {
		o = i.slot
	}
	if o == nil || i.freed != nil && i.freed.Address == o.Address {
		return
	}
	f.eventAt(&o.Life, what, i.Address)
	f.step(o, s)
	f.wrongInterpreter(i, o)
}

func (f *follower) wrongInterpreter(i *impl, o *object) {
	w, maker := i.wrap, o.facts.maker
	if w.interp != 0 && maker != 0 && w.interp != maker && w.made != o && o.madeGap == f.gaps {
		f.breaks(preserve.OneInterpreter, o, i.Address, "made by interpreter %v, handed out in %v", maker, w.interp).
			because(InterpreterClash, says(o.facts.makerAt, "made by interpreter %v", maker),
				says(w.interpAt, "asked for by interpreter %v", w.interp))
	}
}

// endWrap handles the end of a wrap: the caller has the object.
func (f *follower) endWrap(i *impl, r *logRecord) {
	w := &i.wrap
	if o := w.made; o != nil && o.Address == r.ref {
		if o.Made == MadeUnseen && !w.hermetic && !w.foreign && i.slot == nil {
			f.setSlot(i, o)
		}
		return
	}
	if i.freed != nil && i.freed.Address == r.ref {
		if w.pointsTo != r.ref {
			f.usedAfter(i)
		}
		f.foundType(i, r.ref, typeName(r.typ))
		return
	}
	if d := f.dead[r.ref]; d != nil && d.gap == f.gaps {
		if w.pointsTo != r.ref {
			f.staleSlot(i, d)
		}
		return
	}
	o := f.meet(r.ref, 0)
	switch {
	case w.pointsTo != 0 && w.pointsTo != r.ref:
		f.breaks(preserve.SameObject, o, i.Address, "the slot points at %v, and another object is handed out", w.pointsTo).
			because("", says(w.pointsAt, "the slot points at %v", w.pointsTo))
	case w.open && w.hermetic && o.Made == MadePlain && o.madeGap == f.gaps:
		f.breaks(preserve.Hermetic, o, i.Address, "made outside hermetic contexts, handed out in one").
			because(HermeticState, says(o.facts.madeAt, "made outside hermetic contexts"))
	case w.pointsTo == 0: // the lines before are missing
		f.eventAt(&o.Life, Handed, i.Address)
		o.State, o.gap = preserve.Holding, f.gaps
		f.moveBytes(o, i.Address)
	}
	f.foundType(i, r.ref, typeName(r.typ))
}

func (f *follower) foundType(i *impl, at Address, typ string) {
	if i.freed != nil && i.freed.Address == at {
		if i.broken == nil || i.broken.Consequence == 0 {
			if !foreignType(typ) { // made where the log has a hole
				f.forgetFreed(i)
				return
			}
			f.usedAfter(i)
		}
		if v := i.broken; v.Found == "" {
			v.Found, v.Consequence = typ, f.number
		}
		f.eventType(&i.freed.Life, typ)
		return
	}
	if v := i.wrap.stale; v != nil && v.Found == "" {
		v.Found, v.Consequence = typ, f.number
		return
	}
	o := f.objects[at]
	if o == nil {
		return
	}
	switch {
	case o.Type == "" && !foreignType(typ):
		o.Type = typ
	case o.Type == typ, !f.whole && strings.HasPrefix(o.Type, typ):
	default:
		f.eventType(&o.Life, typ)
		v := f.breaks(preserve.UseAfter, o, i.Address,
			"what is found there is a %s; the log does not show the deallocation", typ)
		v.Found, v.Consequence = typ, f.number
		if o.release { // cut off where it was not preserved
			saw := v.facts.saw
			v.facts = o.facts
			v.facts.saw, v.facts.deallocation = saw, true
			v.facts.slotAt, v.facts.stillAt = i.wrap.slotWas, i.wrap.pointsAt
		} else {
			v.because("", says(f.number, "a %s is found there", typ), says(o.facts.madeAt, "a %s was made there", o.Type))
		}
		o.State = preserve.Dead
		delete(f.objects, at)
		if i.slot == o {
			i.slot = nil
		}
		f.suspect(i, o, v)
	}
}

// foreignType reports whether a type is a built-in one, and so never that of a storage's object.
func foreignType(typ string) bool {
	_, ok := slices.BinarySearch(builtinTypes, typ)
	return ok
}

var builtinTypes = []string{
	"NoneType", "builtin_function_or_method", "bytearray", "bytes", "cell", "code", "complex", "coroutine", "dict",
	"dict_items", "dict_keys", "dict_values", "ellipsis", "float", "frame", "frozenset", "function", "generator",
	"getset_descriptor", "int", "list", "list_iterator", "mappingproxy", "method", "method-wrapper", "module",
	"object", "property", "range", "set", "slice", "str", "traceback", "tuple", "type", "weakref",
	"weakref.ReferenceType", "wrapper_descriptor",
}

// meet returns the object at an address; one that was not seen before is that of the impl.
func (f *follower) meet(at Address, impl Address) *object {
	o := f.objects[at]
	if o == nil {
		o = &object{Life: Life{Kind: Object, Address: at, Impl: impl}, gap: f.gaps, madeGap: f.gaps}
		f.objects[at] = o
		f.event(&o.Life, FirstSeen)
	}
	return o
}

// step makes a step in an object's life. An impossible one is a violation, unless a hole in the log explains it.
func (f *follower) step(o *object, s preserve.Step) {
	to, code := f.protocol.Next(o.State, s)
	switch {
	case code == 0:
	case f.protocol == preserve.Counting && code == preserve.OneOwner:
		f.breaks(code, o, o.Impl, "%s, though in this PyTorch ownership does not flip", wrongSteps[s])
	case o.gap == f.gaps && o.State != preserve.Unknown:
		f.breaks(code, o, o.Impl, "%s while %s", wrongSteps[s], stands[o.State]).
			because("", says(o.stateAt, "since here %s", stands[o.State]))
	}
	o.State, o.gap, o.stateAt = to, f.gaps, f.number
}

var wrongSteps = [...]string{
	preserve.Create: "made", preserve.Hand: "handed out", preserve.Preserve: "preserved",
	preserve.Resurrect: "resurrected", preserve.Deallocate: "deallocated",
}

var stands = [...]string{
	preserve.Holding: "it owns the impl", preserve.Preserved: "the impl owns it", preserve.Dead: "it is deallocated",
}

// breaks records a violation at this line, and marks the object's last event.
func (f *follower) breaks(c preserve.Code, o *object, data Address, saw string, args ...any) *InvariantViolation {
	v := f.breaksAt(c, f.number, o, data, fmt.Sprintf(saw, args...))
	if n := len(o.Events); n == 0 || o.Events[n-1].Line != f.number {
		f.event(&o.Life, Breaks)
	}
	o.Events[len(o.Events)-1].Code = c
	return v
}

func (f *follower) breaksAt(c preserve.Code, line int64, o *object, data Address, saw string) *InvariantViolation {
	v := &InvariantViolation{
		Code: c, Line: line, World: f.world, Object: o.Address, Impl: data, Type: o.Type,
		context: f.context, facts: causeLines{saw: saw},
	}
	f.violations = append(f.violations, v)
	return v
}

func (f *follower) endObject(o *object) {
	delete(f.objects, o.Address)
	if i := f.impls[o.Impl]; i != nil && i.slot == o {
		i.slot = nil
	}
	f.endLife(o.Life)
}

// end ends the log, after a truncated line if cutAt is not 0. It returns the violations.
func (f *follower) end(cutAt int64) []*InvariantViolation {
	for _, at := range sorted(f.objects) {
		o := f.objects[at]
		f.cutOff(o, cutAt)
		f.endLife(o.Life)
	}
	for _, data := range sorted(f.impls) {
		f.forgetFreed(f.impls[data])
		f.endImpl(f.impls[data])
	}
	for _, at := range sorted(f.tensors) {
		f.endLife(f.tensors[at].Life)
	}
	f.decide()
	return rooted(slices.DeleteFunc(f.violations, func(v *InvariantViolation) bool { return v.withdrawn }))
}

func (f *follower) endImpl(i *impl) {
	delete(f.impls, i.Address)
	if i.Address != 0 && len(i.Events) > 0 {
		f.endLife(i.Life)
	}
}

func sorted[V any](m map[Address]V) []Address { return slices.Sorted(maps.Keys(m)) }
