package suite

import (
	"fmt"
	"maps"
	"slices"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/report"
)

// A tally counts tensors, and those of them that calls changed.
type tally struct{ tensors, changed int }

// argumentCalls counts how calls of an op changed an argument that its schema lets it write.
type argumentCalls struct {
	calls         int
	sizes         map[string]bool
	flat, strided tally
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
		if w.Strided {
			of.strided.add(w)
		} else {
			of.flat.add(w)
		}
	}
}

func (t *tally) add(w asserts.Write) {
	t.tensors++
	if w.Changed {
		t.changed++
	}
}

// notes returns notes of the arguments that no call of many changed, or none where the
// argument is strided.
func (all writes) notes(o engine.Operator) []*report.Finding {
	var notes []*report.Finding
	for _, arg := range slices.Sorted(maps.Keys(all)) {
		w := all[arg]
		flat, s := w.flat, w.strided
		switch {
		case flat.changed+s.changed == 0 && asserts.Many(w.calls, len(w.sizes)):
			notes = append(notes, report.Unwritten(o, arg, w.calls, len(w.sizes)))
		case asserts.LostWhereStrided(flat.tensors, flat.changed, s.tensors, s.changed):
			notes = append(notes, report.LostWrite(o, arg, flat.tensors, flat.changed, s.tensors))
		}
	}
	return notes
}
