package live

import (
	"fmt"

	"github.com/opassert/opassert/asserts/preserve"
	"github.com/opassert/opassert/asserts/preserve/trace"
)

// A Finding is a broken invariant in a program.
type Finding struct {
	Code    preserve.Code
	Process int
	Event   int64 // its number in the process
	Object  trace.Address
	Impl    trace.Address
	Type    string
	Storage bool   // the impl is a StorageImpl, and not a TensorImpl
	Thread  uint32 // as the system numbers it
	Saw     string
	Site    *Frame // the line of Python that ran; nil if it is not known
	Made    string // what is known of the object's making
	Root    *Finding
	Below   []*Finding // that follow from it
}

// A Frame is a line of Python.
type Frame struct {
	File string `json:"file"`
	Line int    `json:"line"`
}

// String returns the line as reports show it: "train.py:12".
func (f *Frame) String() string { return fmt.Sprintf("%s:%d", f.File, f.Line) }

// An object is one that lives, or that is dead and not forgotten yet.
type object struct {
	at, impl trace.Address
	tag      trace.Address
	typ      string
	state    preserve.State
	hermetic bool // made in a hermetic context
	made     int64
	root     *Finding // what this release broke first
	last     event    // its last release
	dead     *Finding // why it should not be; nil if it died as it should
	told     [preserve.NumCodes]bool
}

// A judge follows one process.
type judge struct {
	pid      int
	torch    string // version
	protocol preserve.Protocol
	number   int64
	types    map[uint32]string
	files    map[uint32]string
	objects  map[trace.Address]*object // by address; dead ones until the address is used again
	slots    map[trace.Address]*object // by impl: the living object that its slot points at
	context  map[uint32]*Finding       // by thread: the hermetic context that was handed an object from outside
	found    func(*Finding)
}

func newJudge(pid int, protocol preserve.Protocol, found func(*Finding)) *judge {
	return &judge{
		pid: pid, protocol: protocol, types: map[uint32]string{}, files: map[uint32]string{},
		objects: map[trace.Address]*object{}, slots: map[trace.Address]*object{}, context: map[uint32]*Finding{}, found: found,
	}
}

// tell is breaks, once for each object and code: a slot that is wrong stays so.
func (j *judge) tell(c preserve.Code, e *event, o *object, format string, args ...any) {
	if !o.told[c] {
		o.told[c] = true
		j.breaks(c, e, o, nil, format, args...)
	}
}

func (j *judge) breaks(c preserve.Code, e *event, o *object, root *Finding, format string, args ...any) *Finding {
	f := &Finding{
		Code: c, Process: j.pid, Event: j.number, Object: e.object, Impl: e.impl, Type: j.types[e.typ], Storage: e.is(ofStorage),
		Thread: e.thread, Saw: fmt.Sprintf(format, args...), Root: root,
	}
	if o != nil {
		f.Type = o.typ
		if o.made != 0 {
			f.Made = fmt.Sprintf("at event %d", o.made)
			if o.hermetic {
				f.Made += ", in a hermetic context"
			}
		}
	}
	if e.file != 0 {
		f.Site = &Frame{j.files[e.file], int(e.line)}
	}
	if root != nil {
		root.Below = append(root.Below, f)
	}
	j.found(f)
	return f
}

// take follows one event.
func (j *judge) take(e *event, name string) {
	switch e.kind {
	case typeName:
		j.types[e.typ] = name
		return
	case fileName:
		j.files[e.typ] = name
		return
	}
	j.number++
	if !e.is(inHermetic) {
		delete(j.context, e.thread)
	}
	switch e.kind {
	case made:
		if o := j.objects[e.object]; o != nil && j.slots[o.impl] == o {
			delete(j.slots, o.impl)
		}
		delete(j.objects, e.object)
	case refused:
		if o := j.living(e.slot); o != nil && o.tag != 0 && e.tag != o.tag {
			j.tell(preserve.OneInterpreter, e, o, "made for interpreter %v, the slot is tagged %v", o.tag, e.tag)
		}
	case wrap:
		j.wrap(e)
	case release:
		j.release(e)
	case freed:
		j.freed(e)
	case stays:
		j.stays(e)
	}
}

func (j *judge) living(at trace.Address) *object {
	if o := j.objects[at]; o != nil && o.state != preserve.Dead {
		return o
	}
	return nil
}

func (j *judge) step(e *event, o *object, s preserve.Step) {
	to, code := j.protocol.Next(o.state, s)
	if code != 0 && o.state != preserve.Unknown {
		j.breaks(code, e, o, nil, "%s while the object is %s", s, o.state)
	}
	o.state = to
}

