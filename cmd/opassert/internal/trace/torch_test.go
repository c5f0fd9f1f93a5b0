package trace

import (
	"fmt"
	"math/rand/v2"
)

// A torch is a PyTorch instrumented as in the reports of the bug: it changes slots
// and counts as torch/csrc/Storage.cpp does, and prints the lines of the patched
// functions, in their order. It knows the faults and their lines.
//
// The patches differ. 1 prints no interpreters and no use count where the slot
// is empty, but the use count before it deallocates. 2 prints both
// interpreters and hermetic states. 3 is 2 with the fault fixed. 4 is a PyTorch
// in which both sides count: the refs of an object there are Python's alone.
type torch struct {
	patch    int
	dir      string // before the file names
	interp   uint64
	hermetic bool
	fresh    bool // no memory is reused
	lines    []string

	nextData, nextTensor, nextObject uint64
	freeData, freeTensors, freeMem   []uint64
	dangling                         map[uint64]*simStorage // by the freed object's address
	broken                           []simFault
}

type simStorage struct {
	data  uint64
	uses  int
	slot  *simObject // a dangling pointer after the fault
	owns  bool
	bytes bool // shared with another storage: not freed here
	fault int  // in broken, 1 for the first; 0: none
	dead  bool
}

type simTensor struct {
	at      uint64
	storage *simStorage
}

type simObject struct {
	at       uint64
	storage  *simStorage
	refs     int
	borrowed bool
	hermetic bool
	freed    bool
}

// A simFault is an object deallocated though its storage lives. Lines count from 1.
type simFault struct {
	object, data uint64
	line, use    int // use is 0 if it was not used afterwards
}

func newTorch(patch int, space uint64) *torch {
	p := &torch{
		patch: patch, dir: "torch/csrc/", interp: 0x7f0000006160 + space<<24,
		nextData: 0x7f01fc600000 + space<<24, nextTensor: 0x7f00de700000 + space<<24, nextObject: 0x7f00df000000 + space<<24,
		dangling: map[uint64]*simStorage{},
	}
	if patch == 4 {
		p.lines = []string{"[torch/version.h:1] PyTorch 2.12.0+cu130"}
	}
	return p
}

func (p *torch) alloc(free *[]uint64, next *uint64, size uint64) uint64 {
	if n := len(*free); n > 0 && !p.fresh {
		a := (*free)[n-1]
		*free = (*free)[:n-1]
		return a
	}
	*next += size
	return *next
}

func (p *torch) say(where, format string, args ...any) (line int) {
	p.lines = append(p.lines, fmt.Sprintf("[%s%s] ", p.dir, where)+fmt.Sprintf(format, args...))
	return len(p.lines)
}

func (p *torch) tensor() *simTensor {
	return &simTensor{p.alloc(&p.freeTensors, &p.nextTensor, 0x280), &simStorage{data: p.alloc(&p.freeData, &p.nextData, 0x40), uses: 1}}
}

func (p *torch) view(t *simTensor) *simTensor {
	t.storage.uses++
	return &simTensor{p.alloc(&p.freeTensors, &p.nextTensor, 0x280), t.storage}
}

func (p *torch) dropTensor(t *simTensor) {
	p.freeTensors = append(p.freeTensors, t.at)
	p.dropStorage(t.storage)
}

// set is Tensor.set_: the tensor gets another storage.
func (p *torch) set(t *simTensor, s *simStorage) {
	s.uses++
	old := t.storage
	t.storage = s
	p.dropStorage(old)
}

func (p *torch) dropStorage(s *simStorage) {
	s.uses--
	if o := s.slot; p.patch == 4 && s.uses == 1 && o != nil && o.refs == 0 && !o.freed {
		p.dealloc(o)
		return
	}
	if s.uses > 0 {
		return
	}
	s.dead = true
	if s.owns { // maybe_destroy_pyobj
		s.owns = false
		s.slot.refs--
		p.dealloc(s.slot)
	}
	if s.fault > 0 {
		delete(p.dangling, s.slot.at)
	}
	if !s.bytes {
		p.freeData = append(p.freeData, s.data)
	}
}

// interpreter is the interpreter in a line, if the patch prints it.
func (p *torch) interpreter() string {
	if p.patch == 1 || p.patch == 4 {
		return ""
	}
	return fmt.Sprintf(", interpreter: %#x", p.interp)
}

