package live

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/opassert/opassert/asserts/preserve"
	"github.com/opassert/opassert/cmd/opassert/internal/trace"
	"github.com/opassert/opassert/internal/dev/golden"
)

// inLog are the findings of package trace in the log of a case of TestJudge, where they are not the judge's: a log
// has no line that shows a tag when an object is handed out, an impl besides the one that is asked, or that a call did
// not return, and of a second object none that proves that the first lives.
var inLog = map[string][]preserve.Code{
	"deallocated, the slot without a tag": {preserve.SharedDealloc},
	"a second object":                     {},
	"a second object that is placed":      {},
	"which is released":                   {},
	"seen when the first is released":     {},
	"the same, in the second":             {},
	"the object of another impl":          {},
	"asked for, and no answer":            {},
	"something else in the slot":          {},
	"another tag":                         {},
	"another tag, refused":                {},
	"the address of a freed storage":      {},
}

// A played case is records of one process, and the codes of the findings that the judge has of them.
type played struct {
	name     string
	protocol preserve.Protocol
	events   []event
	want     []preserve.Code
}

// play returns the findings of the judge from the records, and their log.
func (p played) play(t *testing.T) (found []*ObjectFinding, log string) {
	j := newJudge(1, p.protocol, func(f *ObjectFinding) { found = append(found, f) })
	j.torch = map[preserve.Protocol]string{preserve.Flipping: "2.6.0", preserve.Counting: "2.12.0"}[p.protocol]
	j.types[1], j.types[2], j.files[3] = "torch.Tensor", "Subclass", "train.py"
	var text bytes.Buffer
	l := &logWriter{w: &text, mu: new(sync.Mutex), judge: j}
	for _, e := range p.events {
		l.write(&e)
		name := j.types[e.typ]
		if e.kind == fileName {
			name = j.files[e.typ]
		}
		j.take(&e, name)
	}
	j.end()
	var got []preserve.Code
	for _, f := range found {
		got = append(got, f.Code)
	}
	if !slices.Equal(got, p.want) {
		t.Errorf("got %v, want %v", got, p.want)
	}
	return found, text.String()
}

const impl, other, x, y, z = 0x100, 0x200, 0x10, 0x20, 0x30

var (
	ask    = event{kind: wrap, impl: impl, object: x, tag: 7, uses: 2, typ: 1}
	again  = event{kind: wrap, impl: impl, object: x, slot: x, tag: 7, uses: 3, typ: 1}
	back   = with(again, func(e *event) { e.flags = owns })
	last   = event{kind: release, impl: impl, object: x, slot: x, tag: 7, uses: 2, typ: 1}
	kept   = with(last, func(e *event) { e.kind, e.flags = stays, owns })
	gone   = with(last, func(e *event) { e.kind = freed })
	sole   = with(last, func(e *event) { e.uses = 1 })
	placed = with(again, func(e *event) { e.object, e.slot, e.flags = y, y, second })
	// The address of the impl, as a number.
	address = event{kind: raw, flags: ofStorage, impl: impl}
	class   = event{kind: typeName, typ: 2} // of which objects were made before
)

func with(e event, change func(*event)) event { change(&e); return e }

func of2(e event) event { e.typ = 2; return e }

func in(e event) event { e.flags |= inHermetic; return e }

// at returns the event of another object, which is in the slot where the first one was.
func at(e event, object trace.Address) event {
	if e.slot == e.object {
		e.slot = object
	}
	e.object = object
	return e
}

func untagged(e event) event { e.tag = 0; return e }

func stored(e event) event { e.flags |= ofStorage; return e }

