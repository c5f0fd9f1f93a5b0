package work

import (
	"fmt"
	"slices"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/compare"
	"github.com/opassert/opassert/asserts/suite/internal/design"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
)

// mostRefused is the number of calls that a kernel may refuse before a trap is given up.
const mostRefused = 8

// lost returns the arguments that a call changes, but not with the property of a trap.
func (r *Runner) lost(t *Target, a *attempt) (faults []asserts.Fault, skips []asserts.Skip) {
	writes := compare.WritesOf(t.judged, a.calls[0].seen)
	t.addChanged(writes)
	if !t.operator.Added || !a.c.Plain() {
		return nil, nil
	}
	for i := range traps {
		f, s := r.lostIn(t, a, i, writes)
		faults, skips = append(faults, f...), append(skips, s...)
	}
	return faults, skips
}

// lostIn returns the faults in one trap.
func (r *Runner) lostIn(t *Target, a *attempt, number int, writes []compare.Write) (faults []asserts.Fault, skips []asserts.Skip) {
	in, tried := &traps[number], &t.traps[number]
	args := t.operator.Schema.Func.Args
	asks := func(w compare.Write) bool {
		return w.Changed && in.may(w, design.IsOut(args[w.Arg])) && !tried.reached[w.Arg]
	}
	if !slices.ContainsFunc(writes, asks) {
		return nil, nil
	}
	if tried.refused == mostRefused {
		return nil, []asserts.Skip{{Code: asserts.SchemaLint, Count: 1, Reason: fmt.Sprintf("no call was made with an argument %s: the kernel refused %d of them", in.name, mostRefused)}}
	}
	tried.refused++
	set := func(all []*sample.TensorSpec) { in.set(all, design.OutsOf(t.operator.Schema, a.c)) }
	for b := range r.again(t, a.c, set) {
		tried.refused--
		then := compare.WritesOf(t.judged, b.calls[0].seen)
		t.addChanged(then)
		for i := range min(len(writes), len(then)) {
			switch w := then[i]; {
			case !asks(writes[i]) || !in.is(w):
			case w.Changed:
				tried.reached[w.Arg] = true
			default:
				faults = append(faults, lostWrite(args[w.Arg].Name, in))
			}
		}
	}
	return faults, nil
}

// addChanged records the arguments that a call changed while they are strided.
func (t *Target) addChanged(writes []compare.Write) {
	for _, w := range writes {
		t.traps[0].reached[w.Arg] = t.traps[0].reached[w.Arg] || w.Strided && w.Changed
	}
}

// lostWrite returns a note about an argument whose write is lost.
func lostWrite(argument string, in *trap) asserts.Fault {
	return asserts.Fault{
		Code: asserts.SchemaLint, Argument: argument,
		Saw: "the call changes it, but not " + in.name, Fix: in.fix, Breaks: in.breaks,
		Note: "the op may have nothing to write to such a tensor",
	}
}
