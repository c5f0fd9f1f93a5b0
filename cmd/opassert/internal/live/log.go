package live

import (
	"fmt"
	"io"
	"sync"

	"github.com/opassert/opassert/asserts/preserve"
	"github.com/opassert/opassert/internal/printable"
)

// A logWriter writes events as the lines of an instrumented PyTorch, with the impl's
// address as its data pointer, for package trace.
type logWriter struct {
	w     io.Writer
	mu    *sync.Mutex
	judge *judge
	begun bool
}

func (l *logWriter) write(e *event) {
	if e.kind == typeName || e.kind == fileName {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	what, file := "tensor", "python_variable.cpp"
	if e.is(ofStorage) {
		what, file = "storage", "Storage.cpp"
	}
	where := fmt.Sprintf("pid=%d [torch/csrc/%s:1] ", l.judge.pid, file)
	if !l.begun {
		l.begun = true
		fmt.Fprintf(l.w, "pid=%d [torch/version.h:1] PyTorch %s\n", l.judge.pid, l.judge.torch)
	}
	impl := func(format string, args ...any) {
		fmt.Fprintf(l.w, "%s(%v) %s\n", where, e.impl, fmt.Sprintf(format, args...))
	}
	object := func(format string, args ...any) {
		fmt.Fprintf(l.w, "%s(PyObject: %v) %s\n", where, e.object, fmt.Sprintf(format, args...))
	}
	typ := printable.Line(l.judge.types[e.typ])
	if (e.kind == wrap || e.kind == release) && l.judge.madeUnseen(e) {
		object("allocated")
	}
	if o := l.judge.living(e.object); o != nil && e.kind == wrap && printable.Line(o.typ) != typ { // o.__class__ = ...
		object("PyObject type: %s", typ)
	}
	switch e.kind {
	case wrap:
		impl("in THPStorage_Wrap")
		switch {
		case e.is(inHermetic):
			impl("hermetic")
			if e.slot == e.object {
				break
			}
			impl("created %s PyObject of type %s at %v", what, typ, e.object)
			impl("hermetic")
		case e.slot == 0:
			impl("PyObjectSlot is empty, use_count:%d", e.uses)
			impl("created %s PyObject of type %s at %v", what, typ, e.object)
			impl("not hermetic")
		default:
			impl("PyObjectSlot points to PyObject at %v", e.slot)
			if e.is(owns) {
				impl("PyObject was preserved, resurrecting")
			} else {
				impl("PyObject was alive, incrementing")
			}
		}
		impl("type_name: %s, PyObject*: %v", typ, e.object)
	case made:
		object("allocated")
	case release:
		object("in THPStorage_subclass_dealloc")
		if e.is(inHermetic) {
			object("hermetic")
		}
		switch {
		case e.is(borrowed) && e.slot == e.object: // and not cleared by the collector
			object("is borrowed")
		case e.slot == 0 || e.tag == 0 && l.judge.protocol == preserve.Flipping:
			object("PyObjectSlot does not have PyObject")
		case !e.is(inHermetic):
			object("PyObjectSlot has PyObject, interpreter: %v, PyObject*: %v", e.tag, e.slot)
		}
		if l.judge.protocol == preserve.Counting && e.slot == e.object && !e.is(marked) {
			object("kHasPyObject is not set")
		}
		object("c10::Storage data: %v, use_count: %d", e.impl, e.uses)
	case freed:
		object("deallocating %s PyObject", what)
	case stays:
		if e.is(owns) {
			object("preserving PyObject")
		}
	}
}