// The findings of the judge from records, without a program, and those in the log of these records.
func TestJudge(t *testing.T) {
	for _, tt := range []played{
		{"preserved and resurrected", 1, []event{ask, last, kept, back, again}, nil},
		{"deallocated with its impl", 1, []event{ask, sole, gone}, nil},
		{"released by its impl", 1, []event{ask, last, kept, with(last, func(e *event) { e.flags, e.uses = borrowed, 0 }), gone}, nil},
		{"another one at the address", 1, []event{ask, sole, gone, {kind: made, object: x}, ask}, nil},
		{"deallocated while shared", 1, []event{ask, last, gone}, []preserve.Code{preserve.SharedDealloc}},
		{"deallocated, the slot without a tag", 1, []event{with(ask, func(e *event) { e.tag = 0 }), with(last, func(e *event) { e.tag = 0 }), gone}, []preserve.Code{preserve.SameObject}},
		{"in a hermetic context", 1, []event{ask, with(last, func(e *event) { e.flags = inHermetic }), with(gone, func(e *event) { e.flags = inHermetic })},
			[]preserve.Code{preserve.Hermetic, preserve.SharedDealloc}},
		{"made there", 1, []event{with(ask, func(e *event) { e.flags = inHermetic }), with(last, func(e *event) { e.flags, e.slot = inHermetic, 0 }), gone}, nil},
		{"made there, and escaped", 1, []event{ask, with(ask, func(e *event) { e.object, e.slot, e.flags = y, x, inHermetic }),
			with(last, func(e *event) { e.object = y }), with(gone, func(e *event) { e.object = y })}, nil},
		{"handed to one", 1, []event{ask, with(again, func(e *event) { e.flags = inHermetic })}, []preserve.Code{preserve.Hermetic}},
		{"released again", 1, []event{ask, sole, gone, sole}, []preserve.Code{preserve.DoubleRelease}},
		{"released while the impl owns it", 1, []event{ask, last, kept, with(last, func(e *event) { e.flags = borrowed }), gone},
			[]preserve.Code{preserve.DoubleRelease, preserve.SharedDealloc}},
		{"a second object", 1, []event{ask, with(ask, func(e *event) { e.object, e.flags = y, second })}, []preserve.Code{preserve.SameObject}},
		{"a second object that is placed", 1, []event{ask, placed}, []preserve.Code{preserve.SameObject}},
		{"which is released", 1, []event{ask, placed, with(sole, func(e *event) { e.slot = y })}, []preserve.Code{preserve.SameObject}},
		{"seen when the first is released", 1, []event{ask, with(sole, func(e *event) { e.slot = y })}, []preserve.Code{preserve.SameObject}},
		{"the same, in the second", 2, []event{ask, with(sole, func(e *event) { e.slot = y })}, []preserve.Code{preserve.SameObject}},
		{"made by two threads at once", 2, []event{{kind: made, object: x, typ: 1}, {kind: made, object: y, typ: 1}, ask,
			with(last, func(e *event) { e.object, e.flags = y, noSlot }), with(ask, func(e *event) { e.uses = 3 })}, nil},
		{"impls swapped", 1, []event{ask, with(ask, func(e *event) { e.impl, e.object = other, y }), with(again, func(e *event) { e.impl = other }),
			with(again, func(e *event) { e.object, e.slot = y, y })}, nil},
		{"another than the slot's", 1, []event{ask, with(ask, func(e *event) { e.object, e.slot = y, x })}, []preserve.Code{preserve.SameObject}},
		{"the object of another impl", 1, []event{ask, with(again, func(e *event) { e.impl, e.flags = other, elsewhere })}, []preserve.Code{preserve.SameObject}},
		{"made unseen at a dead one's address", 1, []event{ask, sole, gone, class, of2(again), of2(sole), of2(gone)}, nil},
		{"released there", 1, []event{ask, sole, gone, class, of2(sole), of2(gone)}, nil},
		{"dead after its class was seen", 1, []event{class, of2(ask), of2(sole), of2(gone), of2(again)}, []preserve.Code{preserve.UseAfter}},
		{"asked for, and made unseen", 1, []event{ask, sole, gone, with(again, func(e *event) { e.kind = asks }), class, of2(again)}, nil},
		{"asked for, and refused", 1, []event{ask, sole, gone, with(again, func(e *event) { e.kind = asks }), with(again, func(e *event) { e.kind = refused })}, nil},
		{"asked for, and no answer", 1, []event{ask, sole, gone, with(again, func(e *event) { e.kind = asks })}, []preserve.Code{preserve.UseAfter}},
		{"something else in the slot", 1, []event{ask, with(again, func(e *event) { e.typ = 0 })}, []preserve.Code{preserve.UseAfter}},
		{"a stale slot", 1, []event{ask, sole, gone, again}, []preserve.Code{preserve.UseAfter}},
		{"another tag", 1, []event{ask, with(again, func(e *event) { e.tag = 8 }), with(last, func(e *event) { e.tag = 8 })},
			[]preserve.Code{preserve.OneInterpreter, preserve.OneInterpreter}},
		{"another tag, refused", 1, []event{ask, with(again, func(e *event) { e.kind, e.tag = refused, 8 })}, []preserve.Code{preserve.OneInterpreter}},
		{"resurrected though it was not preserved", 1, []event{ask, back}, []preserve.Code{preserve.OneOwner}},
		{"handed out while the impl owns it", 1, []event{ask, last, kept, again}, []preserve.Code{preserve.OneOwner}},
		{"the address of a freed storage", 2, []event{stored(ask), stored(sole), stored(gone), address, address}, []preserve.Code{preserve.UseAfter}},
		{"of one that is held", 1, []event{stored(ask), address, stored(last), address, stored(kept), address}, nil},
		{"of one with a weak reference", 2, []event{stored(ask), with(stored(sole), func(e *event) { e.weak = 2 }), stored(gone), address}, nil},
		{"of another one there", 2, []event{stored(ask), stored(sole), stored(gone), stored(at(ask, y)), address}, nil},
		{"of a storage that others held", 2, []event{stored(ask), with(stored(last), func(e *event) { e.flags |= marked }), stored(gone), address},
			[]preserve.Code{preserve.DoubleRelease, preserve.SharedDealloc}},
		{"of a tensor", 2, []event{ask, sole, gone, address}, nil},
		{"the second protocol", 2, []event{ask, again, sole, gone}, nil},
		{"released while shared, in the second", 2, []event{ask, again, with(last, func(e *event) { e.flags = marked }), gone},
			[]preserve.Code{preserve.DoubleRelease, preserve.SharedDealloc}},
		{"not marked, in the second", 2, []event{ask, again, last, gone}, []preserve.Code{preserve.OneOwner, preserve.SharedDealloc}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, log := tt.play(t)
			want, other := inLog[tt.name]
			if !other {
				want = slices.Sorted(slices.Values(tt.want))
			}
			r := trace.NewReader("", func(trace.Life) {})
			io.WriteString(r, log)
			logged := []preserve.Code{}
			for _, v := range r.Close().Violations {
				logged = append(logged, v.Code)
			}
			if slices.Sort(logged); !slices.Equal(logged, want) {
				t.Errorf("the log has %v, want %v\n%s", logged, want, log)
			}
		})
	}
}

