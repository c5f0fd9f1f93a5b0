package work

import (
	"fmt"
	"slices"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/internal/design"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
	"github.com/opassert/opassert/internal/tensor"
)

// mostRefused is how many calls where a write may be lost a kernel refuses before no other is made.
const mostRefused = 8

// A trap is what a tensor may be like for what is written to it to be lost.
type trap struct {
	name   string
	set    func(all []*sample.TensorSpec, outs []bool)
	may    func(w asserts.Write, out bool) bool // whether a written tensor can be so
	is     func(w asserts.Write) bool           // whether it is so in the call that was changed
	fix    string
	breaks string
}

var traps = [...]trap{{
	name:   "where it is transposed",
	set:    func(all []*sample.TensorSpec, _ []bool) { transpose(all) },
	may:    func(w asserts.Write, _ bool) bool { return len(w.Sizes) > 1 },
	is:     func(w asserts.Write) bool { return w.Strided },
	fix:    "write through the tensor's strides, or copy the result back: contiguous() and reshape() return a copy of such a tensor, and what is written there is lost",
	breaks: "a transposed, sliced or channels-last tensor keeps its old value, without an error",
}, {
	name:   "where its sizes are not the result's",
	set:    grow,
	may:    func(_ asserts.Write, out bool) bool { return out },
	is:     func(asserts.Write) bool { return true },
	fix:    "resize it, or refuse it",
	breaks: "it keeps its old value, and is returned as the result, without an error",
}}

func transpose(all []*sample.TensorSpec) {
	for _, t := range matrices(all) {
		t.Arrangement = tensor.Transposed
	}
}

// grow leaves tensors that results go into one dimension, and gives them an element more.
func grow(all []*sample.TensorSpec, outs []bool) {
	for i, t := range all {
		if outs[i] {
			t.Sizes, t.Arrangement = []int64{tensor.Numel(t.Sizes) + 1}, tensor.Contiguous
		}
	}
}

// lost returns the arguments that a call changes, and that it leaves as they were in a trap.
func (r *Runner) lost(t *Target, a *attempt) (faults []asserts.Fault, skips []asserts.Skip) {
	writes := asserts.WritesOf(t.judged, a.calls[0].seen)
	t.reaches(writes)
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
func (r *Runner) lostIn(t *Target, a *attempt, number int, writes []asserts.Write) (faults []asserts.Fault, skips []asserts.Skip) {
	in, tried := &traps[number], &t.traps[number]
	args := t.operator.Schema.Func.Args
	asks := func(w asserts.Write) bool {
		return w.Changed && in.may(w, design.IsOut(args[w.Arg])) && !tried.reached[w.Arg]
	}
	if !slices.ContainsFunc(writes, asks) {
		return nil, nil
	}
	if tried.refused == mostRefused {
		return nil, []asserts.Skip{{Code: asserts.SchemaLint, Count: 1, Reason: fmt.Sprintf("no call was made of an argument %s: the kernel refused %d such", in.name, mostRefused)}}
	}
	tried.refused++
	set := func(all []*sample.TensorSpec) { in.set(all, design.OutsOf(t.operator.Schema, a.c)) }
	for b := range r.again(t, a.c, set) {
		tried.refused--
		then := asserts.WritesOf(t.judged, b.calls[0].seen)
		t.reaches(then)
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

// A trial is what calls with a trap have shown of an op.
type trial struct {
	reached map[int]bool // arguments that one changed
	refused int          // calls
}

// reaches notes the arguments that a call changed where they are strided.
func (t *Target) reaches(writes []asserts.Write) {
	for _, w := range writes {
		t.traps[0].reached[w.Arg] = t.traps[0].reached[w.Arg] || w.Strided && w.Changed
	}
}

// lostWrite is a note of an argument whose write goes elsewhere.
func lostWrite(argument string, in *trap) asserts.Fault {
	return asserts.Fault{
		Code: asserts.SchemaLint, Argument: argument,
		Saw: "the call changes it, and leaves it as it was " + in.name, Fix: in.fix, Breaks: in.breaks,
		Note: "the op may have nothing to write for such a tensor",
	}
}