// untypedStorage is Tensor.untyped_storage(): nil if the found object crashes it.
func (p *torch) untypedStorage(t *simTensor, crash bool) *simObject {
	d, who := t.storage.data, p.interpreter()
	p.say("autograd/generated/python_variable_methods.cpp:1498", "(tensor PyObject: %#x) in THPVariable_storage", t.at)
	p.say("autograd/generated/python_variable_methods.cpp:1504", "(tensor PyObject: %#x) storage data: %#x", t.at, d)
	p.say("DynamicTypes.cpp:64", "(%#x%s) in createPyObject", d, who)
	t.storage.uses++ // the argument's
	defer p.dropStorage(t.storage)
	p.say("Storage.cpp:107", "(%#x%s) in THPStorage_Wrap", d, who)
	if p.hermetic {
		p.say("Storage.cpp:112", "(%#x) hermetic", d)
		return p.make(t.storage)
	}
	s := t.storage
	if s.slot == nil {
		if p.patch == 1 {
			p.say("Storage.cpp:159", "(%#x) ", d)
			p.say("Storage.cpp:164", "(%#x) ", d)
		} else {
			p.say("Storage.cpp:159", "(%#x) PyObjectSlot is empty, use_count:%d", d, s.uses)
			p.say("Storage.cpp:164", "(%#x) maybe uninitialized", d)
		}
		return p.make(s)
	}
	p.say("Storage.cpp:134", "(%#x) has PyObject", d)
	p.say("Storage.cpp:137", "(%#x) PyObjectSlot points to PyObject at %#x", d, s.slot.at)
	if s.slot.freed {
		if f := &p.broken[s.fault-1]; f.use == 0 {
			f.use = len(p.lines)
			if !crash {
				f.use++
			}
		}
		if crash {
			p.lines = append(p.lines, "Segmentation fault (core dumped)")
			return nil
		}
		p.say("Storage.cpp:139", "(%#x) PyObjectSlot's PyObject type: dict", d)
		return nil
	}
	p.say("Storage.cpp:139", "(%#x) PyObjectSlot's PyObject type: %s", d, untyped)
	if s.owns {
		p.say("Storage.cpp:143", "(%#x) PyObject was preserved, resurrecting", d)
		s.owns = false
		s.slot.borrowed = false
		s.uses++
	} else {
		p.say("Storage.cpp:148", "(%#x) PyObject was alive, incrementing", d)
		s.slot.refs++
	}
	p.say("DynamicTypes.cpp:79", "(%#x) type_name: %s, PyObject*: %#x", d, untyped, s.slot.at)
	return s.slot
}

// make is THPStorage_NewWithStorage.
func (p *torch) make(s *simStorage) *simObject {
	o := &simObject{at: p.alloc(&p.freeMem, &p.nextObject, 0x40), storage: s, refs: 1, hermetic: p.hermetic}
	s.uses++
	p.say("Storage.cpp:43", "(%#x%s) in THPStorage_NewWithStorage, arg type->tp_name: %s", s.data, p.interpreter(), untyped)
	p.say("Storage.cpp:80", "(%#x), creating PyObject of type %s", s.data, untyped)
	p.say("Storage.cpp:84", "(%#x), created storage PyObject of type %s at %#x", s.data, untyped, o.at)
	if p.hermetic {
		p.say("Storage.cpp:98", "(%#x), hermetic", s.data)
	} else {
		p.say("Storage.cpp:93", "(%#x), not hermetic", s.data)
		s.slot = o
	}
	p.say("DynamicTypes.cpp:79", "(%#x) type_name: %s, PyObject*: %#x", s.data, untyped, o.at)
	return o
}

// del drops a reference to an object.
func (p *torch) del(o *simObject) {
	if o.refs--; o.refs == 0 && (p.patch < 4 || o.storage.uses <= 1 || o.storage.slot != o) {
		p.dealloc(o)
	}
}

