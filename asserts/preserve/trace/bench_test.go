package trace

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"testing"
)

// A source writes a long log: tensors are asked for their storages, whose
// objects are preserved, resurrected and deallocated, a few hundred at a time.
// Every 10,000th is deallocated by fault and used afterwards.
type source struct {
	rng    *rand.Rand
	number int
	lines  int // to write
	next   uint64
	live   []storage
	buf    bytes.Buffer
}

type storage struct{ tensor, data, object uint64 }

func newSource(lines int) *source { return &source{rng: rand.New(rand.NewPCG(1, 2)), lines: lines} }

func (s *source) Read(p []byte) (int, error) {
	for s.buf.Len() < len(p) && s.number < s.lines {
		s.scene()
	}
	if s.buf.Len() == 0 {
		return 0, io.EOF
	}
	return s.buf.Read(p)
}

func (s *source) say(where, format string, args ...any) {
	s.number++
	fmt.Fprintf(&s.buf, "%d [torch/csrc/%s] ", s.number, where)
	fmt.Fprintf(&s.buf, format+"\n", args...)
}

const untyped = "torch.storage.UntypedStorage"

func (s *source) ask(x storage) {
	s.say("autograd/generated/python_variable_methods.cpp:1498", "(tensor PyObject: %#x) in THPVariable_storage", x.tensor)
	s.say("autograd/generated/python_variable_methods.cpp:1504", "(tensor PyObject: %#x) storage data: %#x", x.tensor, x.data)
	s.say("DynamicTypes.cpp:64", "(%#x, interpreter: 0x7f026b8c6160) in createPyObject", x.data)
	s.say("Storage.cpp:107", "(%#x, interpreter: 0x7f026b8c6160) in THPStorage_Wrap", x.data)
}

func (s *source) scene() {
	switch {
	case len(s.live) < 100 || len(s.live) < 1000 && s.rng.IntN(2) == 0:
		s.next++
		x := storage{0x7f0000000000 + s.next*64, 0x7e0000000000 + s.next*64, 0x7d0000000000 + s.next*64}
		s.ask(x)
		s.say("Storage.cpp:159", "(%#x) PyObjectSlot is empty, use_count:3", x.data)
		s.say("Storage.cpp:164", "(%#x) maybe uninitialized", x.data)
		s.say("Storage.cpp:43", "(%#x, interpreter: 0x7f026b8c6160) in THPStorage_NewWithStorage, arg type->tp_name: %s", x.data, untyped)
		s.say("Storage.cpp:80", "(%#x), creating PyObject of type %s", x.data, untyped)
		s.say("Storage.cpp:84", "(%#x), created storage PyObject of type %s at %#x", x.data, untyped, x.object)
		s.say("Storage.cpp:93", "(%#x), not hermetic", x.data)
		s.say("DynamicTypes.cpp:79", "(%#x) type_name: %s, PyObject*: %#x", x.data, untyped, x.object)
		s.release(x, false)
		s.live = append(s.live, x)
	case s.rng.IntN(4) > 0:
		x := s.live[s.rng.IntN(len(s.live))]
		s.resurrect(x)
		s.release(x, false)
	default:
		i := s.rng.IntN(len(s.live))
		x := s.live[i]
		s.live[i] = s.live[len(s.live)-1]
		s.live = s.live[:len(s.live)-1]
		if s.next%10_000 == 0 {
			s.resurrect(x)
			s.release(x, true)
			s.ask(x)
			s.say("Storage.cpp:134", "(%#x) has PyObject", x.data)
			s.say("Storage.cpp:137", "(%#x) PyObjectSlot points to PyObject at %#x", x.data, x.object)
			s.say("Storage.cpp:139", "(%#x) PyObjectSlot's PyObject type: dict", x.data)
			return
		}
		s.say("Storage.cpp:241", "(PyObject: %#x, interpreter: 0x7f026b8c6160) in THPStorage_subclass_dealloc", x.object)
		s.say("Storage.cpp:194", "(PyObject: %#x, interpreter: 0x7f026b8c6160) in THPStorage_tryPreserve", x.object)
		s.say("Storage.cpp:172", "(PyObject: %#x, interpreter: 0x7f026b8c6160) in THPStorage_isPreservable", x.object)
		s.say("Storage.cpp:174", "(PyObject: %#x) is borrowed", x.object)
		s.say("Storage.cpp:278", "(PyObject: %#x) deallocating storage PyObject", x.object)
	}
}

