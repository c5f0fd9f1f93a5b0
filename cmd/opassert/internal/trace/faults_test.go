package trace

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/opassert/opassert/internal/dev/must"
)

// A stage is a torch, and the objects that its program holds.
type stage struct {
	*torch
	rng     *rand.Rand
	tensors []*simTensor
	objects []*simObject
	kept    []*simObject // objects held for longer than their use
	apart   bool         // no bytes are shared or moved
}

func newStage(patch int, seed, space uint64) *stage {
	return &stage{torch: newTorch(patch, space), rng: rand.New(rand.NewPCG(seed, uint64(patch)))}
}

// healthy makes random steps that break nothing, also with tensors over the same
// bytes, bytes that move, and hermetic objects that escape.
func (s *stage) healthy(steps int) {
	for range steps {
		switch n := s.rng.IntN(24); {
		case n < 3 && len(s.tensors) < 12:
			s.tensors = append(s.tensors, s.tensor())
		case n < 5 && len(s.tensors) > 0 && len(s.tensors) < 12:
			s.tensors = append(s.tensors, s.view(s.tensors[s.rng.IntN(len(s.tensors))]))
		case n < 7 && len(s.tensors) > 0:
			s.dropTensor(cut(s.rng, &s.tensors))
		case n == 7 && len(s.tensors) > 1:
			s.set(s.tensors[s.rng.IntN(len(s.tensors))], s.tensors[s.rng.IntN(len(s.tensors))].storage)
		case n == 8:
			s.hermetic = !s.hermetic && s.rng.IntN(2) == 0
			if len(s.objects) > 0 && s.rng.IntN(2) == 0 { // it is held for long
				s.kept = append(s.kept, cut(s.rng, &s.objects))
			}
		case n == 9 && !s.apart && len(s.tensors) > 0 && len(s.tensors) < 12: // frombuffer twice
			t := s.tensors[s.rng.IntN(len(s.tensors))]
			t.storage.bytes = true
			s.tensors = append(s.tensors, &simTensor{s.alloc(&s.freeTensors, &s.nextTensor, 0x280), &simStorage{data: t.storage.data, uses: 1, bytes: true}})
		case n == 10 && !s.apart && len(s.tensors) > 0: // resize_
			if x := s.tensors[s.rng.IntN(len(s.tensors))].storage; !x.bytes {
				old := x.data
				x.data = s.alloc(&s.freeData, &s.nextData, 0x40)
				s.freeData = append(s.freeData, old)
			}
		case n < 18 && len(s.tensors) > 0 && len(s.objects) < 12:
			s.objects = append(s.objects, s.untypedStorage(s.tensors[s.rng.IntN(len(s.tensors))], false))
		case len(s.objects) > 0:
			s.drop(cut(s.rng, &s.objects))
		}
	}
	s.hermetic = false
	for len(s.kept) > 4 {
		s.drop(cut(s.rng, &s.kept))
	}
}

// drop releases an object correctly.
func (s *stage) drop(o *simObject) {
	if s.hermetic && !o.hermetic && s.patch < 3 && o.refs == 1 && o.storage.uses > 1 {
		s.hermetic = false
	}
	s.del(o)
}

// pair makes two tensors of one storage, and its object.
func (s *stage) pair() (*simTensor, *simObject) {
	t := s.tensor()
	s.view(t)
	return t, s.untypedStorage(t, false)
}

func (s *stage) asks(t *simTensor) {
	s.say("python_variable_methods.cpp:1498", "(tensor PyObject: %#x) in THPVariable_storage", t.at)
	s.say("python_variable_methods.cpp:1504", "(tensor PyObject: %#x) storage data: %#x", t.at, t.storage.data)
	s.say("DynamicTypes.cpp:64", "(%#x%s) in createPyObject", t.storage.data, s.interpreter())
	s.say("Storage.cpp:107", "(%#x%s) in THPStorage_Wrap", t.storage.data, s.interpreter())
}

// found prints that the slot points at an address, and the type found there.
func (s *stage) found(t *simTensor, at uint64, typ string) (line int) {
	s.asks(t)
	s.say("Storage.cpp:134", "(%#x) has PyObject", t.storage.data)
	line = s.say("Storage.cpp:137", "(%#x) PyObjectSlot points to PyObject at %#x", t.storage.data, at)
	s.say("Storage.cpp:139", "(%#x) PyObjectSlot's PyObject type: %s", t.storage.data, typ)
	return line
}