// dealloc is THPStorage_subclass_dealloc.
func (p *torch) dealloc(o *simObject) {
	s, who := o.storage, p.interpreter()
	inSlot := s.slot == o && (!p.hermetic || p.patch == 3 && !o.hermetic)
	p.say("Storage.cpp:241", "(PyObject: %#x%s) in THPStorage_subclass_dealloc", o.at, who)
	if p.patch == 4 {
		if s.slot == o {
			p.say("Storage.cpp:255", "(PyObject: %#x) PyObjectSlot has PyObject, interpreter: 0, PyObject*: %#x", o.at, o.at)
			p.say("Storage.cpp:256", "(PyObject: %#x) kHasPyObject is set", o.at)
		}
		p.say("Storage.cpp:251", "(PyObject: %#x) c10::Storage data: %#x, use_count: %d", o.at, s.data, s.uses)
		p.freed(o)
		return
	}
	if p.patch > 1 {
		if p.hermetic {
			p.say("Storage.cpp:249", "(PyObject: %#x) hermetic", o.at)
		}
		switch {
		case o.borrowed:
		case p.hermetic || s.slot == nil:
			p.say("Storage.cpp:269", "(PyObject: %#x) PyObjectSlot does not have PyObject", o.at)
		default:
			p.say("Storage.cpp:255", "(PyObject: %#x) PyObjectSlot has PyObject, interpreter: %#x, PyObject*: %#x", o.at, p.interp, s.slot.at)
			p.say("Storage.cpp:265", "(PyObject: %#x) PyObjectSlot does not own PyObject", o.at)
		}
	}
	p.say("Storage.cpp:194", "(PyObject: %#x%s) in THPStorage_tryPreserve", o.at, who)
	p.say("Storage.cpp:172", "(PyObject: %#x%s) in THPStorage_isPreservable", o.at, who)
	switch {
	case o.borrowed:
		p.say("Storage.cpp:174", "(PyObject: %#x) is borrowed", o.at)
	default:
		p.say("Storage.cpp:178", "(PyObject: %#x) c10::Storage data: %#x", o.at, s.data)
		switch {
		case !inSlot:
			other := uint64(0)
			if s.slot != nil && !p.hermetic {
				other = s.slot.at
			}
			p.say("Storage.cpp:182", "(PyObject: %#x) PyObjectSlot has a different PyObject: %s, storage.use_count: %d", o.at, Address(other), s.uses)
		case s.uses <= 1:
			p.say("Storage.cpp:187", "(PyObject: %#x) storage.use_count: %d", o.at, s.uses)
		default:
			p.say("Storage.cpp:201", "(PyObject: %#x) preserving PyObject", o.at)
			p.say("Storage.cpp:205", "(PyObject: %#x) PyObject type: %s", o.at, untyped)
			p.say("Storage.cpp:221", "(PyObject: %#x) PyObjectSlot points to PyObject at %#x", o.at, o.at)
			p.say("Storage.cpp:224", "(PyObject: %#x) PyObjectSlot's PyObject type: %s", o.at, untyped)
			s.owns, o.borrowed, o.refs = true, true, 1
			s.uses--
			return
		}
		if p.patch == 1 {
			p.say("Storage.cpp:251", "(PyObject: %#x) c10::Storage data: %#x, use_count: %d", o.at, s.data, s.uses)
		}
	}
	p.freed(o)
}

func (p *torch) freed(o *simObject) {
	s := o.storage
	p.say("Storage.cpp:262", "(PyObject: %#x) deallocating storage PyObject", o.at)
	o.freed = true
	if o.borrowed {
		p.freeMem = append(p.freeMem, o.at)
		return
	}
	if s.slot == o && s.uses > 1 {
		p.broken = append(p.broken, simFault{object: o.at, data: s.data, line: len(p.lines)})
		s.fault = len(p.broken)
		p.dangling[o.at] = s
	} else {
		p.freeMem = append(p.freeMem, o.at) // a dict is made where the slot still points
	}
	p.dropStorage(s)
}

// play makes random steps. It never crashes, so that faults accumulate.
func (p *torch) play(rng *rand.Rand, steps int) {
	var tensors []*simTensor
	var objects []*simObject
	for range steps {
		switch n := rng.IntN(20); {
		case n < 3 && len(tensors) < 12:
			tensors = append(tensors, p.tensor())
		case n < 5 && len(tensors) > 0 && len(tensors) < 12:
			tensors = append(tensors, p.view(tensors[rng.IntN(len(tensors))]))
		case n < 7 && len(tensors) > 0:
			p.dropTensor(cut(rng, &tensors))
		case n < 8 && len(tensors) > 1:
			p.set(tensors[rng.IntN(len(tensors))], tensors[rng.IntN(len(tensors))].storage)
		case n < 9:
			p.hermetic = !p.hermetic && rng.IntN(2) == 0
		case n < 15 && len(tensors) > 0 && len(objects) < 12:
			if o := p.untypedStorage(tensors[rng.IntN(len(tensors))], false); o != nil {
				objects = append(objects, o)
			}
		case len(objects) > 0:
			p.del(cut(rng, &objects))
		}
	}
}

func cut[T any](rng *rand.Rand, s *[]T) T {
	i := rng.IntN(len(*s))
	x := (*s)[i]
	(*s)[i] = (*s)[len(*s)-1]
	*s = (*s)[:len(*s)-1]
	return x
}
