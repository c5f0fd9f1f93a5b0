package c10

import (
	"sync"
	"sync/atomic"
	"testing"
)

type object struct{ decrefs atomic.Int32 }

func (o *object) Decref() { o.decrefs.Add(1) }

func TestSlot(t *testing.T) {
	obj := new(object)
	x := Empty(nil, f32)
	mine := PyObjectState{Interpreter: 1, Object: obj}
	owned := PyObjectState{Interpreter: 1, Object: obj, Owns: true}
	if x.Slot().Load() != (PyObjectState{}) {
		t.Errorf("a new slot is not empty")
	}
	if x.Slot().CompareAndSwap(mine, owned) || !x.Slot().CompareAndSwap(PyObjectState{}, mine) || !x.Slot().CompareAndSwap(mine, owned) {
		t.Errorf("slot holds %+v", x.Slot().Load())
	}
	x.Release()
	if n := obj.decrefs.Load(); n != 1 {
		t.Errorf("%d decrefs of an owned object", n)
	}
}

func TestSlotOfStorage(t *testing.T) {
	for _, owns := range []bool{false, true} {
		obj := new(object)
		x := Empty(nil, f32)
		s := x.Storage()
		s.Slot().CompareAndSwap(PyObjectState{}, PyObjectState{Interpreter: 2, Object: obj, Owns: owns})
		s.Release()
		if obj.decrefs.Load() != 0 {
			t.Errorf("freed while the tensor holds the storage")
		}
		x.Release()
		if got := obj.decrefs.Load() == 1; got != owns {
			t.Errorf("owns %v: %d decrefs", owns, obj.decrefs.Load())
		}
	}
}

func TestSlotRace(t *testing.T) {
	var slot PyObjectSlot
	var won atomic.Int32
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			if slot.CompareAndSwap(PyObjectState{}, PyObjectState{Interpreter: Interpreter(i + 1)}) {
				won.Add(1)
			}
		})
	}
	wg.Wait()
	if won.Load() != 1 || slot.Load().Interpreter == 0 {
		t.Errorf("%d won", won.Load())
	}
}