func (s *stage) handed(t *simTensor, at uint64) int {
	return s.say("DynamicTypes.cpp:79", "(%#x) type_name: %s, PyObject*: %#x", t.storage.data, untyped, at)
}

// enters prints the beginning of a release, up to the check whether it is preservable.
func (s *stage) enters(o *simObject, slot ...string) (line int) {
	line = s.say("Storage.cpp:241", "(PyObject: %#x%s) in THPStorage_subclass_dealloc", o.at, s.interpreter())
	if s.patch > 1 {
		for _, says := range slot {
			s.say("Storage.cpp:255", "(PyObject: %#x) %s", o.at, says)
		}
	}
	s.say("Storage.cpp:194", "(PyObject: %#x%s) in THPStorage_tryPreserve", o.at, s.interpreter())
	s.say("Storage.cpp:172", "(PyObject: %#x%s) in THPStorage_isPreservable", o.at, s.interpreter())
	return line
}

func (s *stage) has(o *simObject) string {
	return fmt.Sprintf("PyObjectSlot has PyObject, interpreter: %#x, PyObject*: %#x", s.interp, o.at)
}

func (s *stage) dead(o *simObject) int {
	return s.say("Storage.cpp:278", "(PyObject: %#x) deallocating storage PyObject", o.at)
}

// A plant is a kind of fault.
type plant struct {
	name    string
	patches []int
	// do prints the fault, and returns the object and the lines that broke a rule, in
	// order. The last one is that of the effect.
	do   func(s *stage) (object uint64, lines []int)
	ends bool // prints the log with the fault
}

var all, withStates, counting = []int{1, 2, 3}, []int{2, 3}, []int{1, 2, 3, 4}