func (s *source) resurrect(x storage) {
	s.ask(x)
	s.say("Storage.cpp:134", "(%#x) has PyObject", x.data)
	s.say("Storage.cpp:137", "(%#x) PyObjectSlot points to PyObject at %#x", x.data, x.object)
	s.say("Storage.cpp:139", "(%#x) PyObjectSlot's PyObject type: %s", x.data, untyped)
	s.say("Storage.cpp:143", "(%#x) PyObject was preserved, resurrecting", x.data)
	s.say("DynamicTypes.cpp:79", "(%#x) type_name: %s, PyObject*: %#x", x.data, untyped, x.object)
}

func (s *source) release(x storage, fault bool) {
	s.say("Storage.cpp:241", "(PyObject: %#x, interpreter: 0x7f026b8c6160) in THPStorage_subclass_dealloc", x.object)
	if fault {
		s.say("Storage.cpp:249", "(PyObject: %#x) hermetic", x.object)
		s.say("Storage.cpp:269", "(PyObject: %#x) PyObjectSlot does not have PyObject", x.object)
	} else {
		s.say("Storage.cpp:255", "(PyObject: %#x) PyObjectSlot has PyObject, interpreter: 0x7f026b8c6160, PyObject*: %#x", x.object, x.object)
		s.say("Storage.cpp:265", "(PyObject: %#x) PyObjectSlot does not own PyObject", x.object)
	}
	s.say("Storage.cpp:194", "(PyObject: %#x, interpreter: 0x7f026b8c6160) in THPStorage_tryPreserve", x.object)
	s.say("Storage.cpp:172", "(PyObject: %#x, interpreter: 0x7f026b8c6160) in THPStorage_isPreservable", x.object)
	s.say("Storage.cpp:178", "(PyObject: %#x) c10::Storage data: %#x", x.object, x.data)
	if fault {
		s.say("Storage.cpp:182", "(PyObject: %#x) PyObjectSlot has a different PyObject: 0, storage.use_count: 2", x.object)
		s.say("Storage.cpp:278", "(PyObject: %#x) deallocating storage PyObject", x.object)
		return
	}
	s.say("Storage.cpp:201", "(PyObject: %#x) preserving PyObject", x.object)
	s.say("Storage.cpp:205", "(PyObject: %#x) PyObject type: %s", x.object, untyped)
	s.say("Storage.cpp:221", "(PyObject: %#x) PyObjectSlot points to PyObject at %#x", x.object, x.object)
	s.say("Storage.cpp:224", "(PyObject: %#x) PyObjectSlot's PyObject type: %s", x.object, untyped)
}

// BenchmarkRead reads a log of 10,000,000 lines in one pass. The budget is
// 1,000,000 lines a second on one core, and memory for what lives.
func BenchmarkRead(b *testing.B) {
	const lines = 10_000_000
	piece, err := io.ReadAll(newSource(1_000_000))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		r := NewReader("", func(Life) {})
		for range lines / 1_000_000 { // the same lives again and again
			for p := piece; len(p) > 0; {
				n, _ := r.Write(p[:min(len(p), 256<<10)])
				p = p[n:]
			}
		}
		r.Close()
	}
	b.ReportMetric(float64(lines)*float64(b.N)/b.Elapsed().Seconds(), "lines/s")
	b.SetBytes(int64(len(piece)) * 10)
}

// What lives is all that is kept, however long the log.
func TestMemory(t *testing.T) {
	heap := func(lines int) uint64 {
		r := NewReader("", func(Life) {})
		if _, err := io.Copy(r, newSource(lines)); err != nil {
			t.Fatal(err)
		}
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		runtime.KeepAlive(r)
		return m.HeapAlloc
	}
	heap(10_000)
	short, long := heap(50_000), heap(500_000)
	if long > short+short/2+8<<20 {
		t.Errorf("%d bytes after 50,000 lines, %d after 500,000", short, long)
	}
	t.Logf("%d KiB after 50,000 lines, %d KiB after 500,000", short>>10, long>>10)
}
