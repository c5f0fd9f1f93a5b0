package suite

import (
	"fmt"
	"maps"
	"slices"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/asserts/suite/report"
	"github.com/opassert/opassert/internal/tensor"
)

// argumentCalls counts how calls of an op changed an argument that its schema lets it write.
type argumentCalls struct {
	calls   int
	sizes   map[string]bool
	left    map[string]int // of its dtypes of floating point: calls, but no longer once one changed it
	changed bool           // by some call
}

const (
	// alikeCalls is how many say that an argument is never written, on tensors of few sizes: they
	// have all other classes of values.
	alikeCalls = 100
	// fewDTypes and fewCalls say that one is not written where it has these dtypes.
	fewDTypes, fewCalls = 2, 4
)

// changedNow is in place of the calls with a dtype for which one changed the argument.
const changedNow = -1

// see counts a tensor of a call.
func (w *argumentCalls) see(of asserts.Write) {
	w.sizes[fmt.Sprint(of.Sizes)] = true
	w.changed = w.changed || of.Changed
	d, _ := tensor.ParseDType(of.DType) // uint8 for the name of another
	switch {
	case d.Class() != tensor.Floating || w.left[of.DType] == changedNow:
	case of.Changed:
		w.left[of.DType] = changedNow
	default:
		w.left[of.DType]++
	}
}

// lost returns the dtypes of an argument that others change, and how many calls left it as it was.
func (w *argumentCalls) lost() (calls int, dtypes []string) {
	for _, d := range slices.Sorted(maps.Keys(w.left)) {
		if n := w.left[d]; n != changedNow {
			calls, dtypes = calls+n, append(dtypes, d)
		}
	}
	if calls < fewCalls || len(dtypes) < fewDTypes || len(dtypes) == len(w.left) {
		return 0, nil
	}
	return calls, dtypes
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
				all[w.Arg][which] = &argumentCalls{sizes: make(map[string]bool), left: make(map[string]int)}
			}
			of := all[w.Arg][which]
			if !seen[destination{w.Arg, which}] {
				of.calls++
			}
			seen[destination{w.Arg, which}] = true
			of.see(w)
		}
	}
}

// notes returns notes of the arguments that no call of many changed, and of the last elements of
// lists of which others are changed.
func (all writes) notes(o engine.Operator) []*report.Finding {
	var notes []*report.Finding
	for _, arg := range slices.Sorted(maps.Keys(all)) {
		of := all[arg]
		if calls, dtypes := of[asserts.Itself].lost(); calls > 0 {
			notes = append(notes, report.UnwrittenAs(o, arg, calls, dtypes))
		}
		for _, which := range []asserts.Which{asserts.Itself, asserts.Last} {
			w := of[which]
			if w == nil || w.changed || !asserts.Many(w.calls, len(w.sizes)) && w.calls < alikeCalls || which == asserts.Last && !of[asserts.Itself].changed {
				continue
			}
			notes = append(notes, report.Unwritten(o, arg, which, w.calls, len(w.sizes)))
		}
	}
	return notes
}