var plants = []plant{
	{"hermetic release", []int{1, 2}, func(s *stage) (uint64, []int) {
		_, o := s.pair()
		return s.lost(o)
	}, false},
	{"hermetic release of a resurrected object", []int{1, 2}, func(s *stage) (uint64, []int) {
		t, o := s.pair()
		s.del(o)
		s.healthy(20)
		s.untypedStorage(t, false)
		return s.lost(o)
	}, false},
	{"hermetic release, used later", []int{1, 2}, func(s *stage) (uint64, []int) {
		t, o := s.pair()
		at, lines := s.lost(o)
		s.healthy(30)
		s.found(t, o.at, "dict")
		return at, lines
	}, false},
	{"hermetic release, the last line cut off", []int{2}, func(s *stage) (uint64, []int) {
		_, o := s.pair()
		at, lines := s.lost(o)
		last := &s.lines[len(s.lines)-1]
		*last = (*last)[:len(*last)-1-s.rng.IntN(len("deallocating storage PyObject")-2)]
		return at, lines
	}, true},
	{"release by another interpreter", withStates, func(s *stage) (uint64, []int) {
		_, o := s.pair()
		has := s.has(o)
		s.interp += 0x100
		line := s.enters(o, has, "PyObjectSlot does not own PyObject")
		s.say("Storage.cpp:178", "(PyObject: %#x) c10::Storage data: %#x", o.at, o.storage.data)
		return o.at, []int{line}
	}, true},
	{"slot tagged with another interpreter", withStates, func(s *stage) (uint64, []int) {
		_, o := s.pair()
		line := 1 + s.enters(o, fmt.Sprintf("PyObjectSlot has PyObject, interpreter: %#x, PyObject*: %#x", s.interp+0x100, o.at))
		return o.at, []int{line}
	}, true},
	{"handed out in another interpreter", withStates, func(s *stage) (uint64, []int) {
		t, o := s.pair()
		s.interp += 0x100
		s.found(t, o.at, untyped)
		line := s.say("Storage.cpp:148", "(%#x) PyObject was alive, incrementing", t.storage.data)
		s.handed(t, o.at)
		s.interp -= 0x100
		return o.at, []int{line}
	}, false},
	{"release of a preserved object whose impl lives", all, func(s *stage) (uint64, []int) {
		t, o := s.pair()
		s.del(o)
		s.healthy(20)
		line := s.enters(o)
		s.say("Storage.cpp:174", "(PyObject: %#x) is borrowed", o.at)
		effect := s.dead(o)
		s.healthy(20)
		s.found(t, o.at, "dict")
		return o.at, []int{line, effect}
	}, false},
	{"double deallocation", counting, func(s *stage) (uint64, []int) {
		t := s.tensor()
		o := s.untypedStorage(t, false)
		s.dropTensor(t)
		at := o.at
		s.del(o)
		line := s.enters(o)
		return at, []int{line, s.dead(o)}
	}, false},
	{"slot points at another living object", counting, func(s *stage) (uint64, []int) {
		t, _ := s.pair()
		_, y := s.pair()
		s.healthy(10)
		line := s.found(t, y.at, untyped)
		s.say("Storage.cpp:148", "(%#x) PyObject was alive, incrementing", t.storage.data)
		s.handed(t, y.at)
		return y.at, []int{line}
	}, false},
	{"slot points at another living object, seen by another tensor", all, func(s *stage) (uint64, []int) {
		t, _ := s.pair()
		_, y := s.pair()
		line := s.found(s.view(t), y.at, untyped)
		s.say("Storage.cpp:148", "(%#x) PyObject was alive, incrementing", t.storage.data)
		s.handed(t, y.at)
		s.healthy(10)
		s.del(y)
		return y.at, []int{line}
	}, false},
	{"slot points at a deallocated object", counting, func(s *stage) (uint64, []int) {
		t, o := s.pair()
		s.enters(o, s.has(o))
		s.say("Storage.cpp:178", "(PyObject: %#x) c10::Storage data: %#x", o.at, o.storage.data)
		s.say("Storage.cpp:187", "(PyObject: %#x) storage.use_count: 1", o.at)
		s.torch.lines = append(s.torch.lines, "> del t")
		s.dead(o)
		s.healthy(20)
		return o.at, []int{s.found(t, o.at, "tuple")}
	}, false},
	{"second object", counting, func(s *stage) (uint64, []int) {
		t, o := s.pair()
		o.storage.slot = nil
		x := s.untypedStorage(t, false)
		return x.at, []int{len(s.lines) - 1}
	}, false},
	{"second object, the first preserved", all, func(s *stage) (uint64, []int) {
		t, o := s.pair()
		s.del(o)
		o.storage.slot, o.storage.owns = nil, false
		x := s.untypedStorage(t, false)
		return x.at, []int{len(s.lines) - 1}
	}, false},
	{"resurrected though it owned its impl", all, func(s *stage) (uint64, []int) {
		t, o := s.pair()
		s.found(t, o.at, untyped)
		line := s.say("Storage.cpp:143", "(%#x) PyObject was preserved, resurrecting", t.storage.data)
		s.handed(t, o.at)
		return o.at, []int{line}
	}, false},
	{"incremented though the impl owned it", all, func(s *stage) (uint64, []int) {
		t, o := s.pair()
		s.del(o)
		s.found(t, o.at, untyped)
		line := s.say("Storage.cpp:148", "(%#x) PyObject was alive, incrementing", t.storage.data)
		s.handed(t, o.at)
		return o.at, []int{line}
	}, false},
	{"owned by both", withStates, func(s *stage) (uint64, []int) {
		_, o := s.pair()
		s.enters(o, s.has(o), "PyObjectSlot owns PyObject")
		return o.at, []int{len(s.lines) - 2}
	}, true},
	{"preserved twice", []int{1}, func(s *stage) (uint64, []int) {
		_, o := s.pair()
		s.del(o)
		s.enters(o)
		s.say("Storage.cpp:178", "(PyObject: %#x) c10::Storage data: %#x", o.at, o.storage.data)
		return o.at, []int{s.say("Storage.cpp:201", "(PyObject: %#x) preserving PyObject", o.at)}
	}, false},
	{"released as if the impl owned it", all, func(s *stage) (uint64, []int) {
		_, o := s.pair()
		s.enters(o)
		line := s.say("Storage.cpp:174", "(PyObject: %#x) is borrowed", o.at)
		s.dead(o)
		return o.at, []int{line}
	}, false},
	{"a hermetic context is handed an object from outside", all, func(s *stage) (uint64, []int) {
		t, o := s.pair()
		s.asks(t)
		s.say("Storage.cpp:112", "(%#x) hermetic", t.storage.data)
		return o.at, []int{s.handed(t, o.at)}
	}, false},
	{"a slot points at a hermetic object", counting, func(s *stage) (uint64, []int) {
		t := s.tensor()
		s.hermetic = true
		o := s.untypedStorage(t, false)
		s.hermetic = false
		line := s.found(t, o.at, untyped)
		s.say("Storage.cpp:148", "(%#x) PyObject was alive, incrementing", t.storage.data)
		s.handed(t, o.at)
		return o.at, []int{line}
	}, false},
	{"another object than the slot's is handed out", counting, func(s *stage) (uint64, []int) {
		t, o := s.pair()
		_, y := s.pair()
		s.found(t, o.at, untyped)
		s.say("Storage.cpp:148", "(%#x) PyObject was alive, incrementing", t.storage.data)
		return y.at, []int{s.handed(t, y.at)}
	}, false},
	{"freed behind the log's back", counting, func(s *stage) (uint64, []int) {
		t, o := s.pair()
		return o.at, []int{1 + s.found(t, o.at, "dict")}
	}, false},
	{"the slot was emptied before the release", []int{2}, func(s *stage) (uint64, []int) {
		_, o := s.pair()
		s.enters(o, "PyObjectSlot does not have PyObject")
		s.say("Storage.cpp:178", "(PyObject: %#x) c10::Storage data: %#x", o.at, o.storage.data)
		s.say("Storage.cpp:182", "(PyObject: %#x) PyObjectSlot has a different PyObject: 0, storage.use_count: 2", o.at)
		return o.at, []int{s.dead(o)}
	}, false},
	{"not preserved though the slot's check answers with it", []int{1, 2}, func(s *stage) (uint64, []int) {
		_, o := s.pair()
		s.enters(o, s.has(o), "PyObjectSlot does not own PyObject")
		s.say("Storage.cpp:178", "(PyObject: %#x) c10::Storage data: %#x", o.at, o.storage.data)
		s.say("Storage.cpp:185", "(PyObject: %#x) storage.use_count: 2", o.at)
		return o.at, []int{s.dead(o)}
	}, false},
	{"released while others hold the impl", []int{4}, func(s *stage) (uint64, []int) {
		_, o := s.pair()
		line := s.lets(o, "set")
		return o.at, []int{line, s.dead(o)}
	}, false},
	{"released while others hold the impl, used later", []int{4}, func(s *stage) (uint64, []int) {
		t, o := s.pair()
		line := s.lets(o, "")
		effect := s.dead(o)
		s.healthy(30)
		s.found(t, o.at, "dict")
		return o.at, []int{line, effect}
	}, false},
	{"released while others hold the impl, where PyTorch stops", []int{4}, func(s *stage) (uint64, []int) {
		_, o := s.pair()
		line := s.lets(o, "set")
		s.lines = append(s.lines, "terminate called after throwing an instance of 'c10::Error'")
		return o.at, []int{line}
	}, true},
	{"not marked", []int{4}, func(s *stage) (uint64, []int) {
		_, o := s.pair()
		line := s.lets(o, "not set")
		return o.at, []int{line, s.dead(o)}
	}, false},
	{"preserved where both sides count", []int{4}, func(s *stage) (uint64, []int) {
		t := s.tensor()
		o := s.untypedStorage(t, false)
		s.dropTensor(t)
		s.lets(o, "set")
		return o.at, []int{s.say("Storage.cpp:201", "(PyObject: %#x) preserving PyObject", o.at)}
	}, false},
	{"resurrected where both sides count", []int{4}, func(s *stage) (uint64, []int) {
		t, o := s.pair()
		s.found(t, o.at, untyped)
		line := s.say("Storage.cpp:143", "(%#x) PyObject was preserved, resurrecting", t.storage.data)
		s.handed(t, o.at)
		return o.at, []int{line}
	}, false},
	{"borrowed where both sides count", []int{4}, func(s *stage) (uint64, []int) {
		_, o := s.pair()
		s.say("Storage.cpp:241", "(PyObject: %#x) in THPStorage_dealloc", o.at)
		line := s.say("Storage.cpp:174", "(PyObject: %#x) is borrowed", o.at)
		s.dead(o)
		return o.at, []int{line}
	}, false},
	{"returned from, and not preserved", []int{1}, func(s *stage) (uint64, []int) {
		_, o := s.pair()
		s.enters(o)
		s.say("Storage.cpp:178", "(PyObject: %#x) c10::Storage data: %#x", o.at, o.storage.data)
		root := s.say("Storage.cpp:182", "(PyObject: %#x) PyObjectSlot has a different PyObject: 0, storage.use_count: 2", o.at)
		s.say("Storage.cpp:251", "(PyObject: %#x) c10::Storage data: %#x, use_count: 2", o.at, o.storage.data)
		return o.at, []int{root, s.say("Storage.cpp:255", "(PyObject: %#x) c10::Storage is referenced elsewhere and this PyObject matches the PyObjectSlot, so cannot deallocate", o.at)}
	}, false},
}

