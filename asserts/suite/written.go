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

// writes are those of an op, by position in the schema.
type writes map[int]*argumentCalls

// add counts the writes of a call.
func (all writes) add(call []asserts.Write) {
	seen := make(map[int]bool)
	for _, w := range call {
		if all[w.Arg] == nil {
			all[w.Arg] = &argumentCalls{sizes: make(map[string]bool)}
		}
		of := all[w.Arg]
		if !seen[w.Arg] {
			of.calls++
		}
		seen[w.Arg] = true
		of.sizes[fmt.Sprint(w.Sizes)] = true
		of.changed = of.changed || w.Changed
	}
}

// notes returns notes of the arguments that no call of many changed.
func (all writes) notes(o engine.Operator) []*report.Finding {
	var notes []*report.Finding
	for _, arg := range slices.Sorted(maps.Keys(all)) {
		if w := all[arg]; !w.changed && asserts.Many(w.calls, len(w.sizes)) {
			notes = append(notes, report.Unwritten(o, arg, w.calls, len(w.sizes)))
		}
	}
	return notes
}