func (j *judge) wrap(e *event) {
	if old := j.objects[e.slot]; e.slot != 0 && old != nil && old.state == preserve.Dead {
		j.breaks(preserve.UseAfter, e, old, old.dead, "the slot points at %v, which is deallocated", e.slot)
		delete(j.objects, e.slot)
		return
	}
	o := j.living(e.object)
	if e.slot != 0 && e.slot == e.object { // the slot's own
		if o == nil {
			o = j.meet(e)
		}
		switch {
		case o.impl != e.impl:
			j.breaks(preserve.SameObject, e, o, nil, "the slot points at the object of impl %v", o.impl)
			return
		case o.tag != 0 && e.tag != o.tag:
			j.tell(preserve.OneInterpreter, e, o, "made for interpreter %v, the slot is tagged %v", o.tag, e.tag)
		}
		if e.is(inHermetic) && !o.hermetic {
			j.context[e.thread] = j.breaks(preserve.Hermetic, e, o, nil, "made outside hermetic contexts, handed out in one")
		}
		if e.is(owns) {
			j.step(e, o, preserve.Resurrect)
		} else {
			j.step(e, o, preserve.Hand)
		}
		j.slots[e.impl] = o
		return
	}
	if e.slot != 0 && !e.is(inHermetic) && j.living(e.slot) != nil {
		j.breaks(preserve.SameObject, e, o, nil, "the slot points at %v, and %v is handed out", e.slot, e.object)
	}
	if was := j.slots[e.impl]; was != nil && was.state != preserve.Dead && was.impl == e.impl && was.at != e.object && !e.is(inHermetic) {
		was.told[preserve.SameObject] = true
		j.breaks(preserve.SameObject, e, was, nil, "%v is a second object for the impl of %v, which lives; the slot was empty", e.object, was.at)
	}
	second := j.slots[e.impl] != nil && j.slots[e.impl].told[preserve.SameObject]
	o = j.meet(e)
	o.told[preserve.SameObject] = second
	o.made = j.number
	o.hermetic = e.is(inHermetic)
	o.state = preserve.Holding
	if !o.hermetic {
		j.slots[e.impl] = o
	}
}

// meet is the first event of an object.
func (j *judge) meet(e *event) *object {
	o := &object{at: e.object, impl: e.impl, tag: e.tag, typ: j.types[e.typ]}
	j.objects[e.object] = o
	return o
}

func (j *judge) release(e *event) {
	o := j.objects[e.object]
	switch {
	case o == nil:
		o = j.meet(e)
		o.hermetic = e.is(madeHermetic)
	case o.state == preserve.Dead && o.typ != j.types[e.typ]: // made before its type was known
		o = j.meet(e)
		o.hermetic = e.is(madeHermetic)
	case o.state == preserve.Dead:
		o.dead = j.breaks(preserve.DoubleRelease, e, o, o.dead, "released again after it was deallocated")
	}
	o.last, o.root = *e, nil
	if o.impl != e.impl { // Tensor.data = ...
		j.moved(o, e.impl)
	}
	switch {
	case o.tag != 0 && e.tag != o.tag && e.slot == e.object:
		o.root = j.breaks(preserve.OneInterpreter, e, o, nil, "made for interpreter %v, its slot is tagged %v when it is released", o.tag, e.tag)
	case j.protocol == preserve.Counting:
		switch {
		case e.uses <= 1 || e.slot != e.object:
		case !e.is(marked):
			o.root = j.breaks(preserve.OneOwner, e, o, nil, "its last reference is released, for the impl, which others hold (use count %d), is not marked to hold one", e.uses)
		default:
			o.root = j.breaks(preserve.DoubleRelease, e, o, nil, "its last reference is released, and the impl, which others hold (use count %d), refers to it", e.uses)
		}
	case e.is(borrowed):
		if e.uses > 0 {
			o.root = j.breaks(preserve.DoubleRelease, e, o, nil, "released though only the impl, which lives (use count %d), referred to it", e.uses)
		}
	case o.hermetic || e.is(madeHermetic):
	case e.slot == 0 && o.made != 0, e.slot != 0 && e.slot != e.object:
		j.tell(preserve.SameObject, e, o, "the slot of its impl has %v in its place", e.slot)
	}
}

func (j *judge) moved(o *object, impl trace.Address) {
	if j.slots[o.impl] == o {
		delete(j.slots, o.impl)
	}
	o.impl = impl
}

func (j *judge) freed(e *event) {
	o := j.objects[e.object]
	if o == nil {
		return
	}
	was := &o.last
	o.state = preserve.Dead
	if j.slots[o.impl] == o {
		delete(j.slots, o.impl)
	}
	if o.hermetic || was.slot != e.object || was.uses <= 1 && !(was.is(borrowed) && was.uses > 0) {
		return
	}
	e.impl, e.thread, e.typ, e.line, e.file = was.impl, was.thread, was.typ, was.line, was.file
	root := o.root
	if root == nil && was.is(inHermetic) {
		if root = j.context[e.thread]; root == nil {
			root = j.breaks(preserve.Hermetic, was, o, nil, "a hermetic context releases what was made outside")
			j.context[e.thread] = root
		}
	}
	o.dead = j.breaks(preserve.SharedDealloc, e, o, root, "deallocated while others hold the impl (use count %d), whose slot points at it", was.uses)
}

func (j *judge) stays(e *event) {
	o := j.objects[e.object]
	if o == nil || o.state == preserve.Dead {
		return
	}
	if e.is(owns) && e.slot == e.object {
		j.step(e, o, preserve.Preserve)
	}
}
