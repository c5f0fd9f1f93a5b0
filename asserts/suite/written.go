package suite

import (
	"fmt"
	"maps"
	"slices"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/report"
	"github.com/opassert/opassert/asserts/suite/compare"
	"github.com/opassert/opassert/asserts/suite/engine"
	"github.com/opassert/opassert/internal/tensor"
)

// argumentCalls counts how calls of an op changed an argument that its schema lets it write.
type argumentCalls struct {
	calls   int
	sizes   map[string]bool
	by      map[string]*dtypeCalls // by its floating-point dtypes
	changed bool                   // by some call
}

// dtypeCalls counts the calls with a dtype, and those of them that changed the argument.
type dtypeCalls struct{ calls, changed int }

const (
	// alikeCalls is how many calls on tensors of few sizes, in all other classes, show an argument that is never written.
	alikeCalls = 100
	// fewDTypes and fewCalls are the numbers after which an argument counts as not written with these dtypes.
	fewDTypes, fewCalls = 2, 4
)

func (w *argumentCalls) see(of compare.Write) {
	w.sizes[fmt.Sprint(of.Sizes)] = true
	w.changed = w.changed || of.Changed
	if d, _ := tensor.ParseDType(of.DType); d.Class() != tensor.Floating { // uint8 may represent another dtype
		return
	}
	if w.by[of.DType] == nil {
		w.by[of.DType] = new(dtypeCalls)
	}
	w.by[of.DType].calls++
	if of.Changed {
		w.by[of.DType].changed++
	}
}

// lost returns the dtypes of an argument with which no call changes it, although others do in at
// least half of their calls, and the number of these calls.
func (w *argumentCalls) lost() (calls int, dtypes []string) {
	var others dtypeCalls
	for _, d := range slices.Sorted(maps.Keys(w.by)) {
		if by := w.by[d]; by.changed == 0 {
			calls, dtypes = calls+by.calls, append(dtypes, d)
		} else {
			others.calls, others.changed = others.calls+by.calls, others.changed+by.changed
		}
	}
	if calls < fewCalls || len(dtypes) < fewDTypes || others.changed == 0 || 2*others.changed < others.calls {
		return 0, nil
	}
	return calls, dtypes
}

// elementCalls are the counts of an argument, and of the elements of a list.
type elementCalls map[compare.ElementRole]*argumentCalls

// writes are the counts of an op, by position in the schema.
type writes map[int]elementCalls

func (all writes) add(call []compare.Write) {
	type destination struct {
		arg int
		of  compare.ElementRole
	}
	seen := make(map[destination]bool)
	for _, w := range call {
		if all[w.Arg] == nil {
			all[w.Arg] = make(elementCalls)
		}
		for _, which := range slices.Compact([]compare.ElementRole{compare.Itself, w.Of}) {
			if all[w.Arg][which] == nil {
				all[w.Arg][which] = &argumentCalls{sizes: make(map[string]bool), by: make(map[string]*dtypeCalls)}
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

// notes returns notes of the arguments that none of many calls changed, and of lists' last elements if others change.
func (all writes) notes(o engine.Operator) []*report.Finding {
	var notes []*report.Finding
	op, text := o.Name(), o.Schema.Func.String()
	for _, arg := range slices.Sorted(maps.Keys(all)) {
		of, a := all[arg], o.Schema.Func.Args[arg]
		at := asserts.Place{Index: arg, Name: a.Name, Type: a.Type.String(), Element: asserts.NoElement, Aliased: true}
		if calls, dtypes := of[compare.Itself].lost(); calls > 0 {
			notes = append(notes, report.OfAll(compare.UnwrittenAs(op, text, at, calls, dtypes)))
		}
		for _, which := range []compare.ElementRole{compare.Itself, compare.Last} {
			w := of[which]
			if w == nil || w.changed || !compare.EnoughCalls(w.calls, len(w.sizes)) && w.calls < alikeCalls ||
				which == compare.Last && !of[compare.Itself].changed {
				continue
			}
			notes = append(notes, report.OfAll(compare.Unwritten(op, text, at, which, w.calls, len(w.sizes))))
		}
	}
	return notes
}