// lets prints the beginning of a release in the protocol in which both sides count.
func (s *stage) lets(o *simObject, marked string) (line int) {
	line = s.say("Storage.cpp:241", "(PyObject: %#x) in THPStorage_dealloc", o.at)
	s.say("Storage.cpp:255", "(PyObject: %#x) PyObjectSlot has PyObject, interpreter: 0, PyObject*: %#x", o.at, o.at)
	if marked != "" {
		s.say("Storage.cpp:256", "(PyObject: %#x) kHasPyObject is %s", o.at, marked)
	}
	s.say("Storage.cpp:251", "(PyObject: %#x) c10::Storage data: %#x, use_count: %d", o.at, o.storage.data, o.storage.uses)
	return line
}

// lost releases an object in a hermetic context.
func (s *stage) lost(o *simObject) (uint64, []int) {
	s.hermetic = true
	from := len(s.lines)
	s.del(o)
	s.hermetic = false
	for i, line := range s.lines[from:] {
		if strings.Contains(line, ") hermetic") || s.patch == 1 && strings.Contains(line, "different PyObject: 0") {
			return o.at, []int{from + i + 1, len(s.lines)}
		}
	}
	panic("not lost")
}

// A disguise is a form of a log: the file's text, and the number of line n in it.
type disguise struct {
	name  string
	dress func(s *stage, rng *rand.Rand) (text []byte, number func(int) int64)
}

