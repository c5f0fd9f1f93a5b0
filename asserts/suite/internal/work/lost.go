package work

import (
	"fmt"
	"slices"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/suite/internal/sample"
	"github.com/opassert/opassert/internal/tensor"
)

// mostRefused is how many calls with transposed tensors a kernel refuses before no other is made.
const mostRefused = 8

func transpose(all []*sample.TensorSpec) {
	for _, t := range matrices(all) {
		t.Arrangement = tensor.Transposed
	}
}

// unasked is the skip of a write that may be lost in a transposed tensor.
var unasked = asserts.Skip{
	Code: asserts.SchemaLint, Count: 1,
	Reason: fmt.Sprintf("no call with transposed tensors was made: the kernel refused %d such", mostRefused),
}

// lost returns the arguments that a call changes, and that it leaves as they were where the
// tensors are transposed. One that is changed where it is strided is written through its strides.
func (r *Runner) lost(t *Target, a *attempt) (faults []asserts.Fault, skips []asserts.Skip) {
	flat := asserts.WritesOf(t.judged, a.calls[0].seen)
	asks := func(w asserts.Write) bool { return w.Changed && len(w.Sizes) > 1 && !t.strided[w.Arg] }
	t.reaches(flat)
	if !t.operator.Added || !a.c.Plain() || !slices.ContainsFunc(flat, asks) {
		return nil, nil
	}
	if t.refused == mostRefused {
		return nil, []asserts.Skip{unasked}
	}
	t.refused++
	for b := range r.again(t, a.c, transpose) {
		t.refused--
		then := asserts.WritesOf(t.judged, b.calls[0].seen)
		t.reaches(then)
		for i := range min(len(flat), len(then)) {
			if w := then[i]; w.Strided && asks(flat[i]) {
				faults = append(faults, lostWrite(t.operator.Schema.Func.Args[w.Arg].Name))
			}
		}
	}
	return faults, nil
}

// reaches notes the arguments that a call changed where they are strided.
func (t *Target) reaches(writes []asserts.Write) {
	for _, w := range writes {
		t.strided[w.Arg] = t.strided[w.Arg] || w.Strided && w.Changed
	}
}

// lostWrite is a note of an argument whose write goes to a copy.
func lostWrite(argument string) asserts.Fault {
	return asserts.Fault{
		Code: asserts.SchemaLint, Argument: argument,
		Saw:    "the call changes it, and leaves it as it was where it is transposed",
		Fix:    "write through the tensor's strides, or copy the result back: contiguous() and reshape() return a copy of such a tensor, and what is written there is lost",
		Breaks: "a transposed, sliced or channels-last tensor keeps its old value, without an error",
		Note:   "the op may have nothing to write for such a tensor",
	}
}
