package live

import (
	"fmt"
	"maps"
	"slices"

	"github.com/opassert/opassert/asserts/preserve"
	"github.com/opassert/opassert/cmd/opassert/internal/trace"
)

// An ObjectFinding is a broken invariant in a program.
type ObjectFinding struct {
	Code    preserve.Code  `json:"code"`
	Process int            `json:"-"`
	Event   int64          `json:"event"` // its number in the process
	Object  trace.Address  `json:"object"`
	Impl    trace.Address  `json:"impl"`
	Type    string         `json:"type,omitempty"`
	Storage bool           `json:"storage"` // the impl is a StorageImpl, and not a TensorImpl
	Thread  uint32         `json:"thread"`  // as the system numbers it
	Saw     string         `json:"saw"`
	Site    *PythonLine    `json:"-"`              // the running line of Python; nil if it is not known
	Made    string         `json:"made,omitempty"` // the line that made the object, if known
	Root    *ObjectFinding `json:"-"`
}

// A PythonLine is a line of Python.
type PythonLine struct {
	File string `json:"file"`
	Line int    `json:"line"`
}

// String returns the line as reports show it: "train.py:12".
func (f *PythonLine) String() string { return fmt.Sprintf("%s:%d", f.File, f.Line) }

// An object is alive, or dead and not forgotten yet.
type object struct {
	at, impl trace.Address
	tag      trace.Address
	typ      string
	state    preserve.State
	hermetic bool // made in a hermetic context
	handed   bool // handed out as the object in its impl's slot
	made     int64
	died     int64
	root     *ObjectFinding // the first violation of this release
	last     event          // its last release
	dead     *ObjectFinding // the violation by which it died; nil if it died correctly
	reported [preserve.NumCodes]bool
}

type judge struct {
	pid      int
	torch    string // version
	protocol preserve.Protocol
	number   int64
	types    map[uint32]string
	late     int64 // the event before which objects may have been made unseen
	files    map[uint32]string
	objects  map[trace.Address]*object // by address; dead ones until the address is used again
	slots    map[trace.Address]*object // by impl: the living object that its slot points at
	deleted  map[trace.Address]*object // by StorageImpl that was freed: the last object that it had
	context  map[uint32]*ObjectFinding // by thread: the hermetic context that was handed an object from outside
	asked    map[uint32]*event         // by thread: the request for an object that looks deallocated
	untagged bool                      // the process broke a rule as a slot had no tag
	found    func(*ObjectFinding)
}

func newJudge(pid int, protocol preserve.Protocol, found func(*ObjectFinding)) *judge {
	return &judge{
		pid: pid, protocol: protocol, found: found, types: map[uint32]string{}, files: map[uint32]string{},
		objects: map[trace.Address]*object{}, slots: map[trace.Address]*object{}, deleted: map[trace.Address]*object{},
		context: map[uint32]*ObjectFinding{}, asked: map[uint32]*event{},
	}
}

// report calls breaks once for each object and code: a wrong slot stays wrong.
func (j *judge) report(c preserve.Code, e *event, o *object, format string, args ...any) {
	if !o.reported[c] {
		o.reported[c] = true
		j.breaks(c, e, o, nil, format, args...)
	}
}

func (j *judge) breaks(
	c preserve.Code, e *event, o *object, root *ObjectFinding, saw string, args ...any,
) *ObjectFinding {
	f := &ObjectFinding{
		Code: c, Process: j.pid, Event: j.number, Object: e.object, Impl: e.impl, Type: j.types[e.typ],
		Storage: e.is(ofStorage), Thread: e.thread, Saw: fmt.Sprintf(saw, args...), Root: root,
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
		f.Site = &PythonLine{j.files[e.file], int(e.line)}
	}
	j.found(f)
	return f
}