// The findings and the log of records that begin in the middle of a program or that are hard to come by in one.
func TestJudgeOfOtherRecords(t *testing.T) {
	var all strings.Builder
	for _, tt := range []played{
		{"made in a hermetic context, and stale", 1, []event{in(ask), in(with(sole, func(e *event) { e.slot = 0 })), gone, again}, []preserve.Code{preserve.UseAfter}},
		{"a line of Python", 1, []event{{kind: fileName, typ: 3}, ask, with(again, func(e *event) { e.tag, e.file, e.line = 8, 3, 12 })}, []preserve.Code{preserve.OneInterpreter}},
		{"dead, and a new class since", 1, []event{ask, sole, gone, with(class, func(e *event) { e.flags = newClass }), of2(again)}, []preserve.Code{preserve.UseAfter}},
		{"handed to a hermetic context and deallocated in it", 1, []event{ask, in(again), in(last), in(gone)}, []preserve.Code{preserve.Hermetic, preserve.SharedDealloc}},
		{"deallocated in the next one", 1, []event{ask, in(again), again, in(last), in(gone)}, []preserve.Code{preserve.Hermetic, preserve.Hermetic, preserve.SharedDealloc}},
		{"asked for, and unknown", 1, []event{with(again, func(e *event) { e.kind = asks })}, nil},
		{"asked for while it lives", 1, []event{ask, with(again, func(e *event) { e.kind = asks })}, nil},
		{"refused, and made without a tag", 1, []event{untagged(ask), with(again, func(e *event) { e.kind = refused })}, nil},
		{"refused, with its tag", 1, []event{ask, with(again, func(e *event) { e.kind = refused })}, nil},
		{"refused, and unknown", 1, []event{with(again, func(e *event) { e.kind = refused })}, nil},
		{"resurrected before it was seen", 1, []event{back}, nil},
		{"resurrected before it was seen, in the second", 2, []event{back}, nil},
		{"something without a type, since a class of which objects were made before", 1, []event{ask, sole, gone, class, with(again, func(e *event) { e.typ = 0 })},
			[]preserve.Code{preserve.UseAfter}},
		{"of another class since", 1, []event{ask, of2(with(again, func(e *event) { e.tag = 8 }))}, []preserve.Code{preserve.OneInterpreter}},
		{"of no class since", 1, []event{ask, with(again, func(e *event) { e.typ, e.flags = 0, owns })}, []preserve.Code{preserve.UseAfter}},
		{"freed unseen, and a second object", 1, []event{ask, {kind: made, object: x}, placed}, []preserve.Code{preserve.SameObject}},
		{"a second object beside a hermetic one that was freed unseen", 1, []event{ask, in(at(ask, y)), {kind: made, object: y}, at(placed, z)}, []preserve.Code{preserve.SameObject}},
		{"another than an unknown one of the slot", 1, []event{with(ask, func(e *event) { e.object, e.slot = y, x })}, nil},
		{"made by another thread", 1, []event{ask, with(ask, func(e *event) { e.flags = second })}, nil},
		{"a third object", 1, []event{ask, with(ask, func(e *event) { e.object, e.flags = y, second }), with(ask, func(e *event) { e.object, e.flags = z, second })},
			[]preserve.Code{preserve.SameObject}},
		{"made, and asked for", 1, []event{{kind: made, object: x}, ask, with(again, func(e *event) { e.tag = 8 })}, []preserve.Code{preserve.OneInterpreter}},
		{"made again where its slot was cleared", 1, []event{ask, ask, with(again, func(e *event) { e.tag = 8 })}, []preserve.Code{preserve.OneInterpreter}},
		{"a second object beside one of a hermetic context", 1, []event{in(ask), placed}, []preserve.Code{preserve.SameObject}},
		{"of another impl than its own", 1, []event{ask, with(again, func(e *event) { e.flags = elsewhere })}, []preserve.Code{preserve.SameObject}},
		{"of another impl, unknown", 1, []event{with(again, func(e *event) { e.flags = elsewhere })}, []preserve.Code{preserve.SameObject}},
		{"of another impl, made for none", 1, []event{{kind: made, object: x}, with(again, func(e *event) { e.flags = elsewhere })}, []preserve.Code{preserve.SameObject}},
		{"tagged since, and tagged again", 1, []event{untagged(ask), again, with(again, func(e *event) { e.tag = 8 })}, []preserve.Code{preserve.OneInterpreter}},
		{"made in a hermetic context, and handed out there", 1, []event{in(ask), in(again)}, nil},
		{"allocated in a hermetic context, and handed out there", 1, []event{in(event{kind: made, object: x}), in(again)}, nil},
		{"allocated outside, and handed to a hermetic context", 1, []event{{kind: made, object: x}, in(again)}, []preserve.Code{preserve.Hermetic}},
		{"unknown, and handed to a hermetic context", 1, []event{in(again)}, []preserve.Code{preserve.Hermetic}},
		{"placed where nothing was", 1, []event{placed}, []preserve.Code{preserve.SameObject}},
		{"released without a tag of its own", 1, []event{untagged(ask), with(sole, func(e *event) { e.tag = 8 })}, nil},
		{"released with another's tag", 1, []event{ask, with(sole, func(e *event) { e.tag, e.slot = 8, y })}, []preserve.Code{preserve.SameObject}},
		{"released from an empty slot", 1, []event{ask, with(last, func(e *event) { e.slot = 0 })}, []preserve.Code{preserve.SameObject}},
		{"released from an empty slot, in the second", 2, []event{ask, with(last, func(e *event) { e.slot = 0 })}, nil},
		{"released from an empty slot by its impl", 1, []event{ask, with(last, func(e *event) { e.slot, e.flags, e.uses = 0, borrowed, 0 })}, nil},
		{"released from an empty slot before it was handed out", 1, []event{with(last, func(e *event) { e.slot = 0 })}, nil},
		{"released with another in the slot, before it was seen", 1, []event{with(sole, func(e *event) { e.slot = y })}, nil},
		{"allocated, and released with another in the slot", 1, []event{{kind: made, object: x}, with(sole, func(e *event) { e.slot = y })}, []preserve.Code{preserve.SameObject}},
		{"handed out, and released with another in the slot", 1, []event{again, with(sole, func(e *event) { e.slot = y })}, []preserve.Code{preserve.SameObject}},
		{"moved to another impl", 1, []event{ask, with(last, func(e *event) { e.impl = other }), placed}, []preserve.Code{preserve.SameObject}},
		{"kept by its impl, and a second object", 1, []event{ask, last, kept, placed}, []preserve.Code{preserve.SameObject}},
		{"a second object beside a hermetic one that moved", 1, []event{ask, in(at(ask, y)), in(at(with(last, func(e *event) { e.impl = other }), y)), at(placed, z)},
			[]preserve.Code{preserve.SameObject}},
		{"freed before it was seen", 1, []event{gone}, nil},
		{"a second object after the first was freed", 1, []event{ask, sole, gone, placed}, []preserve.Code{preserve.SameObject}},
		{"a second object beside a hermetic one that was freed", 1, []event{ask, in(at(ask, y)), in(at(last, y)), in(at(gone, y)), at(placed, z)}, []preserve.Code{preserve.SameObject}},
		{"made in a hermetic context, and freed there while shared", 1, []event{in(ask), in(last), in(gone)}, nil},
		{"freed with another in the slot", 1, []event{ask, with(last, func(e *event) { e.slot = y }), gone}, []preserve.Code{preserve.SameObject}},
		{"released while the impl alone owns it", 1, []event{ask, last, kept, with(last, func(e *event) { e.flags, e.uses = borrowed, 1 }), gone},
			[]preserve.Code{preserve.DoubleRelease, preserve.SharedDealloc}},
		{"deallocated with another tag in a hermetic context", 1, []event{ask, in(with(last, func(e *event) { e.tag = 8 })), in(gone)},
			[]preserve.Code{preserve.OneInterpreter, preserve.SharedDealloc}},
		{"released while the impl alone owns it, in the second, without a tag", 2, []event{untagged(ask), untagged(with(last, func(e *event) { e.flags, e.uses = borrowed, 1 })), gone},
			[]preserve.Code{preserve.SharedDealloc}},
		{"released while the impl owns it, without a tag", 1, []event{untagged(ask), untagged(with(last, func(e *event) { e.flags = borrowed })), gone},
			[]preserve.Code{preserve.DoubleRelease, preserve.SharedDealloc}},
		{"two deallocated, the slots without a tag", 1, []event{untagged(ask), untagged(last), gone, with(untagged(at(ask, y)), func(e *event) { e.impl = other }),
			with(untagged(at(last, y)), func(e *event) { e.impl, e.slot = other, y }), at(gone, y)}, []preserve.Code{preserve.SameObject}},
		{"alive before it was seen", 1, []event{kept}, nil},
		{"alive after it was freed", 1, []event{ask, sole, gone, kept}, nil},
		{"alive, and not by its impl", 1, []event{ask, last, with(kept, func(e *event) { e.flags = 0 }), again}, nil},
		{"alive, and another in the slot", 1, []event{ask, last, with(kept, func(e *event) { e.slot = y }), again}, nil},
		{"the object of an impl that is known", 1, []event{ask, with(again, func(e *event) { e.impl, e.flags = other, elsewhere })}, []preserve.Code{preserve.SameObject}},
		{"another than the slot's, and released with a third in it", 1, []event{ask, with(ask, func(e *event) { e.object, e.slot = y, x }),
			with(at(sole, y), func(e *event) { e.slot = z })}, []preserve.Code{preserve.SameObject, preserve.SameObject}},
		{"released while shared, in the second, without a tag", 2, []event{untagged(ask), untagged(with(last, func(e *event) { e.flags = marked }))},
			[]preserve.Code{preserve.DoubleRelease}},
		{"names alone", 1, []event{class, {kind: fileName, typ: 3}}, nil},
		{"a name of a file alone", 1, []event{{kind: fileName, typ: 3}}, nil},
		{"a storage, deallocated while shared", 1, []event{stored(ask), stored(last), stored(gone)}, []preserve.Code{preserve.SharedDealloc}},
		{"alive at a dead one's address", 1, []event{ask, sole, gone, class, of2(kept)}, nil},
		{"released as of another class", 1, []event{ask, of2(sole)}, nil},
		{"freed there", 1, []event{ask, sole, gone, class, of2(gone)}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			found, log := tt.play(t)
			fmt.Fprintf(&all, "== %s\n", tt.name)
			for _, f := range found {
				report, _, _ := strings.Cut(f.Report(), "\n  rule ")
				fmt.Fprintln(&all, report)
				below := 0
				for _, other := range found {
					if other.Root == f {
						below++
					}
				}
				if below > 0 {
					fmt.Fprintf(&all, "  %d follow from it\n", below)
				}
			}
			all.WriteString(log)
		})
	}
	golden.Compare(t, "judge.txt", all.String())
}