func joined(lines []string) []byte { return []byte(strings.Join(lines, "\n")) }

func numbered(lines []string, first int) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = fmt.Sprintf("%d %s", first+i, line)
	}
	return out
}

func plain(n int) int64 { return int64(n) }

var disguises = []disguise{
	{"plain", func(s *stage, _ *rand.Rand) ([]byte, func(int) int64) { return joined(s.lines), plain }},
	{"numbered", func(s *stage, _ *rand.Rand) ([]byte, func(int) int64) {
		return joined(numbered(s.lines, 1795)), func(n int) int64 { return int64(n) + 1794 }
	}},
	{"fenced", func(s *stage, rng *rand.Rand) ([]byte, func(int) int64) {
		var out []string
		for _, line := range numbered(s.lines, 1) {
			if rng.IntN(6) == 0 {
				out = append(out, "```", "", "And then, at 0x10 or so:", "```")
			}
			out = append(out, line)
		}
		return joined(append(append([]string{"# Notes", "```"}, out...), "```")), plain
	}},
	{"coloured", func(s *stage, rng *rand.Rand) ([]byte, func(int) int64) {
		out := slices.Clone(s.lines)
		for i, line := range out {
			switch rng.IntN(3) {
			case 0:
				out[i] = "\x1b[0;32m" + line[:1] + "\x1b[1m" + line[1:] + "\x1b[0m"
			case 1:
				out[i] = "\x1b]8;;\x1b[K" + line
			}
		}
		return joined(out), plain
	}},
	{"of three ranks", func(s *stage, rng *rand.Rand) ([]byte, func(int) int64) {
		forms := []string{
			"[rank%d]: ", "[default%d]:", "(worker-%d) ", "trainer%d | ", "[1,%d]<stdout>: ", "2024-01-02 10:00:00,%[2]d rank=%[1]d ", "%d: ",
			"%d\t", "[%d] ", "rank %d ", "logs/%d.log:", "10.0.0.%d: ", "gpu-node-%d:", "Jan 02 10:00:00 host python3[424%d]: ", "10:00:00 web.%d   | ",
			"2024-01-02 10:00:00,123 424%d INFO ", "I0808 10:12:54.328000 424%d driver.py:76] ",
		}
		form := forms[rng.IntN(len(forms))]
		lines := [3][]string{s.lines}
		for i := 1; i < 3; i++ {
			other := newStage(s.patch, rng.Uint64(), 0)
			other.healthy(100)
			lines[i] = other.lines
		}
		var out []string
		var at []int64
		for left := true; left; {
			left = false
			for i, n := range rng.Perm(3) {
				for range rng.IntN(4) {
					if len(lines[n]) > 0 {
						text := fmt.Sprintf(form, n, len(out))
						if i := strings.Index(text, "%!(EXTRA"); i >= 0 {
							text = text[:i]
						}
						out = append(out, text+lines[n][0])
						lines[n] = lines[n][1:]
						if n == 0 {
							at = append(at, int64(len(out)))
						}
					}
				}
				left = left || len(lines[i]) > 0
			}
		}
		if !strings.HasSuffix(s.lines[len(s.lines)-1], "yObject") { // cut off: nothing follows
			out = out[:at[len(at)-1]]
		}
		return joined(out), func(n int) int64 { return at[n-1] }
	}},
	{"after other output", func(s *stage, rng *rand.Rand) ([]byte, func(int) int64) {
		var out []string
		var at []int64
		for _, line := range s.lines {
			for range rng.IntN(3) {
				out = append(out, "I0808 10:12:54.328000 227 driver.py:76] step 7 [loss 0.25]", "...done")
			}
			out = append(out, "2023-08-08T10:12:54.328Z "+line+"\r")
			at = append(at, int64(len(out)))
		}
		return []byte(strings.TrimSuffix(string(joined(out)), "\r")), func(n int) int64 { return at[n-1] }
	}},
	{"with other output behind", func(s *stage, rng *rand.Rand) ([]byte, func(int) int64) {
		out := slices.Clone(s.lines)
		for i := range out[:len(out)-1] {
			if rng.IntN(2) == 0 {
				out[i] += behind[rng.IntN(len(behind))]
			}
		}
		return joined(out), plain
	}},
	{"of a container", func(s *stage, rng *rand.Rand) ([]byte, func(int) int64) {
		out := slices.Clone(s.lines)
		form := containers[rng.IntN(len(containers))]
		for i, line := range out {
			out[i] = fmt.Sprintf(form, line)
		}
		return joined(out), plain
	}},
}