func (j *judge) take(e *event, name string) {
	switch e.kind {
	case typeName:
		j.types[e.typ] = name
		if !e.is(newClass) {
			j.late = j.number
		}
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
		j.forget(e.object)
		j.meet(e).made = j.number
	case asks:
		if o := j.objects[e.object]; o != nil && o.state == preserve.Dead {
			j.asked[e.thread] = new(*e)
		}
	case refused:
		delete(j.asked, e.thread)
		if o := j.living(e.slot); o != nil && o.tag != 0 && e.tag != o.tag {
			j.report(preserve.OneInterpreter, e, o, "made for interpreter %v, the slot is tagged %v", o.tag, e.tag)
		}
	case wrap:
		j.wrap(e)
	case release:
		j.release(e)
	case freed:
		j.freed(e)
	case stays:
		if o := j.living(e.object); o != nil && e.is(owns) && e.slot == e.object {
			j.step(e, o, preserve.Preserve)
		}
	case raw:
		if o := j.deleted[e.impl]; o != nil {
			e.object = o.at
			j.report(preserve.UseAfter, e, o,
				"the _cdata of its StorageImpl is used, which was freed with it at event %d", o.died)
		}
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

// end handles the end of the process. A thread whose request was not answered has crashed.
func (j *judge) end() {
	for _, thread := range slices.Sorted(maps.Keys(j.asked)) {
		e := j.asked[thread]
		o := j.objects[e.object]
		j.breaks(preserve.UseAfter, e, o, o.dead,
			"the slot points at %v, which is deallocated; the call that asked for it did not return", e.object)
	}
}

// madeUnseen reports whether the object of an event may have been made unseen at the address of a dead one.
func (j *judge) madeUnseen(e *event) bool {
	o := j.objects[e.object]
	return o != nil && o.state == preserve.Dead && e.typ != 0 && o.died <= j.late
}

func (j *judge) known(e *event) *object {
	if j.madeUnseen(e) {
		j.forget(e.object)
	}
	o := j.objects[e.object]
	if o != nil && e.typ != 0 {
		o.typ = j.types[e.typ]
	}
	return o
}

func (j *judge) forget(at trace.Address) {
	if o := j.objects[at]; o != nil && j.slots[o.impl] == o {
		delete(j.slots, o.impl)
	}
	delete(j.objects, at)
}

// wrap handles that an impl's object is handed out: the one in its slot, or a new one.
func (j *judge) wrap(e *event) {
	delete(j.asked, e.thread)
	delete(j.deleted, e.impl)
	o := j.known(e)
	switch {
	case e.slot == e.object:
		j.handOut(e, o)
		return
	case !e.is(inHermetic) && j.living(e.slot) != nil:
		j.breaks(preserve.SameObject, e, j.living(e.slot), nil,
			"the slot points at %v, and %v is handed out", e.slot, e.object)
	case e.is(second) && o != j.slots[e.impl]: // else another thread has made it
		j.another(e, "the slot was empty")
	}
	reported := j.slots[e.impl] != nil && j.slots[e.impl].reported[preserve.SameObject]
	if o == nil || o.state != preserve.Unknown {
		o = j.meet(e)
		o.made = j.number
	}
	o.impl, o.tag, o.state = e.impl, e.tag, preserve.Holding
	o.reported[preserve.SameObject] = reported
	if o.hermetic = e.is(inHermetic); !o.hermetic {
		o.handed = true
		j.slots[e.impl] = o
	}
}

func (j *judge) handOut(e *event, o *object) {
	switch {
	case o != nil && o.state == preserve.Dead:
		j.breaks(preserve.UseAfter, e, o, o.dead, "the slot points at %v, which is deallocated", e.slot)
		j.forget(e.slot)
		return
	case e.typ == 0:
		j.breaks(preserve.UseAfter, e, o, nil,
			"the slot points at %v, which is not the object of a tensor or a storage", e.slot)
		return
	case e.is(elsewhere):
		whose := "another impl"
		if o != nil && o.impl != 0 && o.impl != e.impl {
			whose = fmt.Sprintf("impl %v", o.impl)
		}
		j.breaks(preserve.SameObject, e, o, nil, "the slot points at the object of %s", whose)
		return
	case o == nil:
		o = j.meet(e)
	case o.tag != 0 && e.tag != o.tag:
		j.report(preserve.OneInterpreter, e, o, "made for interpreter %v, the slot is tagged %v", o.tag, e.tag)
	}
	if e.is(second) {
		j.another(e, "its slot pointed at it")
		o.reported[preserve.SameObject] = true
	}
	j.moved(o, e.impl)
	if o.tag == 0 {
		o.tag = e.tag
	}
	if e.is(inHermetic) && !o.hermetic {
		j.context[e.thread] = j.breaks(preserve.Hermetic, e, o, nil, "made outside hermetic contexts, handed out in one")
	}
	if e.is(owns) {
		j.step(e, o, preserve.Resurrect)
	} else {
		j.step(e, o, preserve.Hand)
	}
	o.handed = true
	j.slots[e.impl] = o
}

// another handles an object that is handed out while the one before lives and holds the impl.
func (j *judge) another(e *event, slot string) {
	if was := j.slots[e.impl]; was != nil {
		j.report(preserve.SameObject, e, was,
			"%v is a second object for the impl of %v, which lives; %s", e.object, was.at, slot)
	} else {
		j.breaks(preserve.SameObject, e, nil, nil, "%v is a second object for the impl of one that lives; %s", e.object, slot)
	}
}

func (j *judge) meet(e *event) *object {
	o := &object{at: e.object, impl: e.impl, tag: e.tag, typ: j.types[e.typ]}
	o.hermetic = e.kind == made && e.is(inHermetic)
	j.objects[e.object] = o
	return o
}

func (j *judge) release(e *event) {
	o := j.known(e)
	switch {
	case o == nil:
		o = j.meet(e)
	case o.state == preserve.Dead:
		o.dead = j.breaks(preserve.DoubleRelease, e, o, o.dead, "released again after it was deallocated")
	}
	o.last, o.root = *e, nil
	o.hermetic = o.hermetic || e.is(noSlot)
	j.moved(o, e.impl) // Tensor.data = ..., torch.utils.swap_tensors
	switch {
	case o.tag != 0 && e.tag != o.tag && e.slot == e.object:
		o.root = j.breaks(preserve.OneInterpreter, e, o, nil,
			"made for interpreter %v, its slot is tagged %v when it is released", o.tag, e.tag)
	case o.hermetic:
	case j.slotReplaced(e, o):
		j.report(preserve.SameObject, e, o, "the slot of its impl has %v in its place", e.slot)
	case j.protocol == preserve.Counting && (e.uses <= 1 || e.slot != e.object):
	case j.protocol == preserve.Counting && !e.is(marked):
		o.root = j.breaks(preserve.OneOwner, e, o, nil, "its last reference is released, "+
			"for the impl, which others hold (use count %d), is not marked to hold one", e.uses)
	case j.protocol == preserve.Counting:
		o.root = j.breaks(preserve.DoubleRelease, e, o, nil, "its last reference is released, "+
			"and the impl, which others hold (use count %d), refers to it", e.uses)
	case e.is(borrowed) && e.uses > 0:
		o.root = j.breaks(preserve.DoubleRelease, e, o, nil,
			"released though only the impl, which lives (use count %d), referred to it", e.uses)
	}
}

// slotReplaced reports whether the slot of an object's impl pointed at it, and now holds something else.
func (j *judge) slotReplaced(e *event, o *object) bool {
	if e.slot == 0 { // and not cleared by the garbage collector
		return o.handed && j.protocol == preserve.Flipping && !e.is(borrowed)
	}
	return e.slot != e.object && (o.handed || o.made != 0)
}

func (j *judge) moved(o *object, impl trace.Address) {
	if o.impl != impl && j.slots[o.impl] == o {
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
	o.state, o.died = preserve.Dead, j.number
	if j.slots[o.impl] == o {
		delete(j.slots, o.impl)
	}
	if was.is(ofStorage) && was.uses <= 1 && was.weak <= 1 {
		j.deleted[o.impl] = o
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
	if j.protocol == preserve.Flipping && was.tag == 0 && root == nil {
		if !j.untagged { // PyTorch 2.6: every storage from another process
			j.breaks(preserve.SameObject, e, o, nil, "deallocated while others hold the impl (use count %d): its slot has "+
				"no interpreter's tag, so that it counts as empty, and the next request gets another object", was.uses)
		}
		j.untagged = true
		return
	}
	o.dead = j.breaks(preserve.SharedDealloc, e, o, root,
		"deallocated while others hold the impl (use count %d), whose slot points at it", was.uses)
}
