package live

import (
	"bytes"
	"slices"
	"sync"
	"testing"

	"github.com/opassert/opassert/asserts/preserve"
	"github.com/opassert/opassert/internal/trace"
)

// inLog are the findings of package trace in the log of a case of TestJudge, where they are not the judge's: a log
// has no line that shows a tag when an object is handed out, an impl besides the one that is asked, or that a call did
// not return, and of a second object none that proves that the first lives.
var inLog = map[string][]preserve.Code{
	"deallocated, the slot without a tag": {preserve.SharedDealloc},
	"released while the impl owns it":     {},
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
}

// The findings of the judge from records, without a program, and those in the log of these records.
func TestJudge(t *testing.T) {
	const impl, other, x, y = 0x100, 0x200, 0x10, 0x20
	ask := event{kind: wrap, impl: impl, object: x, tag: 7, uses: 2, typ: 1}
	again := event{kind: wrap, impl: impl, object: x, slot: x, tag: 7, uses: 3, typ: 1}
	back := again
	back.flags = owns
	last := event{kind: release, impl: impl, object: x, slot: x, tag: 7, uses: 2, typ: 1}
	with := func(e event, change func(*event)) event { change(&e); return e }
	kept := with(last, func(e *event) { e.kind, e.flags = stays, owns })
	gone := with(last, func(e *event) { e.kind = freed })
	sole := with(last, func(e *event) { e.uses = 1 })
	placed := with(again, func(e *event) { e.object, e.slot, e.flags = y, y, second })
	class := event{kind: typeName, typ: 2} // of which objects were made before
	of2 := func(e event) event { e.typ = 2; return e }
	for _, tt := range []struct {
		name     string
		protocol preserve.Protocol
		events   []event
		want     []preserve.Code
	}{
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
		{"the second protocol", 2, []event{ask, again, sole, gone}, nil},
		{"released while shared, in the second", 2, []event{ask, again, with(last, func(e *event) { e.flags = marked }), gone},
			[]preserve.Code{preserve.DoubleRelease, preserve.SharedDealloc}},
		{"not marked, in the second", 2, []event{ask, again, last, gone}, []preserve.Code{preserve.OneOwner, preserve.SharedDealloc}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []preserve.Code
			j := newJudge(1, tt.protocol, func(f *ObjectFinding) {
				got = append(got, f.Code)
				if f.Report() == "" {
					t.Error("no report")
				}
			})
			var text bytes.Buffer
			j.torch = map[preserve.Protocol]string{preserve.Flipping: "2.6.0", preserve.Counting: "2.12.0"}[tt.protocol]
			j.types[1], j.types[2] = "torch.Tensor", "Subclass"
			log := &logWriter{w: &text, mu: new(sync.Mutex), judge: j}
			for _, e := range tt.events {
				log.write(&e)
				j.take(&e, j.types[e.typ])
			}
			j.end()
			if !slices.Equal(got, tt.want) {
				t.Errorf("got %v, want %v", got, tt.want)
			}
			want, other := inLog[tt.name]
			if !other {
				want = slices.Sorted(slices.Values(tt.want))
			}
			r := trace.NewReader("", func(trace.Life) {})
			r.Write(text.Bytes())
			logged := []preserve.Code{}
			for _, v := range r.Close().Violations {
				logged = append(logged, v.Code)
			}
			if slices.Sort(logged); !slices.Equal(logged, want) {
				t.Errorf("the log has %v, want %v\n%s", logged, want, &text)
			}
		})
	}
}