// Output of other threads and programs on an unfinished line.
var behind = []string{" step 7", "Epoch 3: loss 0.25", "\t12%|█▏        | 3/25 [00:01<00:08]", "warning: [1]", "\r", "INFO:root:done", " in a hurry"}

// A line as the tools of containers and services print it.
var containers = []string{
	"2024-01-02T10:00:00.000000001Z stdout F %s",
	"trainer-1  | 2024-01-02T10:00:00.000000001Z %s\r",
	"[pod/trainer-0/main] %s",
	"Jan 02 10:00:00 host python3[4242]: %s",
}

// readText reads a log from a file.
func readText(t *testing.T, text []byte) LogReport {
	t.Helper()
	file := filepath.Join(t.TempDir(), "log")
	must.Do(t, os.WriteFile(file, text, 0o666))
	return must.Get(Read(file, "", func(Life) {}))(t)
}

// Each kind of fault is found in each disguise, at its line and nowhere else. In a
// program that shares or moves bytes, a fault that this may explain is a warning.
func TestFaults(t *testing.T) {
	logs := 0
	for _, plant := range plants {
		t.Run(plant.name, func(t *testing.T) {
			for _, d := range disguises {
				for _, patch := range plant.patches {
					for seed := range seeds(4) {
						s := newStage(patch, seed, 0)
						s.apart = seed%2 == 0
						s.healthy(60)
						s.tensors, s.objects = nil, nil // surviving objects are not touched again
						object, lines := plant.do(s)
						if !plant.ends {
							s.healthy(60)
						}
						text, number := d.dress(s, rand.New(rand.NewPCG(seed, 3)))
						logs++
						if wrong := judge(readText(t, text), object, lines, number, !s.apart); wrong != "" {
							t.Errorf("%s, patch %d, seed %d: %s", d.name, patch, seed, wrong)
						}
					}
				}
			}
		})
	}
	t.Logf("%d logs", logs)
}

// unlessBlank reports whether an unknown line has text: a patch's blank message with
// other output after it is unknown.
func unlessBlank(s Reason) bool {
	return !slices.ContainsFunc(behind, func(b string) bool {
		says, junk := strings.CutSuffix(s.Says, strings.TrimSpace(b))
		return junk && strings.HasSuffix(strings.TrimSpace(says), ")")
	})
}