func TestReadEvent(t *testing.T) {
	record := make([]byte, eventSize)
	copy(record, "a.py")
	for at, v := range map[int]uint32{52: 5, 60: 6} {
		binary.NativeEndian.PutUint32(record[at:], v)
	}
	for _, kind := range []eventKind{typeName, fileName} {
		record[56], record[57] = byte(kind), byte(newClass)
		if e, name := readEvent(record); name != "a.py" || (e != event{kind: kind, flags: newClass, typ: 5}) {
			t.Errorf("kind %d: got %+v, %q", kind, e, name)
		}
	}
	for at, v := range map[int]uint64{0: 1, 8: 2, 16: 3, 24: 4, 32: 7} {
		binary.NativeEndian.PutUint64(record[at:], v)
	}
	for at, v := range map[int]uint32{40: 8, 44: 9, 48: 10} {
		binary.NativeEndian.PutUint32(record[at:], v)
	}
	binary.NativeEndian.PutUint16(record[58:], 12)
	record[56] = byte(wrap)
	want := event{kind: wrap, flags: newClass, object: 1, impl: 2, slot: 3, tag: 4, weak: 7, uses: 8, refs: 9, thread: 10, typ: 5, file: 6, line: 12}
	if e, name := readEvent(record); name != "" || e != want {
		t.Errorf("got %+v, %q, want %+v", e, name, want)
	}
}
