package suite

import (
	"fmt"
	"maps"
	"slices"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/report"
)

// argumentCalls counts how calls of an op changed an argument that its schema lets it write.
type argumentCalls struct {
	calls   int
	sizes   map[string]bool
	changed bool // by some call
}

// elementCalls are those of an argument, and of the elements of a list.
type elementCalls map[asserts.Which]*argumentCalls

// writes are those of an op, by position in the schema.
type writes map[int]elementCalls

// add counts the writes of a call.
func (all writes) add(call []asserts.Write) {
	type destination struct {
		arg int
		of  asserts.Which
	}
	seen := make(map[destination]bool)
	for _, w := range call {
		if all[w.Arg] == nil {
			all[w.Arg] = make(elementCalls)
		}
		for _, which := range slices.Compact([]asserts.Which{asserts.Itself, w.Of}) {
			if all[w.Arg][which] == nil {
				all[w.Arg][which] = &argumentCalls{sizes: make(map[string]bool)}
			}
			of := all[w.Arg][which]
			if !seen[destination{w.Arg, which}] {
				of.calls++
			}
			seen[destination{w.Arg, which}] = true
			of.sizes[fmt.Sprint(w.Sizes)] = true
			of.changed = of.changed || w.Changed
		}
	}
}

// notes returns notes of the arguments that no call of many changed, and of the last elements of
// lists of which others are changed.
func (all writes) notes(o engine.Operator) []*report.Finding {
	var notes []*report.Finding
	for _, arg := range slices.Sorted(maps.Keys(all)) {
		of := all[arg]
		for _, which := range []asserts.Which{asserts.Itself, asserts.Last} {
			w := of[which]
			if w == nil || w.changed || !asserts.Many(w.calls, len(w.sizes)) || which == asserts.Last && !of[asserts.Itself].changed {
				continue
			}
			notes = append(notes, report.Unwritten(o, arg, which, w.calls, len(w.sizes)))
		}
	}
	return notes
}