// seeds returns n, many more in long runs, and fewer with -short.
func seeds(n uint64) uint64 {
	switch {
	case os.Getenv("OPASSERT_LONG") != "":
		return 13 * n
	case testing.Short():
		return (n + 1) / 2
	}
	return n
}

// judge returns what is wrong with the report of one fault.
func judge(r LogReport, object uint64, lines []int, number func(int) int64, warned bool) string {
	said := r.Violations
	if warned && len(said) == 0 {
		said = slices.DeleteFunc(slices.Clone(r.Warnings), func(v InvariantViolation) bool { return v.Object != Address(object) })
	}
	var want, got []int64
	for _, line := range lines {
		want = append(want, number(line))
	}
	for _, v := range said {
		got = append(got, v.Line)
		if v.Object != Address(object) {
			return fmt.Sprintf("line %d is about %v, not %#x: %s", v.Line, v.Object, object, v.Saw())
		}
	}
	switch {
	case !slices.Equal(want, got):
		var saw []string
		for _, v := range slices.Concat(r.Violations, r.Warnings) {
			saw = append(saw, fmt.Sprintf("%s line %d: %s", v.Code, v.Line, v.Saw()))
		}
		return fmt.Sprintf("want lines %d, got %d\n%s", want, got, strings.Join(saw, "\n"))
	case len(r.roots()) > 1:
		return fmt.Sprintf("%d findings", len(r.roots()))
	case slices.ContainsFunc(r.Samples, unlessBlank):
		return fmt.Sprintf("unknown: %v", r.Samples)
	}
	return ""
}

// A healthy log has no findings, in any disguise.
func TestHealthy(t *testing.T) {
	warnings := 0
	for seed := range seeds(100) {
		for _, patch := range counting {
			s := newStage(patch, seed, 0)
			s.healthy(40 + int(seed%100)*3)
			d := disguises[int(seed+uint64(patch))%len(disguises)]
			if len(s.lines) < 2 {
				continue
			}
			if seed%4 == 0 { // begins and ends anywhere
				begin := s.lines[:1]
				s.lines = s.lines[len(s.lines)/5 : len(s.lines)*4/5]
				if patch == 4 {
					s.lines = slices.Concat(begin, s.lines)
				}
			}
			if d.name == "of three ranks" {
				s.lines = append(s.lines, "> PyObject")
			}
			text, _ := d.dress(s, rand.New(rand.NewPCG(seed, 5)))
			if seed%4 == 1 {
				text = text[:len(text)-s.rng.IntN(100)]
			}
			r := readText(t, text)
			for _, v := range r.Violations {
				t.Errorf("%s, patch %d, seed %d: %s at line %d: %s", d.name, patch, seed, v.Code, v.Line, v.Saw())
			}
			warnings += len(r.Warnings)
			if slices.ContainsFunc(r.Samples, unlessBlank) {
				t.Errorf("%s, patch %d, seed %d: unknown %v", d.name, patch, seed, r.Samples)
			}
		}
	}
	t.Logf("%d warnings", warnings)
}

// A program that wraps the same memory repeatedly is healthy, whatever it holds.
func TestWrappedAgain(t *testing.T) {
	type keeps struct{ tensor, view, object, objectForLong bool }
	for _, k := range []keeps{{}, {object: true}, {view: true}, {view: true, object: true}, {tensor: true, object: true}, {view: true, objectForLong: true}} {
		for _, patch := range counting {
			s := newStage(patch, 1, 0)
			data := s.alloc(&s.freeData, &s.nextData, 0x40)
			for range 6 {
				x := &simTensor{s.alloc(&s.freeTensors, &s.nextTensor, 0x280), &simStorage{data: data, uses: 1, bytes: true}}
				if k.view {
					s.view(x)
				}
				o := s.untypedStorage(x, false)
				switch {
				case k.objectForLong:
					s.kept = append(s.kept, o)
				case !k.object:
					s.del(o)
				}
				if !k.tensor {
					s.dropTensor(x)
				}
			}
			for _, o := range s.kept {
				s.del(o)
			}
			for _, v := range readText(t, joined(s.lines)).Violations {
				t.Errorf("%+v, patch %d: %s at line %d: %s", k, patch, v.Code, v.Line, v.Saw())
			}
		}
	}
}
