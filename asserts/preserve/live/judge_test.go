package live

import (
	"slices"
	"testing"

	"github.com/opassert/opassert/asserts/preserve"
)

// What the judge makes of records, without a program.
func TestJudge(t *testing.T) {
	const impl, other, x, y = 0x100, 0x200, 0x10, 0x20
	ask := event{kind: wrap, impl: impl, object: x, tag: 7, uses: 2}
	again := event{kind: wrap, impl: impl, object: x, slot: x, tag: 7, uses: 3}
	back := again
	back.flags = owns
	last := event{kind: release, impl: impl, object: x, slot: x, tag: 7, uses: 2}
	with := func(e event, change func(*event)) event { change(&e); return e }
	kept := with(last, func(e *event) { e.kind, e.flags = stays, owns })
	gone := with(last, func(e *event) { e.kind = freed })
	for _, tt := range []struct {
		name     string
		protocol preserve.Protocol
		events   []event
		want     []preserve.Code
	}{
		{"preserved and resurrected", 1, []event{ask, last, kept, back, again}, nil},
		{"deallocated with its impl", 1, []event{ask, with(last, func(e *event) { e.uses = 1 }), gone}, nil},
		{"let go by its impl", 1, []event{ask, last, kept, with(last, func(e *event) { e.flags, e.uses = borrowed, 0 }), gone}, nil},
		{"made again at the address", 1, []event{ask, with(last, func(e *event) { e.uses = 1 }), gone, {kind: made, object: x}, ask}, nil},
		{"deallocated while shared", 1, []event{ask, last, gone}, []preserve.Code{preserve.SharedDealloc}},
		{"in a hermetic context", 1, []event{ask, with(last, func(e *event) { e.flags = inHermetic }), with(gone, func(e *event) { e.flags = inHermetic })},
			[]preserve.Code{preserve.Hermetic, preserve.SharedDealloc}},
		{"made there", 1, []event{with(ask, func(e *event) { e.flags = inHermetic }), with(last, func(e *event) { e.flags, e.slot = inHermetic, 0 }), gone}, nil},
		{"made there, and escaped", 1, []event{ask, with(ask, func(e *event) { e.object, e.slot, e.flags = y, x, inHermetic }),
			with(last, func(e *event) { e.object = y }), with(gone, func(e *event) { e.object = y })}, nil},
		{"handed to one", 1, []event{ask, with(again, func(e *event) { e.flags = inHermetic })}, []preserve.Code{preserve.Hermetic}},
		{"released again", 1, []event{ask, with(last, func(e *event) { e.uses = 1 }), gone, with(last, func(e *event) { e.uses = 1 })}, []preserve.Code{preserve.DoubleRelease}},
		{"released while the impl owns it", 1, []event{ask, last, kept, with(last, func(e *event) { e.flags = borrowed }), gone},
			[]preserve.Code{preserve.DoubleRelease, preserve.SharedDealloc}},
		{"a second object", 1, []event{ask, with(ask, func(e *event) { e.object = y })}, []preserve.Code{preserve.SameObject}},
		{"another than the slot's", 1, []event{ask, with(ask, func(e *event) { e.object, e.slot = y, x })}, []preserve.Code{preserve.SameObject, preserve.SameObject}},
		{"the object of another impl", 1, []event{ask, with(again, func(e *event) { e.impl = other })}, []preserve.Code{preserve.SameObject}},
		{"a stale slot", 1, []event{ask, with(last, func(e *event) { e.uses = 1 }), gone, again}, []preserve.Code{preserve.UseAfter}},
		{"another tag", 1, []event{ask, with(again, func(e *event) { e.tag = 8 }), with(last, func(e *event) { e.tag = 8 })},
			[]preserve.Code{preserve.OneInterpreter, preserve.OneInterpreter}},
		{"another tag, refused", 1, []event{ask, with(again, func(e *event) { e.kind, e.tag = refused, 8 })}, []preserve.Code{preserve.OneInterpreter}},
		{"resurrected though it was not preserved", 1, []event{ask, back}, []preserve.Code{preserve.OneOwner}},
		{"handed out while the impl owns it", 1, []event{ask, last, kept, again}, []preserve.Code{preserve.OneOwner}},
		{"the second protocol", 2, []event{ask, again, with(last, func(e *event) { e.uses = 1 }), gone}, nil},
		{"released while shared, in the second", 2, []event{ask, again, with(last, func(e *event) { e.flags = marked }), gone},
			[]preserve.Code{preserve.DoubleRelease, preserve.SharedDealloc}},
		{"not marked, in the second", 2, []event{ask, again, last, gone}, []preserve.Code{preserve.OneOwner, preserve.SharedDealloc}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []preserve.Code
			j := newJudge(1, tt.protocol, func(f *Finding) {
				got = append(got, f.Code)
				if f.Report() == "" {
					t.Error("no report")
				}
			})
			for _, e := range tt.events {
				j.take(&e, "")
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}
